package io.varve.serving.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.varve.serving.log.PartitionLog.AppendOptions;
import io.varve.serving.log.PartitionLog.Batch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** C5.4 and C5.5, P20 of the user reports: many readers at once. */
@Timeout(120)
final class FetchLoadIT {

    private static final int CAP_BYTES = 8 << 20;
    private static final int FETCH_MEMORY_BYTES = 64 << 20;

    /** Below this no answer is cut, however little memory there is. */
    private static final int FLOOR_BYTES = 256 << 10;

    private static final int BATCH_BYTES = 64 << 10;

    private TestBroker broker;
    private final List<RawClient> clients = new ArrayList<>();

    @BeforeEach
    void start() {
        broker = new TestBroker();
        broker.metadata.createTopic("t", 1, 3, Map.of()).join();
    }

    @AfterEach
    void stop() throws IOException {
        for (RawClient client : clients) {
            client.close();
        }
        broker.close();
    }

    /** 200 connections ask for two gigabytes each, and read nothing: what is on its way to them stays in its budget. */
    @Test
    void whateverTwoHundredReadersAskForTheirAnswersStayInTheBudget() throws IOException {
        for (int i = 0; i < 16 << 4; i++) {
            append(BATCH_BYTES);
        }
        List<RequestHeader> asked = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            asked.add(connect().send(fetch(Integer.MAX_VALUE, 0)));
        }
        double mostBytes = 0;
        long read = 0;
        for (int i = 0; i < 200; i++) {
            mostBytes = Math.max(mostBytes, memory());
            FetchResponse answer = (FetchResponse) clients.get(i).receive(asked.get(i));
            int bytes = FetchResponse.recordsSize(
                    answer.data().responses().get(0).partitions().get(0));
            assertThat(bytes).isBetween(1, CAP_BYTES);
            read += bytes;
        }
        assertThat(mostBytes).isPositive().isLessThanOrEqualTo(FETCH_MEMORY_BYTES + 200.0 * FLOOR_BYTES);
        assertThat(read).isGreaterThan(200L * BATCH_BYTES);
        for (int i = 0; i < 1_000 && memory() > 0; i++) {
            connectAndAskForVersions();
        }
        assertThat(memory()).as("what was sent is given back").isZero();
    }

    /** 100 idle readers cost one request for each of their waits, and one write answers them all at once. */
    @Test
    void aHundredIdleReadersWaitTheirTimeAndOneWriteWakesThemAll() throws IOException {
        List<RequestHeader> asked = new ArrayList<>();
        long startNs = System.nanoTime();
        for (int i = 0; i < 100; i++) {
            asked.add(connect().send(fetch(1 << 20, 300)));
        }
        for (int i = 0; i < 100; i++) {
            FetchResponse idle = (FetchResponse) clients.get(i).receive(asked.get(i));
            assertThat(FetchResponse.recordsSize(
                            idle.data().responses().get(0).partitions().get(0)))
                    .isZero();
        }
        assertThat(millisSince(startNs)).isBetween(290L, 10_000L);

        for (int i = 0; i < 100; i++) {
            asked.set(i, clients.get(i).send(fetch(1 << 20, 60_000)));
        }
        long writtenNs = System.nanoTime();
        append(100);
        for (int i = 0; i < 100; i++) {
            FetchResponse woken = (FetchResponse) clients.get(i).receive(asked.get(i));
            assertThat(FetchResponse.recordsSize(
                            woken.data().responses().get(0).partitions().get(0)))
                    .isPositive();
        }
        assertThat(millisSince(writtenNs)).as("far from the end of their waits").isLessThan(10_000);
    }

    private RawClient connect() throws IOException {
        RawClient client = new RawClient(broker.port());
        clients.add(client);
        return client;
    }

    /** A round trip to the broker. */
    private void connectAndAskForVersions() throws IOException {
        try (RawClient client = new RawClient(broker.port())) {
            client.sendFrame(RawClient.frame(ApiKeys.API_VERSIONS, 0, 1, false, new byte[0]));
            client.receive();
        }
    }

    private double memory() {
        return broker.meters.get("varve.broker.fetch.memory.bytes").gauge().value();
    }

    private void append(int valueBytes) {
        byte[] value = new byte[valueBytes];
        MemoryRecords records = MemoryRecords.withRecords(Compression.NONE, new SimpleRecord(0, null, value));
        broker.logs
                .log(broker.partition("t", 0))
                .append(
                        List.of(new Batch(Unpooled.copiedBuffer(records.buffer()), 1, 0, -1, (short) -1, -1, false)),
                        AppendOptions.CLIENT)
                .join();
    }

    private static FetchRequest fetch(int maxBytes, int waitMs) {
        FetchRequestData data = new FetchRequestData()
                .setReplicaId(-1)
                .setMaxWaitMs(waitMs)
                .setMinBytes(1)
                .setMaxBytes(maxBytes)
                .setSessionEpoch(-1);
        FetchRequestData.FetchTopic topic = new FetchRequestData.FetchTopic().setTopic("t");
        topic.partitions()
                .add(new FetchRequestData.FetchPartition().setPartition(0).setPartitionMaxBytes(maxBytes));
        return new FetchRequest(data.setTopics(List.of(topic)), (short) 11);
    }

    private static long millisSince(long startNs) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
    }
}
