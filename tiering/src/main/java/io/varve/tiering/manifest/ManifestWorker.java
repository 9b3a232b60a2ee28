package io.varve.tiering.manifest;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.ManifestEditor;
import io.varve.tiering.object.ObjectStore;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Writes manifests into a store. */
public final class ManifestWorker implements ManifestEditor {

    private final ManifestWriter writer;
    private final ManifestPruner pruner;

    /** @param store with deadlines and retries around it; closed by its owner */
    public ManifestWorker(ObjectStore store, String clusterId, MeterRegistry registry) {
        ManifestReads reads = new ManifestReads(store, clusterId);
        ObjectDeletion deletion = new ObjectDeletion(store);
        PartitionKeys keys = new PartitionKeys(store, clusterId);
        this.writer = new ManifestWriter(store, clusterId, reads);
        this.pruner = new ManifestPruner(
                reads,
                writer,
                deletion,
                keys,
                new StretchSweep(store, clusterId, keys, deletion),
                registry.counter("varve.tiering.manifest.parts.given.up"));
    }

    @Override
    public Edited extend(
            PartitionId partition, Optional<ManifestRef> before, long generation, List<SegmentDescriptor> added) {
        return writer.extend(partition, before, generation, added);
    }

    @Override
    public Edited prune(
            PartitionId partition, ManifestRef manifest, long generation, long belowOffset, BooleanSupplier wanted) {
        return pruner.prune(partition, manifest, generation, belowOffset, wanted);
    }
}
