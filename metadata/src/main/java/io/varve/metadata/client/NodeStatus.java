package io.varve.metadata.client;

import io.varve.protocol.meta.StatusReply;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * How one metadata node stands, by its own word.
 *
 * @param leading whether it leads
 * @param leaderId who leads, as far as it knows
 * @param clusterId empty if it knows of none
 * @param term of the log
 * @param version the newest version it has applied
 * @param digest of that version: equal on all nodes
 * @param commitIndex up to which entry the log is committed, as far as it knows
 * @param appliedIndex the last entry it has applied
 * @param logStartIndex the first entry of its log
 * @param logLastIndex the last entry of its log
 * @param snapshotIndex the entry up to which its newest snapshot goes, 0 without one
 * @param snapshotAgeMs since that was written
 * @param diskFreeBytes of the disk that its log is on
 * @param wallTimeMs its clock
 * @param members all nodes, as far as it knows; empty while it takes no part yet
 */
public record NodeStatus(
        boolean leading,
        OptionalInt leaderId,
        String clusterId,
        long term,
        long version,
        long digest,
        long commitIndex,
        long appliedIndex,
        long logStartIndex,
        long logLastIndex,
        long snapshotIndex,
        OptionalLong snapshotAgeMs,
        long diskFreeBytes,
        long wallTimeMs,
        List<MetadataMember> members) {

    public NodeStatus {
        members = List.copyOf(members);
    }

    static NodeStatus of(StatusReply reply) {
        return new NodeStatus(
                reply.getLeading(),
                reply.hasLeaderId() ? OptionalInt.of(reply.getLeaderId()) : OptionalInt.empty(),
                reply.getClusterId(),
                reply.getTerm(),
                reply.getVersion(),
                reply.getDigest(),
                reply.getCommitIndex(),
                reply.getAppliedIndex(),
                reply.getLogStartIndex(),
                reply.getLogLastIndex(),
                reply.getSnapshotIndex(),
                reply.hasSnapshotAgeMs() ? OptionalLong.of(reply.getSnapshotAgeMs()) : OptionalLong.empty(),
                reply.getDiskFreeBytes(),
                reply.getNowMs(),
                membersOf(reply));
    }

    static List<MetadataMember> membersOf(StatusReply reply) {
        return reply.getMembersList().stream()
                .map(m -> new MetadataMember(m.getId(), m.getHost(), m.getRaftPort(), m.getClientPort()))
                .toList();
    }
}
