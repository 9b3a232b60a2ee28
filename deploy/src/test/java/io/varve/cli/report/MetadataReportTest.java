package io.varve.cli.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.cli.report.MetadataReport.NodeRow;
import io.varve.metadata.client.MetadataMember;
import io.varve.metadata.client.NodeProbe.Answer;
import io.varve.metadata.client.NodeStatus;
import io.varve.protocol.config.NodeAddress;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class MetadataReportTest {

    private static final List<MetadataMember> MEMBERS = List.of(
            new MetadataMember(1, "a", 2, 1), new MetadataMember(2, "b", 2, 1), new MetadataMember(3, "c", 2, 1));

    private final SortedMap<Integer, Answer> answers = new TreeMap<>();

    private void says(int node, boolean leading, long term, long commit, long applied, List<MetadataMember> members) {
        NodeStatus status = new NodeStatus(
                leading,
                OptionalInt.empty(),
                "c",
                term,
                applied,
                7,
                commit,
                applied,
                1,
                commit,
                50,
                OptionalLong.of(9_000),
                1 << 20,
                100_000,
                members);
        answers.put(node, new Answer(new NodeAddress(node, "host", 1), Optional.of(status)));
    }

    private void isSilent(int node) {
        answers.put(node, new Answer(new NodeAddress(node, "host", 1), Optional.empty()));
    }

    @Test
    void lagIsCountedFromTheFurthestCommit() {
        says(1, true, 4, 120, 120, MEMBERS);
        says(2, false, 4, 118, 100, MEMBERS);
        isSilent(3);
        MetadataReport report = MetadataReport.of(answers, 99_000);
        assertThat(report.leader()).isEqualTo(1);
        assertThat(report.members()).isEqualTo(3);
        assertThat(report.answering()).isEqualTo(2);
        assertThat(report.failuresBorne()).isZero();
        assertThat(report.nodes()).extracting(NodeRow::role).containsExactly("leader", "follower", "silent");
        assertThat(report.nodes()).extracting(NodeRow::lagEntries).containsExactly(0L, 20L, -1L);
        assertThat(report.nodes().get(0).clockAheadMs()).isEqualTo(1_000);
    }

    @Test
    void oneWhoTakesItselfForTheLeaderOfAnOlderTermDoesNotLead() {
        says(1, true, 4, 120, 120, MEMBERS);
        says(2, true, 5, 121, 121, MEMBERS);
        says(3, false, 5, 121, 121, MEMBERS);
        MetadataReport report = MetadataReport.of(answers, 0);
        assertThat(report.leader()).isEqualTo(2);
        assertThat(report.term()).isEqualTo(5);
        assertThat(report.failuresBorne()).isEqualTo(1);
        assertThat(report.nodes()).extracting(NodeRow::role).containsExactly("follower", "leader", "follower");
    }

    @Test
    void withoutALeaderThatIsSaid() {
        says(2, false, 5, 121, 121, MEMBERS);
        says(4, false, 0, 0, 0, List.of());
        isSilent(1);
        isSilent(3);
        MetadataReport report = MetadataReport.of(answers, 0);
        assertThat(report.leader()).isEqualTo(-1);
        assertThat(report.answering()).isEqualTo(1);
        assertThat(report.nodes().get(3).role()).isEqualTo("no member");
    }

    @Test
    void whenNobodyAnswersTheReportIsEmpty() {
        isSilent(1);
        MetadataReport report = MetadataReport.of(answers, 0);
        assertThat(report.leader()).isEqualTo(-1);
        assertThat(report.members()).isZero();
        assertThat(report.nodes()).hasSize(1);
    }
}
