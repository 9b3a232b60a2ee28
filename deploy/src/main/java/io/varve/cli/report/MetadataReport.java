package io.varve.cli.report;

import io.varve.metadata.client.NodeProbe.Answer;
import io.varve.metadata.client.NodeStatus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * The state of the metadata service, put together from what each node says of itself.
 *
 * @param leader the node that leads, -1 if none does
 * @param members how many nodes the service has
 * @param answering how many of them answer
 * @param failuresBorne how many more of those that answer may fail before there is no quorum; 0 if there is none now
 * @param nodes the members, and those asked that are none
 */
public record MetadataReport(
        String clusterId,
        int leader,
        long term,
        long version,
        int members,
        int answering,
        int failuresBorne,
        List<NodeRow> nodes) {

    /** The role of a node that does not answer. */
    public static final String SILENT = "silent";

    /**
     * @param role leader, follower, no member, or silent
     * @param lagEntries committed entries that it has not applied; -1 if nobody knows
     * @param snapshotIndex 0 without one
     * @param snapshotAgeMs -1 without one
     * @param clockAheadMs of the clock here
     */
    public record NodeRow(
            int id,
            String address,
            String role,
            long term,
            long appliedIndex,
            long lagEntries,
            long logStartIndex,
            long snapshotIndex,
            long snapshotAgeMs,
            long diskFreeBytes,
            long clockAheadMs) {}

    /** The report on {@code answers}, at {@code nowMs} by the clock here. */
    public static MetadataReport of(SortedMap<Integer, Answer> answers, long nowMs) {
        // After a change of leader an old one may still take itself for it: the higher term counts.
        Optional<NodeStatus> best = answers.values().stream()
                .flatMap(answer -> answer.status().stream())
                .max(Comparator.comparingLong(NodeStatus::term)
                        .thenComparing(NodeStatus::leading)
                        .thenComparingLong(NodeStatus::commitIndex));
        List<Integer> members = best.map(status ->
                        status.members().stream().map(member -> member.id()).toList())
                .orElse(List.of());
        long commit = answers.values().stream()
                .flatMap(answer -> answer.status().stream())
                .mapToLong(NodeStatus::commitIndex)
                .max()
                .orElse(-1);
        List<NodeRow> rows = new ArrayList<>();
        int answering = 0;
        int leader = -1;
        for (Answer answer : answers.values()) {
            boolean isMember = members.contains(answer.node().id());
            boolean leads = isMember
                    && best.equals(answer.status())
                    && best.orElseThrow().leading();
            answering += isMember && answer.status().isPresent() ? 1 : 0;
            leader = leads ? answer.node().id() : leader;
            rows.add(row(answer, isMember, leads, commit, nowMs));
        }
        return new MetadataReport(
                best.map(NodeStatus::clusterId).orElse(""),
                leader,
                best.map(NodeStatus::term).orElse(-1L),
                best.map(NodeStatus::version).orElse(-1L),
                members.size(),
                answering,
                Math.max(0, answering - (members.size() / 2 + 1)),
                rows);
    }

    private static NodeRow row(Answer answer, boolean isMember, boolean leads, long commit, long nowMs) {
        int id = answer.node().id();
        String address = answer.node().host() + ":" + answer.node().port();
        if (answer.status().isEmpty()) {
            return new NodeRow(id, address, SILENT, -1, -1, -1, -1, 0, -1, -1, 0);
        }
        NodeStatus status = answer.status().get();
        return new NodeRow(
                id,
                address,
                leads ? "leader" : isMember ? "follower" : "no member",
                status.term(),
                status.appliedIndex(),
                Math.max(0, commit - status.appliedIndex()),
                status.logStartIndex(),
                status.snapshotIndex(),
                status.snapshotAgeMs().orElse(-1),
                status.diskFreeBytes(),
                status.wallTimeMs() == 0 ? 0 : status.wallTimeMs() - nowMs);
    }
}
