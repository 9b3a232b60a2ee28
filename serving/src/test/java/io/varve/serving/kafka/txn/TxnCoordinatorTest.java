package io.varve.serving.kafka.txn;

import static io.varve.serving.kafka.Eventually.get;
import static io.varve.serving.kafka.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.model.InternalTopics;
import io.varve.serving.coordinator.GroupCoordinators;
import io.varve.serving.coordinator.TransactionCoordinators;
import io.varve.serving.coordinator.TransactionCoordinators.Verification;
import io.varve.serving.kafka.Contexts;
import io.varve.serving.kafka.TestCluster;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog.AbortedTxn;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.ReadResult;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.InitProducerIdRequestData;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.ListTransactionsRequestData;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchRequestData.OffsetFetchRequestGroup;
import org.apache.kafka.common.message.OffsetFetchRequestData.OffsetFetchRequestTopics;
import org.apache.kafka.common.message.OffsetFetchResponseData.OffsetFetchResponseGroup;
import org.apache.kafka.common.message.OffsetFetchResponseData.OffsetFetchResponsePartitions;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.coordinator.transaction.TransactionLog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Transactions across two brokers, with moves of everything at every step. User reports T8 to T15, C7, C12. */
class TxnCoordinatorTest {

    private static final int LONG_MS = 60_000;

    private TestCluster cluster;

    @BeforeEach
    void startCluster() {
        cluster = new TestCluster(2);
        cluster.addInternalTopics(2, 1);
        cluster.addTopic("here", 1, 1);
        cluster.addTopic("there", 1, 2);
    }

    @AfterEach
    void stopCluster() {
        cluster.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCommitReachesThePartitionsOfAllBrokers(boolean versionTwo) {
        TestProducer producer = new TestProducer(cluster, "tx", versionTwo, LONG_MS);
        assertThat(producer.init()).isEqualTo(Errors.NONE);
        writeEverywhere(producer);
        assertThat(cluster.log("there", 0).offsets().lastStable()).isZero();

        assertThat(producer.end(true)).isEqualTo(Errors.NONE);

        until(producer::status, "CompleteCommit"::equals);
        assertThat(cluster.log("here", 0).offsets().lastStable()).isEqualTo(2);
        assertThat(cluster.log("there", 0).offsets().lastStable()).isEqualTo(2);
        assertThat(aborted("there")).isEmpty();
    }

    /** A client that meets its own last transaction pauses, franz-go for five seconds. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoHearsOfTheEndFindsItCarriedOut(boolean versionTwo) {
        TestProducer producer = new TestProducer(cluster, "tx", versionTwo, LONG_MS);
        assertThat(producer.init()).isEqualTo(Errors.NONE);
        for (int round = 1; round <= 5; round++) {
            writeEverywhere(producer);

            assertThat(producer.end(true)).isEqualTo(Errors.NONE);

            assertThat(producer.status()).isEqualTo("CompleteCommit");
            assertThat(cluster.log("there", 0).offsets().lastStable())
                    .as("a record and a marker a round, and no marker twice")
                    .isEqualTo(2L * round);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anAbortIsMarkedAsSuchEverywhere(boolean versionTwo) {
        TestProducer producer = new TestProducer(cluster, "tx", versionTwo, LONG_MS);
        producer.init();
        writeEverywhere(producer);

        assertThat(producer.end(false)).isEqualTo(Errors.NONE);

        until(producer::status, "CompleteAbort"::equals);
        assertThat(aborted("here")).containsExactly(new AbortedTxn(producer.producerId, 0));
        assertThat(aborted("there")).containsExactly(new AbortedTxn(producer.producerId, 0));
    }

    /** What befalls a cluster in the middle of a transaction. A move loses what isn't acknowledged, as a kill does. */
    private enum Trouble {
        COORDINATOR_MOVES(List.of(InternalTopics.TRANSACTION_STATE)),
        DATA_MOVES(List.of("here", "there")),
        GROUP_COORDINATOR_MOVES(List.of(InternalTopics.CONSUMER_OFFSETS)),
        EVERYTHING_MOVES(List.of(InternalTopics.TRANSACTION_STATE, InternalTopics.CONSUMER_OFFSETS, "here", "there")),
        GROUP_REBALANCES(List.of());

        private final List<String> moving;

        Trouble(List<String> moving) {
            this.moving = moving;
        }
    }

    private static Stream<Arguments> everyTroubleAfterEveryStep() {
        return Stream.of(Trouble.values())
                .flatMap(trouble -> Stream.of(false, true)
                        .flatMap(versionTwo -> Stream.of("init", "add", "write", "offsets", "commit-offset", "end")
                                .filter(step -> !(versionTwo && step.equals("offsets")))
                                .map(step -> Arguments.of(trouble, versionTwo, step))));
    }

    /** C12: something happens between any two steps; the transaction ends whole, with retriable answers only. T8 to T12. */
    @ParameterizedTest
    @MethodSource("everyTroubleAfterEveryStep")
    void whateverHappensAfterAnyStepTheTransactionStillCommitsWhole(Trouble trouble, boolean versionTwo, String after) {
        TestProducer producer = new TestProducer(cluster, "tx", versionTwo, LONG_MS);
        for (int round = 0; round < 3; round++) {
            if (round == 0) {
                assertThat(producer.init()).isEqualTo(Errors.NONE);
                strikeIf(after.equals("init"), trouble);
            }
            assertThat(producer.add("here", 0)).isEqualTo(Errors.NONE);
            assertThat(producer.add("there", 0)).isEqualTo(Errors.NONE);
            strikeIf(after.equals("add"), trouble);
            assertThat(producer.write("here", 0)).isEqualTo(LogError.NONE);
            assertThat(producer.write("there", 0)).isEqualTo(LogError.NONE);
            strikeIf(after.equals("write"), trouble);
            if (!versionTwo) {
                assertThat(producer.addOffsets("g")).isEqualTo(Errors.NONE);
                strikeIf(after.equals("offsets"), trouble);
            }
            assertThat(producer.commitOffset("g", "here", 10 + round)).isEqualTo(Errors.NONE);
            strikeIf(after.equals("commit-offset"), trouble);
            assertThat(committed("g")).isEqualTo("UNSTABLE_OFFSET_COMMIT");
            assertThat(producer.end(true)).isEqualTo(Errors.NONE);
            strikeIf(after.equals("end"), trouble);

            until(producer::status, "CompleteCommit"::equals);
            awaitStable("here", 2 * (round + 1));
            awaitStable("there", 2 * (round + 1));
            String expected = Integer.toString(10 + round);
            until(() -> committed("g"), expected::equals);
        }
        assertThat(aborted("here")).isEmpty();
        assertThat(aborted("there")).isEmpty();
    }

    /** C12, T15: the decision is durable and one marker is written, another isn't; whoever then coordinates carries it out. */
    @ParameterizedTest
    @EnumSource(Trouble.class)
    void whateverHappensAfterTheFirstMarkerTheOthersAreWritten(Trouble trouble) {
        TestProducer producer = new TestProducer(cluster, "tx", true, LONG_MS);
        producer.init();
        writeEverywhere(producer);
        cluster.log("there", 0).refuse(LogError.NOT_ENOUGH_REPLICAS);
        assertThat(producer.end(true)).isEqualTo(Errors.NONE);
        until(() -> cluster.log("here", 0).offsets().lastStable(), stable -> stable == 2);
        assertThat(producer.status()).isEqualTo("PrepareCommit");

        var refusing = cluster.log("there", 0);
        strikeIf(true, trouble);
        refusing.refuse(LogError.NONE);

        until(producer::status, "CompleteCommit"::equals);
        awaitStable("here", 2);
        awaitStable("there", 2);
        assertThat(aborted("here")).isEmpty();
        assertThat(aborted("there")).isEmpty();
    }

    @Test
    void markersAreSentUntilABrokerThatWasAwayTakesThem() {
        TestProducer producer = new TestProducer(cluster, "tx", false, LONG_MS);
        producer.init();
        writeEverywhere(producer);
        cluster.cutOff(2, true);
        assertThat(producer.end(true)).isEqualTo(Errors.NONE);
        until(() -> cluster.log("here", 0).offsets().lastStable(), stable -> stable == 2);
        assertThat(producer.endOnce(true)).isEqualTo(Errors.CONCURRENT_TRANSACTIONS);

        cluster.cutOff(2, false);

        until(producer::status, "CompleteCommit"::equals);
        assertThat(cluster.log("there", 0).offsets().lastStable()).isEqualTo(2);
    }

    /** C12: no end comes; the transaction is aborted when its time has passed, and the last stable offset moves. */
    @Test
    void aTransactionWithoutAnEndIsAborted() {
        TestProducer producer = new TestProducer(cluster, "tx", true, 200);
        producer.init();
        writeEverywhere(producer);

        until(producer::status, "CompleteAbort"::equals);

        assertThat(cluster.log("here", 0).offsets().lastStable()).isEqualTo(2);
        assertThat(aborted("there")).hasSize(1);
        assertThat(producer.end(true)).isEqualTo(Errors.PRODUCER_FENCED);
    }

    @Test
    void aSecondProducerFencesTheFirstAndItsTransactionIsAborted() {
        TestProducer first = new TestProducer(cluster, "tx", true, LONG_MS);
        first.init();
        writeEverywhere(first);
        TestProducer second = new TestProducer(cluster, "tx", true, LONG_MS);

        assertThat(second.init()).isEqualTo(Errors.NONE);

        assertThat(second.producerId).isEqualTo(first.producerId);
        assertThat(second.epoch).isEqualTo((short) (first.epoch + 2));
        assertThat(aborted("there")).hasSize(1);
        assertThat(first.end(true)).isEqualTo(Errors.PRODUCER_FENCED);
        assertThat(second.add("here", 0)).isEqualTo(Errors.NONE);
    }

    /** Where Kafka fences a producer whose coordinator moved between its bump and the repeat of it (KIP-360). */
    @Test
    void aRepeatedInitProducerIdIsKnownAtTheNextCoordinator() {
        TestProducer producer = new TestProducer(cluster, "tx", true, LONG_MS);
        producer.init();
        long id = producer.producerId;
        short before = producer.epoch;
        producer.init();
        assertThat(producer.epoch).isEqualTo((short) (before + 1));
        cluster.move(InternalTopics.TRANSACTION_STATE, 0, 2);
        producer.producerId = id;
        producer.epoch = before;

        assertThat(producer.init()).isEqualTo(Errors.NONE);

        assertThat(producer.epoch).isEqualTo((short) (before + 1));
    }

    @Test
    void aTransactionWithADeletedTopicEnds() {
        TestProducer producer = new TestProducer(cluster, "tx", true, LONG_MS);
        producer.init();
        writeEverywhere(producer);
        cluster.metadata.deleteTopic(cluster.partition("there", 0).topic());

        assertThat(producer.end(true)).isEqualTo(Errors.NONE);

        until(producer::status, "CompleteCommit"::equals);
    }

    @Test
    void aWriteIsVerifiedWithTheCoordinatorWhereverThatIs() {
        TestProducer producer = new TestProducer(cluster, "tx", false, LONG_MS);
        producer.init();
        producer.add("here", 0);
        TopicPartition in = new TopicPartition("here", 0);
        TopicPartition out = new TopicPartition("there", 0);
        for (int broker = 1; broker <= 2; broker++) {
            TransactionCoordinators asked = cluster.broker(broker).transactions();
            assertThat(verify(asked, producer, List.of(in, out), Verification.VERIFY))
                    .containsEntry(in, Errors.NONE)
                    .containsEntry(out, Errors.TRANSACTION_ABORTABLE);
            assertThat(verify(asked, producer, List.of(out), Verification.VERIFY_FOR_OLD_CLIENT))
                    .containsEntry(out, Errors.INVALID_TXN_STATE);
        }
        cluster.cutOff(1, true);
        assertThat(verify(cluster.broker(2).transactions(), producer, List.of(in), Verification.VERIFY))
                .containsEntry(in, Errors.NOT_ENOUGH_REPLICAS);
    }

    /** Version 2: the next transaction's first write waits for the last one's markers instead of being sent back. */
    @Test
    void theNextTransactionWaitsForTheMarkersOfTheLast() {
        TestProducer producer = new TestProducer(cluster, "tx", true, LONG_MS);
        producer.init();
        TopicPartition here = new TopicPartition("here", 0);
        for (int round = 0; round < 20; round++) {
            assertThat(verify(cluster.broker(1).transactions(), producer, List.of(here), Verification.ADD))
                    .containsEntry(here, Errors.NONE);
            assertThat(producer.end(true)).isEqualTo(Errors.NONE);
        }
    }

    @Test
    void noneOfThePartitionsIsAddedIfOneDoesNotExist() {
        TestProducer producer = new TestProducer(cluster, "tx", false, LONG_MS);
        producer.init();
        assertThat(producer.add("here", 5)).isEqualTo(Errors.UNKNOWN_TOPIC_OR_PARTITION);
        assertThat(producer.status()).isEqualTo("Empty");
    }

    @Test
    void transactionsAreListedByWhatIsAskedFor() {
        TestProducer open = new TestProducer(cluster, "open", true, LONG_MS);
        open.init();
        open.add("here", 0);
        new TestProducer(cluster, "idle", true, LONG_MS).init();

        assertThat(listed(new ListTransactionsRequestData())).containsExactlyInAnyOrder("open", "idle");
        assertThat(listed(new ListTransactionsRequestData().setStateFilters(List.of("Ongoing", "Nonsense"))))
                .containsExactly("open");
        assertThat(listed(new ListTransactionsRequestData().setProducerIdFilters(List.of(open.producerId))))
                .containsExactly("open");
        assertThat(listed(new ListTransactionsRequestData().setDurationFilter(LONG_MS)))
                .isEmpty();
        assertThat(listed(new ListTransactionsRequestData().setTransactionalIdPattern("i.*")))
                .containsExactly("idle");
        assertThat(TxnStates.describe(cluster.broker(1).transactions(), "open")
                        .topics()
                        .find("here")
                        .partitions())
                .containsExactly(0);
        assertThat(TxnStates.of(cluster.broker(1).transactions(), "nobody")).isEqualTo("TRANSACTIONAL_ID_NOT_FOUND");
        assertThat(TxnStates.of(cluster.broker(2).transactions(), "open")).isEqualTo("NOT_COORDINATOR");
    }

    @Test
    void wrongRequestsAreRefused() {
        assertThat(init("", 1000)).isEqualTo(Errors.INVALID_REQUEST);
        assertThat(init("tx", 0)).isEqualTo(Errors.INVALID_TRANSACTION_TIMEOUT);
        assertThat(init("tx", Integer.MAX_VALUE)).isEqualTo(Errors.INVALID_TRANSACTION_TIMEOUT);
    }

    @Test
    void producersWithoutTransactionsGetIdsThatNobodyElseHas() {
        List<Long> ids = java.util.stream.IntStream.range(0, 35)
                .mapToObj(i -> get(cluster.broker(1 + i % 2)
                                .transactions()
                                .initProducerId(
                                        Contexts.of(ApiKeys.INIT_PRODUCER_ID),
                                        new InitProducerIdRequestData().setTransactionalId(null)))
                        .producerId())
                .toList();
        assertThat(ids).doesNotHaveDuplicates().allMatch(id -> id >= 1000);

        cluster.metadata.refuse(true);
        assertThat(until(() -> init(null, 0), error -> error != Errors.NONE))
                .isEqualTo(Errors.COORDINATOR_NOT_AVAILABLE);
        cluster.metadata.refuse(false);
        assertThat(init(null, 0)).isEqualTo(Errors.NONE);
    }

    /** The log is Kafka's own format: its reader understands every record, our tag and all. */
    @Test
    void kafkasOwnReaderUnderstandsTheTransactionLog() {
        TestProducer producer = new TestProducer(cluster, "tx", true, LONG_MS);
        producer.init();
        producer.add("here", 0);
        producer.end(true);
        until(producer::status, "CompleteCommit"::equals);

        ReadResult read = cluster.log(InternalTopics.TRANSACTION_STATE, 0)
                .read(0, 1 << 20, true, Isolation.LOG_END)
                .join();
        int records = 0;
        for (var batch : read.batches()) {
            for (Record record :
                    MemoryRecords.readableRecords(batch.nioBuffer()).records()) {
                assertThat(TransactionLog.read(record.key(), record.value()).toString())
                        .contains("tx");
                records++;
            }
        }
        read.release();
        assertThat(records).isEqualTo(4);
    }

    // ---- helpers
    // ---------------------------------------------------------------------------------------------------------

    private void writeEverywhere(TestProducer producer) {
        assertThat(producer.add("here", 0)).isEqualTo(Errors.NONE);
        assertThat(producer.add("there", 0)).isEqualTo(Errors.NONE);
        assertThat(producer.write("here", 0)).isEqualTo(LogError.NONE);
        assertThat(producer.write("there", 0)).isEqualTo(LogError.NONE);
    }

    /** Nothing is open any more. There may be more markers than transactions: a coordinator can't know what its predecessor wrote. */
    private void awaitStable(String topic, long endAtLeast) {
        until(
                () -> cluster.log(topic, 0).offsets(),
                offsets -> offsets.lastStable() == offsets.end() && offsets.end() >= endAtLeast);
    }

    private void strikeIf(boolean now, Trouble trouble) {
        if (!now) {
            return;
        }
        for (String topic : trouble.moving) {
            cluster.move(topic, 0, 3 - cluster.ownerOf(topic, 0));
        }
        if (trouble == Trouble.GROUP_REBALANCES) {
            joinAnew();
        }
    }

    /** A member comes, so that the group is between two generations: nobody of it has heard of the next one yet. */
    private void joinAnew() {
        JoinGroupRequestData.JoinGroupRequestProtocolCollection protocols =
                new JoinGroupRequestData.JoinGroupRequestProtocolCollection();
        protocols.add(new JoinGroupRequestData.JoinGroupRequestProtocol()
                .setName("range")
                .setMetadata(new byte[0]));
        JoinGroupRequestData join = new JoinGroupRequestData()
                .setGroupId("g")
                .setMemberId("")
                .setProtocolType("consumer")
                .setProtocols(protocols)
                .setSessionTimeoutMs(30_000)
                .setRebalanceTimeoutMs(30_000);
        GroupCoordinators groups = cluster.broker(cluster.ownerOf(InternalTopics.CONSUMER_OFFSETS, 0))
                .groups();
        JoinGroupResponseData known = until(
                () -> get(groups.joinGroup(Contexts.of(ApiKeys.JOIN_GROUP), join)),
                answer -> !answer.memberId().isEmpty());
        groups.joinGroup(Contexts.of(ApiKeys.JOIN_GROUP), join.setMemberId(known.memberId()));
    }

    private List<AbortedTxn> aborted(String topic) {
        ReadResult read = cluster.log(topic, 0)
                .read(0, 1 << 20, true, Isolation.READ_COMMITTED)
                .join();
        read.release();
        return read.aborted();
    }

    private String committed(String group) {
        OffsetFetchRequestData request = new OffsetFetchRequestData()
                .setRequireStable(true)
                .setGroups(List.of(new OffsetFetchRequestGroup()
                        .setGroupId(group)
                        .setTopics(List.of(
                                new OffsetFetchRequestTopics().setName("here").setPartitionIndexes(List.of(0))))));
        return until(
                () -> {
                    OffsetFetchResponseGroup answer = get(cluster.broker(
                                            cluster.ownerOf(InternalTopics.CONSUMER_OFFSETS, 0))
                                    .groups()
                                    .offsetFetch(Contexts.of(ApiKeys.OFFSET_FETCH, 9), request))
                            .groups()
                            .get(0);
                    if (answer.errorCode() != Errors.NONE.code()) {
                        return Errors.forCode(answer.errorCode()).name();
                    }
                    OffsetFetchResponsePartitions partition =
                            answer.topics().get(0).partitions().get(0);
                    return partition.errorCode() != Errors.NONE.code()
                            ? Errors.forCode(partition.errorCode()).name()
                            : Long.toString(partition.committedOffset());
                },
                answer -> !answer.contains("COORDINATOR"));
    }

    private static Map<TopicPartition, Errors> verify(
            TransactionCoordinators asked,
            TestProducer producer,
            List<TopicPartition> partitions,
            Verification verification) {
        return get(asked.verify("tx", producer.producerId, producer.epoch, partitions, verification));
    }

    private List<String> listed(ListTransactionsRequestData request) {
        return get(cluster.broker(1).transactions().listTransactions(Contexts.of(ApiKeys.LIST_TRANSACTIONS), request))
                .transactionStates()
                .stream()
                .map(state -> state.transactionalId())
                .toList();
    }

    private Errors init(String id, int timeoutMs) {
        InitProducerIdResponseData answer = get(cluster.broker(1)
                .transactions()
                .initProducerId(
                        Contexts.of(ApiKeys.INIT_PRODUCER_ID),
                        new InitProducerIdRequestData().setTransactionalId(id).setTransactionTimeoutMs(timeoutMs)));
        return Errors.forCode(answer.errorCode());
    }
}
