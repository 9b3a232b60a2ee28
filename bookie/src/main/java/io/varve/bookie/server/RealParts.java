package io.varve.bookie.server;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.Randomness;
import io.varve.bookie.store.LocalSegmentStore;
import io.varve.bookie.store.SegmentStore;
import io.varve.bookie.store.StoreListener;
import io.varve.bookie.store.StoreOptions;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.client.MetadataClientOptions;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.protocol.rpc.RpcClientOptions;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.tiering.api.ManifestEditor;
import io.varve.tiering.api.MetadataBackups;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.UploadSweep;
import io.varve.tiering.client.Tiering;
import io.varve.tiering.client.TieringConfig;
import java.util.function.Supplier;

/** This machine's disks, and the metadata service and the bucket over the network. */
final class RealParts implements BookieParts {

    private final MeterRegistry registry;
    private final FaultHandler faults;
    private Tiering tiering;

    RealParts(MeterRegistry registry, FaultHandler faults) {
        this.registry = registry;
        this.faults = faults;
    }

    @Override
    public Clock clock() {
        return SystemClock.INSTANCE;
    }

    @Override
    public Randomness randomness() {
        return SystemRandomness.INSTANCE;
    }

    @Override
    public FaultHandler faults() {
        return faults;
    }

    @Override
    public MeterRegistry registry() {
        return registry;
    }

    @Override
    public MetadataClient openMetadata(BookieConfig config, RpcClientOptions rpc) {
        return RemoteMetadataClient.start(MetadataClientOptions.of(
                config.get(BookieConfig.METADATA_SERVERS),
                rpc.identity().get(),
                rpc.loops(),
                clock(),
                randomness(),
                faults));
    }

    @Override
    public SegmentStore openStore(StoreOptions options, StoreListener listener) {
        return LocalSegmentStore.open(options, clock(), randomness(), faults, listener, registry);
    }

    @Override
    public Offloader openOffloader(
            BookieConfig config, String clusterId, String bucketId, Supplier<MetadataView> known) {
        tiering = Tiering.open(new TieringConfig(config.config()), bucketId, clock(), randomness(), registry, faults);
        tiering.checkAtStart(clusterId, Tiering.newestKey(known.get()));
        tiering = tiering.claimedBy(clusterId, () -> Tiering.newestKey(known.get()));
        return tiering.newOffloader();
    }

    @Override
    public ManifestEditor openManifestEditor() {
        return tiering.newManifestEditor();
    }

    @Override
    public MetadataBackups backups() {
        return tiering.newBackups();
    }

    @Override
    public UploadSweep uploadSweep() {
        return tiering.newUploadSweep();
    }

    @Override
    public void close() {
        if (tiering != null) {
            tiering.close();
        }
    }
}
