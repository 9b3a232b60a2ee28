package io.varve.tiering.manifest;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.ChainManifests;
import io.varve.tiering.cache.ManifestCache;
import io.varve.tiering.core.ManifestLeaf;
import io.varve.tiering.core.ManifestRoot;
import io.varve.tiering.object.ObjectStore;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

/** Looks segments up in manifests, with the roots and leaves that were used last in memory, each fetched once at a time. */
public final class CachedManifests implements ChainManifests {

    private final ManifestReads reads;
    private final ManifestCache cache;
    private final ConcurrentHashMap<String, CompletableFuture<Object>> onTheirWay = new ConcurrentHashMap<>();

    /** @param cacheBytes for roots and leaves */
    public CachedManifests(ObjectStore store, String clusterId, long cacheBytes) {
        this.reads = new ManifestReads(store, clusterId);
        this.cache = new ManifestCache(cacheBytes);
    }

    @Override
    public CompletableFuture<Optional<SegmentDescriptor>> segmentAt(
            ManifestRef manifest, PartitionId partition, long offset) {
        if (offset < manifest.startOffset() || offset >= manifest.endOffset()) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        return in(manifest, partition, root -> root.at(offset), leaf -> leaf.at(offset));
    }

    @Override
    public CompletableFuture<Optional<SegmentDescriptor>> segmentAtTimestamp(
            ManifestRef manifest, PartitionId partition, long timestampMs) {
        return in(
                manifest,
                partition,
                root -> root.atTimestamp(timestampMs),
                leaf -> leaf.segments().stream()
                        .filter(s -> s.maxTimestampMs() >= timestampMs)
                        .findFirst());
    }

    @Override
    public CompletableFuture<Optional<SegmentDescriptor>> lastSegmentOfEpoch(
            ManifestRef manifest, PartitionId partition, int epoch) {
        return in(
                manifest,
                partition,
                root -> root.lastOfEpoch(epoch),
                leaf -> leaf.segments().stream().filter(s -> s.epoch() <= epoch).reduce((before, after) -> after));
    }

    private CompletableFuture<Optional<SegmentDescriptor>> in(
            ManifestRef manifest,
            PartitionId partition,
            Function<ManifestRoot, Optional<ManifestRoot.Leaf>> leafOf,
            Function<ManifestLeaf, Optional<SegmentDescriptor>> segmentOf) {
        return root(manifest, partition).thenCompose(root -> {
            Optional<ManifestRoot.Leaf> leaf = leafOf.apply(root);
            return leaf.isEmpty()
                    ? CompletableFuture.completedFuture(Optional.<SegmentDescriptor>empty())
                    : leaf(partition, leaf.get()).thenApply(segmentOf);
        });
    }

    private CompletableFuture<ManifestRoot> root(ManifestRef manifest, PartitionId partition) {
        return once(
                manifest.key(), ManifestRoot.class, ManifestRoot::memoryBytes, () -> reads.root(manifest, partition));
    }

    private CompletableFuture<ManifestLeaf> leaf(PartitionId partition, ManifestRoot.Leaf leaf) {
        String name = partition + "/" + leaf.startOffset() + "-" + leaf.generation();
        return once(name, ManifestLeaf.class, ManifestLeaf::memoryBytes, () -> reads.leaf(leaf, partition));
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
        fetch.get().whenComplete((value, failure) -> {
            if (failure == null) {
                cache.put(name, value, bytes.apply(value));
            }
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
