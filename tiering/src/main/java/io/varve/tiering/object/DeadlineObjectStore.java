package io.varve.tiering.object;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Puts our own deadline around every call, whatever the client library promises: uploads that never return have filled other people's
 * disks. A call past its deadline is cancelled and counts as unknown.
 */
public final class DeadlineObjectStore extends WrappedObjectStore {

    private final long callMs;
    private final long bytesPerSecondMin;

    /**
     * @param callMs for a call without a body
     * @param bytesPerSecondMin a body gets this much more time: below this rate it counts as hung
     */
    public DeadlineObjectStore(ObjectStore inner, long callMs, long bytesPerSecondMin) {
        super(inner);
        this.callMs = callMs;
        this.bytesPerSecondMin = bytesPerSecondMin;
    }

    @Override
    protected <T> CompletableFuture<T> around(Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
        long limitMs = callMs + bytes * 1000 / bytesPerSecondMin;
        CompletableFuture<T> inner = call.get();
        if (inner.isDone()) {
            return inner;
        }
        return inner.copy().orTimeout(limitMs, TimeUnit.MILLISECONDS).exceptionallyCompose(failure -> {
            if (!(StoreFailures.root(failure) instanceof TimeoutException)) {
                return CompletableFuture.failedFuture(StoreFailures.of(failure));
            }
            inner.cancel(true);
            return CompletableFuture.failedFuture(new StoreException(
                    StoreException.Kind.TIMED_OUT, verb + " " + key + " had no answer within " + limitMs + " ms"));
        });
    }
}
