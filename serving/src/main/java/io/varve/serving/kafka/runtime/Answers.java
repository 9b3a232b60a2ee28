package io.varve.serving.kafka.runtime;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.apache.kafka.common.protocol.Errors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Futures of responses that never fail. */
public final class Answers {

    private static final Logger LOG = LoggerFactory.getLogger(Answers.class);

    private Answers() {}

    /** {@code future}, or what {@code onError} makes of the error it failed with. */
    public static <R> CompletableFuture<R> or(CompletableFuture<R> future, Function<Errors, R> onError) {
        return future.handle((response, thrown) -> thrown == null ? response : onError.apply(errorOf(thrown)));
    }

    /** The code that stands for {@code thrown}. What isn't one of Kafka's own is a defect and logged. */
    public static Errors errorOf(Throwable thrown) {
        Throwable cause =
                thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
        Errors error = Errors.forException(cause);
        if (error == Errors.UNKNOWN_SERVER_ERROR) {
            LOG.error("event=coordinator_failed", cause);
        }
        return error;
    }

    /** All of them, in order, when the last is there. None may fail. */
    public static <R> CompletableFuture<List<R>> all(List<CompletableFuture<R>> futures) {
        return CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new))
                .thenApply(done -> futures.stream().map(CompletableFuture::join).toList());
    }
}
