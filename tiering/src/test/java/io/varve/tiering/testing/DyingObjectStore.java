package io.varve.tiering.testing;

import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.object.WrappedObjectStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * A store as a process sees it that is killed after some calls: the last one may still have reached the store, its answer never comes,
 * and there is none after it. Safe for any thread.
 */
public final class DyingObjectStore extends WrappedObjectStore {

    private final AtomicLong callsLeft;
    private final boolean lastCallArrives;

    /** @param calls that are answered before the end */
    public DyingObjectStore(ObjectStore inner, long calls, boolean lastCallArrives) {
        super(inner);
        this.callsLeft = new AtomicLong(calls);
        this.lastCallArrives = lastCallArrives;
    }

    /** Whether the process is dead. */
    public boolean isDead() {
        return callsLeft.get() < 0;
    }

    @Override
    public void close() {
        // The bucket outlives the process.
    }

    @Override
    protected <T> CompletableFuture<T> around(Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
        long left = callsLeft.decrementAndGet();
        if (left >= 0) {
            return call.get();
        }
        if (left == -1 && lastCallArrives) {
            call.get();
        }
        return CompletableFuture.failedFuture(new StoreException(StoreException.Kind.CLOSED, "killed"));
    }
}
