package io.varve.tiering.manifest;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.ChainManifests;
import io.varve.tiering.cache.ManifestCache;
import io.varve.tiering.core.ManifestLeaf;
import io.varve.tiering.core.ManifestRoot;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.read.Alarms;
import io.varve.tiering.read.ReadOutcomes;
import io.varve.tiering.read.TroubleCounters;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Looks segments up in manifests, with the roots and leaves that were used last in memory, each fetched once at a time. */
public final class CachedManifests implements ChainManifests {

    /** What is asked of manifests. */
    private static final String OFFSET = "offset";

    private static final String TIME = "time";
    private static final String MOST = "most";

    private final ManifestReads reads;
    private final ManifestCache cache;
    private final ConcurrentHashMap<String, CompletableFuture<Object>> onTheirWay = new ConcurrentHashMap<>();

    private final ReadOutcomes outcomes;

    /**
     * @param cacheBytes for roots and leaves
     * @param isNamed whether readers may still come to a manifest: what nobody can is no alarm any more
     * @param faults is told of every Error; the look-ups that it befell fail as well
     */
    public CachedManifests(
            ObjectStore store,
            String clusterId,
            long cacheBytes,
            Clock clock,
            MeterRegistry registry,
            Predicate<Alarms.Place> isNamed,
            FaultHandler faults) {
        this.reads = new ManifestReads(store, clusterId);
        this.cache = new ManifestCache(cacheBytes);
        this.outcomes = new ReadOutcomes(
                "manifests",
                new TroubleCounters(registry, "varve.tiering.manifest.read.failures"),
                new Alarms(clock, registry, "varve.tiering.unreadable.manifests", isNamed),
                faults);
    }

    @Override
    public CompletableFuture<Optional<SegmentDescriptor>> segmentAt(
            ManifestRef manifest, PartitionId partition, long offset) {
        if (offset < manifest.startOffset() || offset >= manifest.endOffset()) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        return in(
                manifest,
                partition,
                new Alarms.Question(OFFSET, offset),
                root -> root.at(offset),
                leaf -> leaf.at(offset));
    }

    @Override
    public CompletableFuture<Optional<SegmentDescriptor>> segmentAtTimestamp(
            ManifestRef manifest, PartitionId partition, long timestampMs, long fromOffset) {
        long from = Math.max(fromOffset, manifest.startOffset());
        return in(
                manifest,
                partition,
                new Alarms.Question(TIME, timestampMs),
                root -> root.atTimestamp(timestampMs, from),
                leaf -> leaf.atTimestamp(timestampMs, from));
    }

    @Override
    public CompletableFuture<Long> timestampMsMost(ManifestRef manifest, PartitionId partition, long fromOffset) {
        long from = Math.max(fromOffset, manifest.startOffset());
        return told(
                manifest,
                partition,
                new Alarms.Question(MOST, from),
                root(manifest, partition).thenCompose(root -> {
                    Optional<ManifestRoot.Leaf> partly = root.at(from);
                    long ofWhole = root.leaves().stream()
                            .filter(leaf -> leaf.startOffset() > from)
                            .mapToLong(ManifestRoot.Leaf::maxTimestampMs)
                            .max()
                            .orElse(-1);
                    // Its leaf need not be looked into if the largest time is in a later one anyway.
                    return partly.isEmpty() || partly.get().maxTimestampMs() <= ofWhole
                            ? CompletableFuture.completedFuture(ofWhole)
                            : leaf(partition, partly.get())
                                    .thenApply(leaf -> leaf.segments().stream()
                                            .filter(segment -> segment.endOffset() > from)
                                            .mapToLong(ManifestLeaf::timestampMsMost)
                                            .reduce(ofWhole, Math::max));
                }));
    }

    private CompletableFuture<Optional<SegmentDescriptor>> in(
            ManifestRef manifest,
            PartitionId partition,
            Alarms.Question question,
            Function<ManifestRoot, Optional<ManifestRoot.Leaf>> leafOf,
            Function<ManifestLeaf, Optional<SegmentDescriptor>> segmentOf) {
        return told(manifest, partition, question, root(manifest, partition).thenCompose(root -> {
            Optional<ManifestRoot.Leaf> leaf = leafOf.apply(root);
            return leaf.isEmpty()
                    ? CompletableFuture.completedFuture(Optional.<SegmentDescriptor>empty())
                    : leaf(partition, leaf.get()).thenApply(segmentOf);
        }));
    }

    private <T> CompletableFuture<T> told(
            ManifestRef manifest, PartitionId partition, Alarms.Question question, CompletableFuture<T> answer) {
        return outcomes.told(new Alarms.Place(partition, manifest.key(), Optional.empty()), question, answer);
    }

    private CompletableFuture<ManifestRoot> root(ManifestRef manifest, PartitionId partition) {
        return once(
                manifest.key(), ManifestRoot.class, ManifestRoot::memoryBytes, () -> reads.root(manifest, partition));
    }

    private CompletableFuture<ManifestLeaf> leaf(PartitionId partition, ManifestRoot.Leaf leaf) {
        return once(
                reads.keyOf(leaf, partition),
                ManifestLeaf.class,
                ManifestLeaf::memoryBytes,
                () -> reads.leaf(leaf, partition));
    }

    private <T> CompletableFuture<T> once(
            String name, Class<T> type, Function<T, Long> bytes, Supplier<CompletableFuture<T>> fetch) {
        Optional<Object> held = cache.get(name);
        if (held.isPresent()) {
            return CompletableFuture.completedFuture(type.cast(held.get()));
        }
        CompletableFuture<Object> mine = new CompletableFuture<>();
        CompletableFuture<Object> other = onTheirWay.putIfAbsent(name, mine);
        if (other != null) {
            return other.thenApply(type::cast);
        }
        // Begun inside of the future: whatever goes wrong ends it, and those who wait for it.
        CompletableFuture<T> fetched = CompletableFuture.completedFuture(name)
                .thenCompose(begun -> fetch.get())
                .thenApply(value -> {
                    cache.put(name, value, bytes.apply(value));
                    return value;
                });
        fetched.whenComplete((value, failure) -> {
            onTheirWay.remove(name);
            if (failure == null) {
                mine.complete(value);
            } else {
                mine.completeExceptionally(failure);
            }
        });
        return mine.thenApply(type::cast);
    }
}
