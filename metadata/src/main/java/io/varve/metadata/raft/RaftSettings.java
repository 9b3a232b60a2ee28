package io.varve.metadata.raft;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * How a node takes part in the log.
 *
 * @param nodeId this node's number, among those of {@code peers}
 * @param peers the nodes that form the cluster. Once it is formed its own configuration counts, which adding and removing nodes changes
 * @param groupName the same on all nodes of a cluster, and another for each cluster that could be reached by mistake
 * @param directory where log and snapshots are
 * @param electionTimeoutMs the shortest silence of a leader that makes a node stand for election; the longest is twice that
 * @param snapshotEntries how many entries are applied from one snapshot to the next
 * @param preservedEntries how many entries before a snapshot stay in the log for nodes that lag
 * @param logSegmentBytes the length of a file of the log
 */
public record RaftSettings(
        int nodeId,
        List<RaftPeerAddress> peers,
        String groupName,
        Path directory,
        int electionTimeoutMs,
        long snapshotEntries,
        long preservedEntries,
        int logSegmentBytes) {

    public RaftSettings {
        peers = List.copyOf(peers);
        Objects.requireNonNull(groupName, "groupName");
        Objects.requireNonNull(directory, "directory");
        if (peers.stream().noneMatch(peer -> peer.nodeId() == nodeId)) {
            throw new IllegalArgumentException("Node " + nodeId + " is none of " + peers);
        }
    }

    /** With what fits most uses. */
    public static RaftSettings of(int nodeId, List<RaftPeerAddress> peers, String groupName, Path directory) {
        return new RaftSettings(nodeId, peers, groupName, directory, 1_000, 50_000, 10_000, 8 << 20);
    }

    /** The same for a cluster of which this is the only node. */
    public RaftSettings alone() {
        return new RaftSettings(
                nodeId,
                List.of(self()),
                groupName,
                directory,
                electionTimeoutMs,
                snapshotEntries,
                preservedEntries,
                logSegmentBytes);
    }

    /** The address at which this node listens for the others. */
    public RaftPeerAddress self() {
        return peers.stream()
                .filter(peer -> peer.nodeId() == nodeId)
                .findFirst()
                .orElseThrow();
    }
}
