package io.varve.tiering.object;

import io.varve.base.Clock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Changes a bucket only while it is its cluster's. A cluster that was restored from the bucket takes it over while processes of the old one may still be running, and those would go on deleting what the new one needs, and writing
 * what another restoration would take for its own: so each change is preceded by a look at the mark, unless the last one was a moment ago. If it can't be known whose the bucket is, nothing is written and nothing deleted (I-7, I-11). Safe for any thread.
 * The decision is in docs/adr/0092.
 */
public final class OwnedObjectStore extends WrappedObjectStore {

    /** How long a look is good for. */
    static final long LOOK_MS = 10_000;

    private final ClusterMarker marker;
    private final Clock clock;
    private CompletableFuture<Void> last;
    private long lookedNs;

    /**
     * @param inner below the cluster's prefix
     * @param bucketId what the keys of the cluster's objects begin with
     * @param clusterId whose the bucket must be
     */
    public OwnedObjectStore(ObjectStore inner, String bucketId, String clusterId, Clock clock) {
        super(inner);
        this.marker = new ClusterMarker(inner, bucketId, clusterId);
        this.clock = clock;
    }

    @Override
    protected <T> CompletableFuture<T> around(Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
        return switch (verb) {
            case PUT, CREATE_UPLOAD, COMPLETE_UPLOAD, DELETE, BULK_DELETE -> looked().thenCompose(ours -> call.get());
            case PUT_PART, ABORT_UPLOAD, LIST_UPLOADS, GET, HEAD, LIST -> call.get();
        };
    }

    private synchronized CompletableFuture<Void> looked() {
        long nowNs = clock.nanoTime();
        boolean isGood = last != null
                && !last.isCompletedExceptionally()
                && nowNs - lookedNs < TimeUnit.MILLISECONDS.toNanos(LOOK_MS);
        if (!isGood) {
            lookedNs = nowNs;
            last = marker.checkOurs();
        }
        return last;
    }
}
