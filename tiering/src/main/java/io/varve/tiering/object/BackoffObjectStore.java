package io.varve.tiering.object;

import io.varve.base.Clock;
import io.varve.tiering.core.Backoff;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tries again what is worth it, and keeps everybody back while the store asks for it: 503, 500 and 429 are throttling, and throttling is
 * of the bucket, not of a caller. An answer that is too short is trouble of one object: it is asked for a few times more, for a connection
 * may have broken, and holds up nobody else. A call that found no connection was never made, and is the caller's to ask for again. Every call can be carried out twice without harm: objects are written under keys that are never used
 * again, and a completion whose answer was lost shows up as UPLOAD_GONE, for the caller to look after.
 */
public final class BackoffObjectStore extends WrappedObjectStore {

    private static final Logger log = LoggerFactory.getLogger(BackoffObjectStore.class);

    /** Of a read that comes too short: what an object really lacks no waiting brings back. */
    private static final int SHORT_TRIES_MAX = 3;

    private final Clock clock;
    private final long giveUpAfterNs;
    private final Backoff backoff;
    private boolean holding;

    /**
     * @param backoff guarded by this store
     * @param giveUpAfterMs a call is not begun again after that
     */
    public BackoffObjectStore(ObjectStore inner, Clock clock, Backoff backoff, long giveUpAfterMs) {
        super(inner);
        this.clock = clock;
        this.backoff = backoff;
        this.giveUpAfterNs = TimeUnit.MILLISECONDS.toNanos(giveUpAfterMs);
    }

    @Override
    protected <T> CompletableFuture<T> around(Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
        return attempt(call, clock.nanoTime(), delayNs(), 1);
    }

    /** @param shortTries how many tries, with this one, would have come too short if this one did */
    private <T> CompletableFuture<T> attempt(
            Supplier<CompletableFuture<T>> call, long startedNs, long delayNs, int shortTries) {
        CompletableFuture<T> tried = delayNs <= 0
                ? call.get()
                : CompletableFuture.supplyAsync(call, later(delayNs)).thenCompose(f -> f);
        return tried.handle((answer, failure) -> {
                    if (failure == null) {
                        onSuccess();
                        return CompletableFuture.completedFuture(answer);
                    }
                    StoreException trouble = StoreFailures.of(failure);
                    if (trouble.kind() == StoreException.Kind.SATURATED) {
                        // It has waited already, and to wait behind a closed gate makes nobody's queue shorter.
                        return CompletableFuture.<T>failedFuture(trouble);
                    }
                    if (!trouble.kind().isTransient() || clock.nanoTime() - startedNs >= giveUpAfterNs) {
                        return CompletableFuture.<T>failedFuture(trouble);
                    }
                    if (trouble.kind() != StoreException.Kind.TRUNCATED) {
                        return attempt(call, startedNs, onTrouble(trouble), shortTries);
                    }
                    return shortTries < SHORT_TRIES_MAX
                            ? attempt(call, startedNs, delayNs(), shortTries + 1)
                            : CompletableFuture.<T>failedFuture(trouble);
                })
                .thenCompose(f -> f);
    }

    private static Executor later(long delayNs) {
        return CompletableFuture.delayedExecutor(delayNs, TimeUnit.NANOSECONDS);
    }

    private synchronized long delayNs() {
        return backoff.delayNs(clock.nanoTime());
    }

    private synchronized void onSuccess() {
        backoff.onSuccess(clock.nanoTime());
        if (holding && !backoff.isHolding()) {
            holding = false;
            log.info("event=store_well store={}", describe());
        }
    }

    private synchronized long onTrouble(StoreException trouble) {
        if (!holding) {
            holding = true;
            log.warn(
                    "event=store_backoff store={} kind={} reason={}", describe(), trouble.kind(), trouble.getMessage());
        }
        return backoff.onTrouble(clock.nanoTime());
    }
}
