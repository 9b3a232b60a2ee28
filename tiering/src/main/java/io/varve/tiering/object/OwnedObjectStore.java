package io.varve.tiering.object;

import io.varve.base.Clock;
import io.varve.base.StartupException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Changes a bucket only while it is its cluster's. A cluster that was restored from the bucket takes it over while processes of the old one
 * may still be running, and those would go on deleting what the new one needs, and writing what another restoration would take for its own:
 * so each change is preceded by a look at the mark, unless the last one was a moment ago. If it can't be known whose the bucket is, nothing
 * is written and nothing deleted (I-7, I-11, ADR 0092). Safe for any thread.
 */
public final class OwnedObjectStore extends WrappedObjectStore {

    /** How long a look is good for. */
    static final long LOOK_MS = 10_000;

    /** Why a call was not made of which the failure's own words say nothing: it asked for something else. */
    private static final String UNKNOWN = "whose the bucket is can't be known: ";

    private final Supplier<CompletableFuture<Void>> claim;
    private final Supplier<CompletableFuture<Void>> look;
    private final Clock clock;
    private CompletableFuture<Void> last;
    private long lookedNs;

    /**
     * @param inner below the cluster's prefix
     * @param claim makes sure that the bucket is the cluster's: before the first change, and after a look that failed
     * @param look whether it still is
     */
    public OwnedObjectStore(
            ObjectStore inner,
            Supplier<CompletableFuture<Void>> claim,
            Supplier<CompletableFuture<Void>> look,
            Clock clock) {
        super(inner);
        this.claim = claim;
        this.look = look;
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
        boolean isUnderWay = last != null && !last.isDone();
        boolean isOurs = last != null && last.isDone() && !last.isCompletedExceptionally();
        boolean isGood = isOurs && nowNs - lookedNs < TimeUnit.MILLISECONDS.toNanos(LOOK_MS);
        if (!isUnderWay && !isGood) {
            lookedNs = nowNs;
            last = (isOurs ? look : claim).get().exceptionallyCompose(OwnedObjectStore::refused);
        }
        return last;
    }

    private static CompletableFuture<Void> refused(Throwable failure) {
        if (StoreFailures.root(failure) instanceof StartupException refused) {
            return CompletableFuture.failedFuture(
                    StoreException.notMade(StoreException.Kind.REFUSED, refused.getMessage(), refused));
        }
        StoreException trouble = StoreFailures.of(failure);
        boolean saysItself = trouble.kind() == StoreException.Kind.REFUSED;
        return CompletableFuture.failedFuture(
                StoreException.notMade(trouble.kind(), (saysItself ? "" : UNKNOWN) + trouble.getMessage(), trouble));
    }
}
