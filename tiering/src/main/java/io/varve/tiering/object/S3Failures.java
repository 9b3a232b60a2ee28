package io.varve.tiering.object;

import io.netty.handler.timeout.TimeoutException;
import io.varve.tiering.object.StoreException.Kind;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import javax.net.ssl.SSLException;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkServiceException;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** What the SDK's failures mean: above all which of them says that an object is not there, and which says nothing of it (I-7). */
final class S3Failures {

    /** The SDK goes on with the names of its classes. */
    private static final String NO_KEYS_IN_THE_CHAIN =
            "Unable to load credentials from any of the providers in the chain";

    private S3Failures() {}

    static StoreException translate(String verb, String key, Throwable failure) {
        // What our own response handler found is wrapped by the client on its way here.
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof StoreException ours) {
                return ours;
            }
        }
        return new StoreException(kindOf(verb, failure), verb + " " + key + ": " + describe(failure), failure);
    }

    private static Kind kindOf(String verb, Throwable failure) {
        if (failure instanceof SdkServiceException answer) {
            return kindOf(verb, answer.statusCode(), code(answer));
        }
        if (failure instanceof ApiCallTimeoutException || failure instanceof ApiCallAttemptTimeoutException) {
            return Kind.TIMED_OUT;
        }
        if (failure instanceof AbortedException || failure instanceof CancellationException) {
            return Kind.CLOSED;
        }
        if (failure instanceof SdkClientException client && saysNoCredentials(client)) {
            return Kind.FORBIDDEN;
        }
        return Kind.UNREACHABLE;
    }

    private static Kind kindOf(String verb, int status, String code) {
        return switch (code) {
            case "NoSuchBucket" -> Kind.NO_BUCKET;
            case "NoSuchUpload" -> Kind.UPLOAD_GONE;
            case "NoSuchKey" -> Kind.NOT_FOUND;
            // Also in an answer that began with 200: a completion takes long, and stores begin to answer before they
            // know.
            case "InternalError",
                    "InternalServerError",
                    "ServiceUnavailable",
                    "SlowDown",
                    "SlowDownRead",
                    "SlowDownWrite",
                    "RequestLimitExceeded",
                    "Throttling",
                    "ThrottlingException",
                    "OperationAborted" -> Kind.THROTTLED;
            // Lost on the way.
            case "IncompleteBody" -> Kind.UNREACHABLE;
            case "RequestTimeout", "RequestTimeoutException" -> Kind.TIMED_OUT;
            case "InvalidRange" -> Kind.TRUNCATED;
            // A clock that is off, or keys that ran out: what signing anew didn't mend needs somebody's hand.
            case "RequestTimeTooSkewed",
                    "RequestExpired",
                    "ExpiredToken",
                    "TokenRefreshRequired",
                    "InvalidToken",
                    "InvalidAccessKeyId",
                    "SignatureDoesNotMatch" -> Kind.FORBIDDEN;
            default -> byStatus(verb, status, code);
        };
    }

    /**
     * Whether the same call may be taken if it is made again at once: signed anew, with newer keys or with a clock that the SDK has set by the store's answer; or on another connection, for this one broke before anything
     * was answered. Stores close what they have heard nothing on for a while, and a call can go out at that very moment.
     */
    static boolean mayPassAtOnce(String verb, Throwable failure) {
        return failure instanceof SdkServiceException answer
                ? mayPassSignedAnew(verb, answer)
                : brokeUnanswered(failure);
    }

    private static boolean brokeUnanswered(Throwable failure) {
        boolean broke = false;
        for (Throwable at = failure; at != null; at = at.getCause()) {
            boolean isSomethingElse = at instanceof StoreException
                    || at instanceof SdkServiceException
                    || at instanceof AbortedException
                    || at instanceof CancellationException
                    // Nobody was reached, or nobody who can be trusted.
                    || at instanceof ConnectException
                    || at instanceof UnknownHostException
                    || at instanceof SSLException
                    // Somebody was, and took too long.
                    || at instanceof InterruptedIOException
                    || at instanceof TimeoutException;
            if (isSomethingElse) {
                return false;
            }
            broke |= at instanceof IOException;
        }
        return broke;
    }

    private static boolean mayPassSignedAnew(String verb, SdkServiceException answer) {
        return switch (code(answer)) {
            case "ExpiredToken", "TokenRefreshRequired", "RequestExpired", "RequestTimeTooSkewed" -> true;
            // The answer to a HEAD has no body, so nobody says why.
            case "" -> verb.equals("HEAD") && (answer.statusCode() == 400 || answer.statusCode() == 403);
            default -> false;
        };
    }

    private static Kind byStatus(String verb, int status, String code) {
        return switch (status) {
            // The bucket's new name isn't known everywhere yet.
            case 307 -> Kind.THROTTLED;
            case 401, 403 -> Kind.FORBIDDEN;
            case 404 -> notFound(verb, code);
            case 408 -> Kind.TIMED_OUT;
            case 416 -> Kind.TRUNCATED;
            case 409, 429 -> Kind.THROTTLED;
            default -> status >= 500 ? Kind.THROTTLED : Kind.REFUSED;
        };
    }

    /**
     * Only the store itself says that something isn't there, and it says what: whoever stands between us and it says 404 of everything. The answer to a HEAD can't say anything, so {@link S3ObjectStore#head} asks once more.
     */
    private static Kind notFound(String verb, String code) {
        if (code.isEmpty() && !verb.equals("HEAD")) {
            return Kind.UNREACHABLE;
        }
        return verb.endsWith("_UPLOAD") || verb.equals("PUT_PART") ? Kind.UPLOAD_GONE : Kind.NOT_FOUND;
    }

    private static String code(SdkServiceException answer) {
        return answer instanceof S3Exception s3
                        && s3.awsErrorDetails() != null
                        && s3.awsErrorDetails().errorCode() != null
                ? s3.awsErrorDetails().errorCode()
                : "";
    }

    private static boolean saysNoCredentials(SdkClientException failure) {
        String message = String.valueOf(failure.getMessage());
        return message.contains("credentials") || message.contains("Credentials");
    }

    private static String describe(Throwable failure) {
        if (failure instanceof SdkServiceException answer) {
            String code = code(answer);
            String said = said(answer);
            String word = code.isEmpty() && said.isEmpty() ? statusText(answer) : code;
            return answer.statusCode() + (word.isEmpty() ? "" : " " + word) + said + hint(answer, code);
        }
        String message = String.valueOf(failure.getMessage());
        if (message.startsWith(RotatedFileCredentials.NONE)) {
            return message;
        }
        if (message.startsWith(NO_KEYS_IN_THE_CHAIN)) {
            return "no credentials: none in the environment, in system properties, of a web identity, in profile files, of a container or of an instance";
        }
        return failure.getClass().getSimpleName() + " " + oneLine(message, 300);
    }

    /** The store's own words, where it has any: which header, which right, which key. */
    private static String said(SdkServiceException answer) {
        String message = answer instanceof S3Exception s3 && s3.awsErrorDetails() != null
                ? s3.awsErrorDetails().errorMessage()
                : null;
        return message == null || message.isBlank() ? "" : ": " + oneLine(message, 200);
    }

    /** What the status line says, which is all that the answer to a HEAD does. */
    private static String statusText(SdkServiceException answer) {
        return http(answer)
                .flatMap(SdkHttpResponse::statusText)
                .map(text -> oneLine(text, 50))
                .orElse("");
    }

    private static Optional<SdkHttpResponse> http(SdkServiceException answer) {
        return answer instanceof S3Exception s3 && s3.awsErrorDetails() != null
                ? Optional.ofNullable(s3.awsErrorDetails().sdkHttpResponse())
                : Optional.empty();
    }

    private static String hint(SdkServiceException answer, String code) {
        String region = header(answer, "x-amz-bucket-region");
        if (!region.isEmpty()
                && (answer.statusCode() == 301 || answer.statusCode() == 307 || answer.statusCode() == 400)) {
            return " (the bucket is in region " + region + ", tiering.s3.region says another one)";
        }
        return switch (code) {
            case "RequestTimeTooSkewed" ->
                " (this machine's clock and the store's differ by too much; the store's says " + header(answer, "Date")
                        + ")";
            case "" -> answer.statusCode() == 404 ? " without a word of S3's" : "";
            default -> "";
        };
    }

    private static String header(SdkServiceException answer, String name) {
        return http(answer)
                .flatMap(response -> response.firstMatchingHeader(name))
                .orElse("");
    }

    private static String oneLine(String text, int charsMax) {
        String line = text.replaceAll("\\s+", " ").replace('"', '\'').strip();
        return line.length() > charsMax ? line.substring(0, charsMax) : line;
    }
}
