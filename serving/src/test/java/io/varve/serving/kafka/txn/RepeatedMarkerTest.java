package io.varve.serving.kafka.txn;

import static io.varve.serving.kafka.Eventually.get;
import static io.varve.serving.kafka.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.model.InternalTopics;
import io.varve.serving.kafka.Contexts;
import io.varve.serving.kafka.TestCluster;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.WriteTxnMarkersResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest.TxnMarkerEntry;
import org.junit.jupiter.api.Test;

/** A marker whose answer got lost is sent again. The log knows it, and a group's coordinator must survive that. */
class RepeatedMarkerTest {

    @Test
    void aRepeatToAGroupsPartitionChangesNothingAndLetsTheSenderStop() {
        try (TestCluster cluster = new TestCluster(1)) {
            cluster.addInternalTopics(1, 1);
            cluster.addTopic("here", 1, 1);
            TestProducer producer = new TestProducer(cluster, "tx", true, 60_000);
            assertThat(producer.init()).isEqualTo(Errors.NONE);
            assertThat(producer.commitOffset("g", "here", 7)).isEqualTo(Errors.NONE);
            assertThat(producer.end(true)).isEqualTo(Errors.NONE);
            until(producer::status, "CompleteCommit"::equals);
            long end = cluster.log(InternalTopics.CONSUMER_OFFSETS, 0).offsets().end();

            assertThat(sendAgain(cluster, producer)).isEqualTo(Errors.INVALID_PRODUCER_EPOCH);

            assertThat(cluster.log(InternalTopics.CONSUMER_OFFSETS, 0).offsets().end())
                    .isEqualTo(end);
            assertThat(producer.commitOffset("g", "here", 8)).isEqualTo(Errors.NONE);
            assertThat(producer.end(true)).isEqualTo(Errors.NONE);
            until(producer::status, "CompleteCommit"::equals);
        }
    }

    /** Until the first one is acknowledged it may yet be lost, and with it the end of the transaction. */
    @Test
    void aRepeatOfAMarkerThatIsNotAcknowledgedIsToBeSentOnceMore() {
        try (TestCluster cluster = new TestCluster(1)) {
            cluster.addInternalTopics(1, 1);
            cluster.addTopic("here", 1, 1);
            TestProducer producer = new TestProducer(cluster, "tx", true, 60_000);
            producer.init();
            assertThat(producer.commitOffset("g", "here", 7)).isEqualTo(Errors.NONE);
            var log = cluster.log(InternalTopics.CONSUMER_OFFSETS, 0);
            log.holdAcks();
            producer.end(true);
            until(log::offsets, offsets -> offsets.end() > offsets.highWatermark());

            Errors answer = sendAgain(cluster, producer);

            assertThat(answer).isNotIn(Errors.NONE, Errors.INVALID_PRODUCER_EPOCH);
            assertThat(producer.status()).isEqualTo("PrepareCommit");
            log.releaseAcks();
            until(producer::status, "CompleteCommit"::equals);
        }
    }

    private static Errors sendAgain(TestCluster cluster, TestProducer producer) {
        TopicPartition partition = new TopicPartition(InternalTopics.CONSUMER_OFFSETS, 0);
        WriteTxnMarkersRequest request = new WriteTxnMarkersRequest.Builder(List.of(new TxnMarkerEntry(
                        producer.producerId, producer.epoch, 5, TransactionResult.COMMIT, List.of(partition), (short)
                                2)))
                .build();
        WriteTxnMarkersResponseData answer = get(cluster.broker(1)
                .transactions()
                .writeTxnMarkers(Contexts.of(ApiKeys.WRITE_TXN_MARKERS), request.data()));
        return Errors.forCode(
                answer.markers().get(0).topics().get(0).partitions().get(0).errorCode());
    }
}
