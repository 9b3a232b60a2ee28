package io.varve.cli.link;

import io.varve.metadata.client.NodeProbe;
import io.varve.protocol.config.NodeAddress;
import io.varve.protocol.rpc.RpcBounds;
import io.varve.protocol.rpc.RpcClient;
import io.varve.protocol.rpc.RpcClientOptions;
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcLoops;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.runtime.ProcessTerminatingFaultHandler;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;

/** A tool's question to each metadata node by itself. */
public final class MetadataProbe {

    private MetadataProbe() {}

    /** What each of {@code nodes}, and of the members that they name, says of itself. */
    public static SortedMap<Integer, NodeProbe.Answer> ask(List<NodeAddress> nodes, Duration patience) {
        RpcIdentity identity = new RpcIdentity(RpcRole.TOOL, RpcIdentity.NO_NODE, SystemRandomness.unique(), "");
        try (RpcLoops loops = RpcLoops.start("varve-tool", 1);
                RpcClient rpc = new RpcClient(new RpcClientOptions(
                        () -> identity,
                        loops,
                        SystemClock.INSTANCE,
                        SystemRandomness.INSTANCE,
                        new ProcessTerminatingFaultHandler(),
                        RpcBounds.DEFAULT))) {
            return NodeProbe.ask(rpc, nodes, patience.toMillis());
        }
    }
}
