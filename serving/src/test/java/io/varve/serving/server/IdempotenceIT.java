package io.varve.serving.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.net.RawClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.InitProducerIdRequestData;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.requests.InitProducerIdRequest;
import org.apache.kafka.common.requests.InitProducerIdResponse;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** C10.5 and C10.6 of the user reports, T3, T5: a producer's repeats, sequence by sequence, also right after everything was restarted. */
@Timeout(120)
final class IdempotenceIT {

    private static final String TOPIC = "t";
    private static final List<String> NOT_TAKEN = List.of("OUT_OF_ORDER_SEQUENCE_NUMBER", "DUPLICATE_SEQUENCE_NUMBER");

    private TwoBrokers brokers;
    private long producerId;
    private short epoch;

    @BeforeEach
    void start() throws Exception {
        brokers = new TwoBrokers();
        brokers.create(TOPIC, 1);
        try (RawClient client = new RawClient(brokers.port(1))) {
            InitProducerIdResponse answer =
                    client.call(new InitProducerIdRequest.Builder(new InitProducerIdRequestData()
                                    .setTransactionalId(null)
                                    .setTransactionTimeoutMs(1))
                            .build((short) 4));
            producerId = answer.data().producerId();
            epoch = answer.data().producerEpoch();
        }
    }

    @AfterEach
    void stop() {
        brokers.close();
    }

    @Test
    void repeatsAreAnsweredAsTheFirstTimeAndGapsRefusedAlsoAfterARestartOfEverything() throws Exception {
        for (int sequence = 0; sequence < 5; sequence++) {
            assertThat(send(sequence)).isEqualTo("at " + sequence);
        }
        repeatsAndGaps(0);
        brokers.restartEachNode();
        repeatsAndGaps(0);

        assertThat(send(5)).isEqualTo("at 5");
        assertThat(send(0)).as("older than the last five").isIn(NOT_TAKEN);
        repeatsAndGaps(1);
        brokers.restartEachNode();
        assertThat(send(0)).as("older than the last five").isIn(NOT_TAKEN);
        repeatsAndGaps(1);
        assertThat(send(6)).isEqualTo("at 6");
        assertThat(end()).isEqualTo(7);
    }

    /** Where the broker gives the time, a repeat's is that of the first. */
    @Test
    void aRepeatHasTheTimeThatTheFirstWasGiven() throws Exception {
        try (Admin admin = brokers.admin()) {
            admin.createTopics(List.of(new NewTopic("timed", 1, (short) 3)
                            .configs(Map.of("message.timestamp.type", "LogAppendTime"))))
                    .all()
                    .get();
        }
        long before = System.currentTimeMillis();
        long given = produce("timed", 0).logAppendTimeMs();
        assertThat(given).isBetween(before, System.currentTimeMillis());
        while (System.currentTimeMillis() <= given) {
            Thread.onSpinWait();
        }
        assertThat(produce("timed", 0).logAppendTimeMs()).isEqualTo(given);
        assertThat(produce("timed", 1).logAppendTimeMs()).isGreaterThan(given);
    }

    /** The five batches from that sequence on are the last ones. */
    private void repeatsAndGaps(int oldest) throws Exception {
        long end = end();
        for (int sequence = oldest; sequence < oldest + 5; sequence++) {
            assertThat(send(sequence)).as("a repeat of " + sequence).isEqualTo("at " + sequence);
        }
        assertThat(send(oldest + 7)).as("two are missing").isEqualTo("OUT_OF_ORDER_SEQUENCE_NUMBER");
        assertThat(end()).as("nothing was appended").isEqualTo(end);
    }

    private long end() throws Exception {
        TopicPartition partition = new TopicPartition(TOPIC, 0);
        try (Admin admin = brokers.admin()) {
            return admin.listOffsets(Map.of(partition, OffsetSpec.latest()))
                    .all()
                    .get()
                    .get(partition)
                    .offset();
        }
    }

    /** Sends one record; where it was appended, or the error. */
    private String send(int sequence) throws IOException {
        PartitionProduceResponse answer = produce(TOPIC, sequence);
        return answer.errorCode() == 0
                ? "at " + answer.baseOffset()
                : Errors.forCode(answer.errorCode()).name();
    }

    private PartitionProduceResponse produce(String topic, int sequence) throws IOException {
        byte[] value = ("v" + sequence).getBytes(StandardCharsets.UTF_8);
        MemoryRecords records = MemoryRecords.withIdempotentRecords(
                Compression.NONE, producerId, epoch, sequence, new SimpleRecord(value));
        ProduceRequestData data = new ProduceRequestData().setAcks((short) -1).setTimeoutMs(20_000);
        data.topicData()
                .add(new ProduceRequestData.TopicProduceData()
                        .setName(topic)
                        .setPartitionData(List.of(new ProduceRequestData.PartitionProduceData()
                                .setIndex(0)
                                .setRecords(records))));
        try (RawClient client = new RawClient(brokers.port(brokers.owner(topic)))) {
            ProduceResponse answer = client.call(new ProduceRequest(data, (short) 9));
            return answer.data()
                    .responses()
                    .iterator()
                    .next()
                    .partitionResponses()
                    .get(0);
        }
    }
}
