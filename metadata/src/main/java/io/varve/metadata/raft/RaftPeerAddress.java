package io.varve.metadata.raft;

import java.util.Objects;

/**
 * Where a node of the metadata service is reached.
 *
 * @param nodeId its number
 * @param host for both ports
 * @param raftPort where the other nodes reach it
 * @param clientPort where clients reach it
 */
public record RaftPeerAddress(int nodeId, String host, int raftPort, int clientPort) {
    public RaftPeerAddress {
        Objects.requireNonNull(host, "host");
    }
}
