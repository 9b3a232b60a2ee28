package io.varve.cli.link;

import io.varve.base.StartupException;
import io.varve.bookie.client.BookieClientOptions;
import io.varve.bookie.client.RemoteBookieClient;
import io.varve.metadata.client.MetadataClientOptions;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.protocol.config.NodeAddress;
import io.varve.protocol.rpc.RpcBounds;
import io.varve.protocol.rpc.RpcClientOptions;
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcLoops;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.runtime.ProcessTerminatingFaultHandler;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import java.time.Duration;
import java.util.List;

/** A tool's client of the metadata service, with the one event loop under it. */
public final class MetadataLink implements AutoCloseable {

    private final RpcLoops loops;
    private final RpcIdentity identity;
    private final RemoteMetadataClient client;

    private MetadataLink(RpcLoops loops, RpcIdentity identity, RemoteMetadataClient client) {
        this.loops = loops;
        this.identity = identity;
        this.client = client;
    }

    /**
     * Connects, and waits for a view that is as new as any.
     *
     * @throws StartupException NO_QUORUM if there is none within {@code patience}
     */
    public static MetadataLink open(List<NodeAddress> servers, Duration patience) {
        RpcLoops loops = RpcLoops.start("varve-tool", 1);
        try {
            RpcIdentity identity = new RpcIdentity(RpcRole.TOOL, RpcIdentity.NO_NODE, SystemRandomness.unique(), "");
            MetadataClientOptions options = MetadataClientOptions.of(
                    servers,
                    identity,
                    loops,
                    SystemClock.INSTANCE,
                    SystemRandomness.INSTANCE,
                    new ProcessTerminatingFaultHandler());
            return new MetadataLink(loops, identity, RemoteMetadataClient.connect(options, patience.toMillis()));
        } catch (RuntimeException e) {
            loops.close();
            throw e;
        }
    }

    /** The client. */
    public RemoteMetadataClient client() {
        return client;
    }

    /** A client of the cluster's bookies. The caller closes it, before this. */
    public RemoteBookieClient bookies() {
        String clusterId = client.view().clusterId();
        return new RemoteBookieClient(BookieClientOptions.of(new RpcClientOptions(
                () -> identity.inCluster(clusterId),
                loops,
                SystemClock.INSTANCE,
                SystemRandomness.INSTANCE,
                new ProcessTerminatingFaultHandler(),
                RpcBounds.DEFAULT)));
    }

    @Override
    public void close() {
        client.close();
        loops.close();
    }
}
