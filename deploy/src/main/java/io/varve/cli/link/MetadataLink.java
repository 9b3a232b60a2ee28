package io.varve.cli.link;

import io.varve.base.StartupException;
import io.varve.metadata.client.MetadataClientOptions;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.protocol.config.NodeAddress;
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
    private final RemoteMetadataClient client;

    private MetadataLink(RpcLoops loops, RemoteMetadataClient client) {
        this.loops = loops;
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
            MetadataClientOptions options = MetadataClientOptions.of(
                    servers,
                    new RpcIdentity(RpcRole.TOOL, RpcIdentity.NO_NODE, SystemRandomness.unique(), ""),
                    loops,
                    SystemClock.INSTANCE,
                    SystemRandomness.INSTANCE,
                    new ProcessTerminatingFaultHandler());
            return new MetadataLink(loops, RemoteMetadataClient.connect(options, patience.toMillis()));
        } catch (RuntimeException e) {
            loops.close();
            throw e;
        }
    }

    /** The client. */
    public RemoteMetadataClient client() {
        return client;
    }

    @Override
    public void close() {
        client.close();
        loops.close();
    }
}
