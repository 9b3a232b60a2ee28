package io.varve.cli.role;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.Randomness;
import io.varve.bookie.server.BookieConfig;
import io.varve.bookie.server.BookieParts;
import io.varve.bookie.store.LocalSegmentStore;
import io.varve.bookie.store.SegmentStore;
import io.varve.bookie.store.StoreListener;
import io.varve.bookie.store.StoreOptions;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.client.MetadataClientOptions;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.protocol.rpc.RpcClientOptions;
import io.varve.protocol.runtime.ProcessTerminatingFaultHandler;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.client.Tiering;
import io.varve.tiering.client.TieringConfig;

/** The real things under a bookie: this machine's disks, the metadata service, the bucket. */
final class LiveBookieParts implements BookieParts {

    private final MeterRegistry registry;
    private final FaultHandler faults = new ProcessTerminatingFaultHandler();

    LiveBookieParts(MeterRegistry registry) {
        this.registry = registry;
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
                config.config().get(BookieConfig.METADATA_SERVERS),
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
    public Offloader openOffloader(BookieConfig config, String clusterId) {
        Tiering tiering = Tiering.open(new TieringConfig(config.config()), clusterId, clock(), randomness(), registry);
        try {
            tiering.checkAtStart();
            return new OwnedOffloader(tiering);
        } catch (RuntimeException e) {
            tiering.close();
            throw e;
        }
    }
}
