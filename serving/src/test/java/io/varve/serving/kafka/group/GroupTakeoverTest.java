package io.varve.serving.kafka.group;

import static io.varve.serving.kafka.Eventually.get;
import static io.varve.serving.kafka.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.Topic;
import io.varve.protocol.runtime.SystemClock;
import io.varve.serving.kafka.FakeMetadata;
import io.varve.serving.log.InMemoryPartitionLog;
import io.varve.serving.log.InMemoryPartitionLogs;
import io.varve.serving.log.LogError;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What groups live through when their coordinator moves or loses a write. User reports P35 to P38, C9. */
class GroupTakeoverTest {

    private final FakeMetadata metadata = new FakeMetadata();
    private Topic data;
    private PartitionId partition;
    private InMemoryPartitionLogs logs;
    private GroupBroker broker;

    @BeforeEach
    void startBroker() {
        metadata.addBroker(1);
        metadata.addTopic(InternalTopics.CONSUMER_OFFSETS, 1, 1);
        data = metadata.addTopic("t", 1, 1);
        partition = GroupBroker.partition(metadata);
        logs = new InMemoryPartitionLogs();
        logs.serve(partition);
        broker = new GroupBroker(1, metadata, logs);
        broker.awaitActive("g");
    }

    @AfterEach
    void stopBroker() {
        broker.close();
    }

    @Test
    void aStableGroupGoesOnAtTheNextBrokerWithoutARebalance() {
        JoinGroupResponseData member = broker.joinAndSync("g");
        assertThat(get(broker.commit("g", member.memberId(), member.generationId(), 42)))
                .isEqualTo(Errors.NONE);

        logs.lose(partition);
        InMemoryPartitionLogs otherLogs = logs.ofAnotherBroker();
        otherLogs.serve(partition);
        try (GroupBroker other = new GroupBroker(2, metadata, otherLogs)) {
            other.awaitActive("g");

            assertThat(other.heartbeat("g", member)).isEqualTo(Errors.NONE);
            assertThat(other.committed("g")).isEqualTo("42");
            assertThat(get(other.commit("g", member.memberId(), member.generationId(), 43)))
                    .isEqualTo(Errors.NONE);
            assertThat(until(() -> broker.committed("g"), answer -> answer.equals("NOT_COORDINATOR")))
                    .isEqualTo("NOT_COORDINATOR");
        }
    }

    @Test
    void aCommitIsAnsweredWhenTheQuorumHasIt() {
        InMemoryPartitionLog log = logs.log(partition);
        log.holdAcks();

        CompletableFuture<Errors> commit = broker.commit("g", 7);
        until(() -> log.offsets().end(), end -> end > 0);

        assertThat(commit).isNotDone();
        assertThat(broker.committed("g")).isEqualTo("-1");
        log.releaseAcks();
        assertThat(get(commit)).isEqualTo(Errors.NONE);
        assertThat(broker.committed("g")).isEqualTo("7");
    }

    /** Hazard 1: a write that is lost must not be served, nor be committed by the next acknowledgement. */
    @Test
    void aCommitLostWithThePartitionIsForgotten() {
        assertThat(get(broker.commit("g", 7))).isEqualTo(Errors.NONE);
        logs.log(partition).holdAcks();
        CompletableFuture<Errors> lost = broker.commit("g", 8);
        until(() -> logs.log(partition).offsets(), o -> o.end() > o.highWatermark());

        logs.lose(partition);
        logs.serve(partition);

        assertThat(get(lost)).isEqualTo(Errors.NOT_COORDINATOR);
        broker.awaitActive("g");
        assertThat(broker.committed("g")).isEqualTo("7");
        assertThat(get(broker.commit("other", 1))).isEqualTo(Errors.NONE);
        assertThat(broker.committed("g")).isEqualTo("7");
    }

    /** Hazard 1 again, where the log stays ours: what was written is in the log and comes back with it, and only so. */
    @Test
    void aFailedWriteEndsTheTenureAndTheNextOneReadsTheLog() {
        InMemoryPartitionLog log = logs.log(partition);
        assertThat(get(broker.commit("g", 7))).isEqualTo(Errors.NONE);
        log.holdAcks();
        CompletableFuture<Errors> failed = broker.commit("g", 8);
        until(log::offsets, o -> o.end() > o.highWatermark());

        log.failUnacknowledged(LogError.NOT_ENOUGH_REPLICAS);

        assertThat(get(failed)).isEqualTo(Errors.NOT_COORDINATOR);
        until(() -> broker.committed("g"), answer -> answer.equals("7"));
        log.releaseAcks();
        until(() -> broker.committed("g"), answer -> answer.equals("8"));
        assertThat(get(broker.commit("g", 9))).isEqualTo(Errors.NONE);
        assertThat(broker.committed("g")).isEqualTo("9");
    }

    @Test
    void aRefusedWriteChangesNothing() {
        assertThat(get(broker.commit("g", 7))).isEqualTo(Errors.NONE);
        logs.log(partition).refuse(LogError.NOT_ENOUGH_REPLICAS);

        Errors answer = get(broker.commit("g", 8));

        logs.log(partition).refuse(LogError.NONE);
        assertThat(answer.exception()).isInstanceOf(org.apache.kafka.common.errors.RetriableException.class);
        broker.awaitActive("g");
        assertThat(broker.committed("g")).isEqualTo("7");
        assertThat(get(broker.commit("g", 9))).isEqualTo(Errors.NONE);
    }

    /** I-7, P35: while the partition can't be read the answer is "loading", never "there is no offset". */
    @Test
    void aCoordinatorThatCannotReadYetSaysSo() {
        assertThat(get(broker.commit("g", 7))).isEqualTo(Errors.NONE);
        logs.lose(partition);
        InMemoryPartitionLogs otherLogs = logs.ofAnotherBroker();
        otherLogs.serveWithReadsHeld(partition);
        try (GroupBroker other = new GroupBroker(2, metadata, otherLogs)) {
            until(() -> other.committed("g"), answer -> answer.equals("COORDINATOR_LOAD_IN_PROGRESS"));

            otherLogs.log(partition).releaseReads();

            until(() -> other.committed("g"), answer -> answer.equals("7"));
        }
    }

    /** The load of an ended tenure must not pass for the load of the next one. */
    @Test
    void anOldLoadDoesNotActivateTheNextTenure() {
        assertThat(get(broker.commit("g", 7))).isEqualTo(Errors.NONE);
        logs.lose(partition);
        InMemoryPartitionLogs otherLogs = logs.ofAnotherBroker();
        InMemoryPartitionLog first = otherLogs.serveWithReadsHeld(partition);
        try (GroupBroker other = new GroupBroker(2, metadata, otherLogs)) {
            until(() -> other.committed("g"), answer -> answer.equals("COORDINATOR_LOAD_IN_PROGRESS"));
            otherLogs.lose(partition);
            InMemoryPartitionLog second = otherLogs.serveWithReadsHeld(partition);
            first.releaseReads();

            for (int i = 0; i < 50; i++) {
                assertThat(other.committed("g")).isIn("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR");
            }
            second.releaseReads();
            until(() -> other.committed("g"), answer -> answer.equals("7"));
        }
    }

    /** Hazard 3: a deleted topic makes the coordinator wait for its quorum; metadata must go on meanwhile. */
    @Test
    void theOffsetsOfADeletedTopicGoAndNobodyWaitsForThat() {
        assertThat(get(broker.commit("g", 7))).isEqualTo(Errors.NONE);
        logs.log(partition).holdAcks();

        metadata.deleteTopic(data.id());
        metadata.addTopic("later", 1, 1);

        assertThat(metadata.view().topic("later")).isPresent();
        logs.log(partition).releaseAcks();
        until(() -> broker.committed("g"), answer -> answer.equals("-1"));
    }

    /** C9.5: a hundred times right after the acknowledgement; whoever is asked has the value, or says that he can't know. */
    @Test
    void manyMovesInARowEndWithTheNewestStateAndNobodyEverSaysThatThereIsNone() {
        InMemoryPartitionLogs otherLogs = logs.ofAnotherBroker();
        try (GroupBroker other = new GroupBroker(2, metadata, otherLogs)) {
            for (int move = 0; move < 100; move++) {
                boolean there = move % 2 == 0;
                GroupBroker from = there ? broker : other;
                GroupBroker to = there ? other : broker;
                assertThat(get(from.commit("g", move))).isEqualTo(Errors.NONE);
                from.logs.lose(partition);
                to.logs.serve(partition);
                String newest = Integer.toString(move);
                until(
                        () -> {
                            assertThat(from.committed("g")).isIn("NOT_COORDINATOR", newest);
                            return to.committed("g");
                        },
                        answer -> {
                            assertThat(answer).isIn("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", newest);
                            return answer.equals(newest);
                        });
            }
        }
    }

    /** C9.6. */
    @Test
    void aDeletedGroupIsNotListedByTheNextCoordinatorEither() {
        assertThat(get(broker.commit("g", 7))).isEqualTo(Errors.NONE);
        assertThat(get(broker.commit("stays", 7))).isEqualTo(Errors.NONE);
        assertThat(broker.delete("g")).isEqualTo(Errors.NONE);

        logs.lose(partition);
        logs.serve(partition);
        broker.awaitActive("g");

        assertThat(broker.listed()).containsExactly("stays");
        assertThat(broker.committed("g")).isEqualTo("-1");
    }

    /** C9.8. */
    @Test
    void aGroupOfTwentyMembersStaysStableThroughFiftyMoves() {
        broker.close();
        broker = new GroupBroker(
                1, metadata, logs, SystemClock.INSTANCE, Map.of("group.initial.rebalance.delay.ms", "300"));
        broker.awaitActive("g");
        List<JoinGroupResponseData> members = broker.joinAndSync("g", 20);
        int generation = members.get(0).generationId();
        for (int move = 0; move < 50; move++) {
            logs.lose(partition);
            logs.serve(partition);
            broker.awaitActive("g");
            for (JoinGroupResponseData member : members) {
                assertThat(member.generationId()).isEqualTo(generation);
                assertThat(broker.heartbeat("g", member)).isEqualTo(Errors.NONE);
            }
            JoinGroupResponseData one = members.get(move % members.size());
            assertThat(get(broker.commit("g", one.memberId(), generation, move)))
                    .isEqualTo(Errors.NONE);
        }
    }
}
