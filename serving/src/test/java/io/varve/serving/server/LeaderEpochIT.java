package io.varve.serving.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.net.RawClient;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.OffsetForLeaderEpochRequestData.OffsetForLeaderPartition;
import org.apache.kafka.common.message.OffsetForLeaderEpochRequestData.OffsetForLeaderTopic;
import org.apache.kafka.common.message.OffsetForLeaderEpochRequestData.OffsetForLeaderTopicCollection;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.EpochEndOffset;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** C3 of the user reports, P7, P8: where epochs ended, on a log that moves from broker to broker with and without writes in between. */
@Timeout(180)
final class LeaderEpochIT {

    private static final String TOPIC = "t";

    private TwoBrokers brokers;

    @BeforeEach
    void start() throws Exception {
        brokers = new TwoBrokers();
        brokers.create(TOPIC, 1);
    }

    @AfterEach
    void stop() {
        brokers.close();
    }

    @Test
    void everyEpochEndsWhereTheNextWithRecordsBegins() throws Exception {
        int early = brokers.epoch(TOPIC);
        brokers.produce(TOPIC, 100);
        move(2);
        int late = brokers.epoch(TOPIC);
        brokers.produce(TOPIC, 50);
        move(3);
        int current = brokers.epoch(TOPIC);
        TreeMap<Integer, String> expected = new TreeMap<>();
        for (int epoch = early; epoch < late; epoch++) {
            expected.put(epoch, early + " ends at 100");
        }
        for (int epoch = late; epoch < current; epoch++) {
            expected.put(epoch, late + " ends at 150");
        }
        expected.put(current, current + " ends at 150");
        expected.put(current + 1, "-1 ends at -1");

        assertThat(current).isGreaterThanOrEqualTo(early + 5);
        assertThat(answers(expected, -1)).isEqualTo(expected);
        assertThat(answers(expected, current)).isEqualTo(expected);
        assertThat(ask(early, current - 1)).isEqualTo("FENCED_LEADER_EPOCH");
        assertThat(ask(early, current + 1)).isEqualTo("UNKNOWN_LEADER_EPOCH");

        try (Admin admin = brokers.admin()) {
            admin.deleteRecords(Map.of(new TopicPartition(TOPIC, 0), RecordsToDelete.beforeOffset(120)))
                    .all()
                    .get();
        }
        assertThat(ask(late, -1)).isEqualTo(late + " ends at 150");
        EpochEndOffset gone = answer(early, -1);
        assertThat(gone.errorCode()).isZero();
        assertThat(gone.endOffset()).isLessThanOrEqualTo(120);
    }

    private Map<Integer, String> answers(TreeMap<Integer, String> asked, int currentEpoch) throws IOException {
        TreeMap<Integer, String> answers = new TreeMap<>();
        for (int epoch : asked.keySet()) {
            answers.put(epoch, ask(epoch, currentEpoch));
        }
        return answers;
    }

    private void move(int times) {
        for (int i = 0; i < times; i++) {
            brokers.restart(brokers.owner(TOPIC));
        }
    }

    private String ask(int epoch, int currentEpoch) throws IOException {
        EpochEndOffset answer = answer(epoch, currentEpoch);
        return answer.errorCode() == 0
                ? answer.leaderEpoch() + " ends at " + answer.endOffset()
                : Errors.forCode(answer.errorCode()).name();
    }

    private EpochEndOffset answer(int epoch, int currentEpoch) throws IOException {
        OffsetForLeaderTopicCollection topics = new OffsetForLeaderTopicCollection();
        topics.add(new OffsetForLeaderTopic()
                .setTopic(TOPIC)
                .setPartitions(List.of(new OffsetForLeaderPartition()
                        .setPartition(0)
                        .setCurrentLeaderEpoch(currentEpoch)
                        .setLeaderEpoch(epoch))));
        try (RawClient client = new RawClient(brokers.port(brokers.owner(TOPIC)))) {
            OffsetsForLeaderEpochResponse response = client.call(
                    OffsetsForLeaderEpochRequest.Builder.forConsumer(topics).build((short) 4));
            return response.data().topics().find(TOPIC).partitions().get(0);
        }
    }
}
