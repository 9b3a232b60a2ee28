package io.varve.serving.server;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.Randomness;
import io.varve.bookie.client.BookieClientOptions;
import io.varve.bookie.client.RemoteBookieClient;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.client.MetadataClientOptions;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.protocol.rpc.RpcBounds;
import io.varve.protocol.rpc.RpcClientOptions;
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcLoops;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.serving.kafka.KafkaCoordinators;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import io.varve.serving.kafka.runtime.NettyBrokerClient;
import io.varve.tiering.api.RemoteSegments;
import io.varve.tiering.client.Tiering;

/** What a broker is connected to: the metadata service, bookies and object storage over the network. */
final class RemoteParts implements ServingNode.Disconnect {

    private final RpcLoops loops;
    private final RemoteMetadataClient metadata;
    private final RemoteBookieClient bookies;
    private final Tiering tiering;
    private final RemoteSegments remote;
    private final ServingParts parts;

    /**
     * Connects.
     *
     * @throws io.varve.base.StartupException NO_QUORUM, BAD_CONFIG, or NO_BUCKET if the object store is another cluster's
     */
    RemoteParts(ServingConfig config, MeterRegistry registry, FaultHandler faults) {
        Clock clock = SystemClock.INSTANCE;
        Randomness randomness = SystemRandomness.INSTANCE;
        long incarnation = SystemRandomness.unique();
        RpcIdentity identity = new RpcIdentity(RpcRole.BROKER, config.nodeId(), incarnation, "");
        this.loops = RpcLoops.start("broker-rpc", config.rpcThreads());
        try {
            this.metadata = RemoteMetadataClient.connect(
                    MetadataClientOptions.of(config.metadataServers(), identity, loops, clock, randomness, faults),
                    config.metadataWaitMs());
        } catch (RuntimeException e) {
            loops.close();
            throw e;
        }
        String clusterId = metadata.view().clusterId();
        this.bookies = new RemoteBookieClient(BookieClientOptions.of(new RpcClientOptions(
                () -> identity.inCluster(clusterId), loops, clock, randomness, faults, RpcBounds.DEFAULT)));
        try {
            this.tiering = openTiering(config, metadata.view(), clock, randomness, registry, faults);
        } catch (RuntimeException e) {
            bookies.close();
            metadata.close();
            loops.close();
            throw e;
        }
        this.remote = tiering.newReader(metadata::view);
        CoordinatorOptions coordinators = config.coordinators();
        this.parts = new ServingParts(
                incarnation,
                metadata,
                bookies,
                remote,
                tiering.newManifests(metadata::view),
                logs -> new KafkaCoordinators(
                        coordinators,
                        metadata,
                        logs,
                        NettyBrokerClient.of(metadata, loops.group(), loops.channelType()),
                        clock,
                        faults),
                clock,
                registry,
                faults);
    }

    private static Tiering openTiering(
            ServingConfig config,
            MetadataView view,
            Clock clock,
            Randomness randomness,
            MeterRegistry registry,
            FaultHandler faults) {
        Tiering opened = Tiering.open(config.tiering(), view.bucketId(), clock, randomness, registry, faults);
        try {
            opened.checkHeldAtStart(view.clusterId(), Tiering.newestKey(view));
            return opened;
        } catch (RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    ServingParts parts() {
        return parts;
    }

    /** Disconnects. */
    @Override
    public void close() {
        remote.close();
        tiering.close();
        bookies.close();
        metadata.close();
        loops.close();
    }
}
