package io.varve.tiering.object;

import io.varve.tiering.object.StoreException.Kind;
import java.util.concurrent.CancellationException;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkServiceException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** What the SDK's failures mean. */
final class S3Failures {

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
            case "SlowDown", "RequestLimitExceeded", "Throttling", "ThrottlingException", "OperationAborted" ->
                Kind.THROTTLED;
            case "RequestTimeout", "RequestTimeoutException" -> Kind.TIMED_OUT;
            case "InvalidRange" -> Kind.TRUNCATED;
            // A clock that is off, or keys that ran out this moment: right again by itself or by rotation, but not by
            // asking at once.
            case "RequestTimeTooSkewed", "ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch" ->
                Kind.FORBIDDEN;
            default -> byStatus(verb, status);
        };
    }

    private static Kind byStatus(String verb, int status) {
        return switch (status) {
            case 401, 403 -> Kind.FORBIDDEN;
            case 404 -> verb.endsWith("_UPLOAD") || verb.equals("PUT_PART") ? Kind.UPLOAD_GONE : Kind.NOT_FOUND;
            case 408 -> Kind.TIMED_OUT;
            case 416 -> Kind.TRUNCATED;
            case 409, 429 -> Kind.THROTTLED;
            default -> status >= 500 ? Kind.THROTTLED : Kind.REFUSED;
        };
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
            return answer.statusCode() + (code.isEmpty() ? "" : " " + code);
        }
        String text = String.valueOf(failure.getMessage()).replaceAll("\\s+", " ");
        return failure.getClass().getSimpleName() + " " + (text.length() > 300 ? text.substring(0, 300) : text);
    }
}
