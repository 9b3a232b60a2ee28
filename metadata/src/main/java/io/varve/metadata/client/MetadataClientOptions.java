package io.varve.metadata.client;

import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.Randomness;
import io.varve.protocol.config.NodeAddress;
import io.varve.protocol.rpc.RpcBounds;
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcLoops;
import java.util.List;
import java.util.Objects;

/**
 * How a client works.
 *
 * @param servers the metadata nodes, as far as configured; the service tells of others
 * @param identity who this process is; its cluster id may be empty, the client learns it
 * @param loops runs the connections
 * @param clock for deadlines and heartbeats
 * @param randomness for command ids, topic ids and jitter; safe for any thread
 * @param faults gets broken invariants
 * @param bounds of the connection
 * @param commandMs the deadline of a command
 * @param attemptMs after that long without an answer a command is sent again, perhaps to another node
 * @param heartbeatMs how often sessions are kept alive
 */
public record MetadataClientOptions(
        List<NodeAddress> servers,
        RpcIdentity identity,
        RpcLoops loops,
        Clock clock,
        Randomness randomness,
        FaultHandler faults,
        RpcBounds bounds,
        long commandMs,
        long attemptMs,
        long heartbeatMs) {

    public MetadataClientOptions {
        servers = List.copyOf(servers);
        Objects.requireNonNull(identity, "identity");
        if (servers.isEmpty()) {
            throw new IllegalArgumentException("No metadata node is configured");
        }
    }

    /** With the times that fit most uses. */
    public static MetadataClientOptions of(
            List<NodeAddress> servers,
            RpcIdentity identity,
            RpcLoops loops,
            Clock clock,
            Randomness randomness,
            FaultHandler faults) {
        return new MetadataClientOptions(
                servers, identity, loops, clock, randomness, faults, RpcBounds.DEFAULT, 30_000, 2_000, 500);
    }
}
