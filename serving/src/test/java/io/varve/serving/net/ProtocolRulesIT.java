package io.varve.serving.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.protocol.runtime.SystemClock;
import io.varve.serving.core.config.NamedConfigs;
import io.varve.serving.log.PartitionLog.Offsets;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.ApiVersionsRequestData;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.GetTelemetrySubscriptionsRequestData;
import org.apache.kafka.common.message.GetTelemetrySubscriptionsResponseData;
import org.apache.kafka.common.message.ListOffsetsRequestData;
import org.apache.kafka.common.message.ListOffsetsResponseData;
import org.apache.kafka.common.message.MetadataRequestData;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import org.apache.kafka.common.message.PushTelemetryRequestData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.requests.ApiVersionsRequest;
import org.apache.kafka.common.requests.ApiVersionsResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.GetTelemetrySubscriptionsRequest;
import org.apache.kafka.common.requests.GetTelemetrySubscriptionsResponse;
import org.apache.kafka.common.requests.ListOffsetsRequest;
import org.apache.kafka.common.requests.ListOffsetsResponse;
import org.apache.kafka.common.requests.MetadataRequest;
import org.apache.kafka.common.requests.MetadataResponse;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse;
import org.apache.kafka.common.requests.PushTelemetryRequest;
import org.apache.kafka.common.requests.PushTelemetryResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What clients do to a broker on the wire, by the numbers of the user reports. */
@Timeout(60)
final class ProtocolRulesIT {

    private TestBroker broker;
    private RawClient client;

    @BeforeEach
    void start() throws IOException {
        broker = new TestBroker();
        client = new RawClient(broker.port());
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        broker.close();
    }

    // ---- C1, P2, P3: ApiVersions

    @ParameterizedTest
    @ValueSource(ints = {6, 7, 10, 99, 32767})
    void versionsFromTheFutureAreAnsweredInVersionZeroAndTheConnectionStays(int version) throws IOException {
        client.sendFrame(RawClient.frame(ApiKeys.API_VERSIONS, version, 7, true, new byte[] {1, 2, 3}));
        ByteBuffer frame = client.receive();
        ByteBufferAccessor readable = new ByteBufferAccessor(frame);
        assertThat(new ResponseHeaderData(readable, (short) 0).correlationId()).isEqualTo(7);
        ApiVersionsResponseData answer = new ApiVersionsResponseData(readable, (short) 0);
        assertThat(frame.hasRemaining()).isFalse();
        assertThat(answer.errorCode()).isEqualTo(Errors.UNSUPPORTED_VERSION.code());
        assertThat(answer.apiKeys().find(ApiKeys.API_VERSIONS.id)).satisfies(range -> {
            assertThat(range.minVersion()).isZero();
            assertThat(range.maxVersion()).isEqualTo(ApiKeys.API_VERSIONS.latestVersion());
        });
        assertThat(versions((short) 3).data().errorCode()).isZero();
    }

    @Test
    void everyVersionOfApiVersionsListsAsManyApis() throws IOException {
        int count = versions((short) 0).data().apiKeys().size();
        for (short version = 1; version <= ApiKeys.API_VERSIONS.latestVersion(); version++) {
            assertThat(versions(version).data().apiKeys()).hasSize(count);
        }
        assertThat(versions((short) 3).data().apiKeys().find(ApiKeys.PRODUCE.id).minVersion())
                .isZero();
    }

    @Test
    void anEmptySoftwareNameIsRefusedAndTheConnectionStays() throws IOException {
        ApiVersionsResponse refused = client.call(new ApiVersionsRequest(new ApiVersionsRequestData(), (short) 3));
        assertThat(refused.data().errorCode()).isEqualTo(Errors.INVALID_REQUEST.code());
        assertThat(versions((short) 3).data().errorCode()).isZero();
    }

    /** KIP-1242: who believes to speak with another cluster is sent to bootstrap again. */
    @Test
    void aClientOfAnotherClusterIsToldToBootstrapAgain() throws IOException {
        ApiVersionsRequestData data = new ApiVersionsRequestData()
                .setClientSoftwareName("t")
                .setClientSoftwareVersion("1")
                .setClusterId("another")
                .setNodeId(1);
        ApiVersionsResponse answer = client.call(new ApiVersionsRequest(data, (short) 5));
        assertThat(answer.data().errorCode()).isEqualTo(Errors.REBOOTSTRAP_REQUIRED.code());
    }

    /** librdkafka does so when it asks for all topics after one was deleted. */
    @Test
    void bytesBehindARequestArePassedOver() throws IOException {
        MetadataRequest request = new MetadataRequest(new MetadataRequestData().setTopics(null), (short) 9);
        RequestHeader header = new RequestHeader(ApiKeys.METADATA, (short) 9, "raw", 1);
        ByteBuffer exact = request.serializeWithHeader(header);
        ByteBuffer longer = ByteBuffer.allocate(exact.remaining() + 3)
                .put(exact)
                .put(new byte[3])
                .flip();
        client.sendFrame(longer);
        assertThat(((MetadataResponse) client.receive(header)).brokers()).isNotEmpty();
    }

    // ---- C2: the floor of Produce

    @Test
    void anOldProduceClosesItsConnectionAndLeavesTheBrokerWell() throws IOException {
        client.sendFrame(RawClient.frame(ApiKeys.PRODUCE, 2, 1, false, new byte[20]));
        assertThat(client.isClosedByPeer()).isTrue();
        try (RawClient other = new RawClient(broker.port())) {
            assertThat(other.<ApiVersionsResponse>call(new ApiVersionsRequest.Builder().build((short) 0))
                            .data()
                            .errorCode())
                    .isZero();
        }
    }

    @Test
    void zstdIsTakenFromProduceSevenOn() throws IOException {
        topic("t", 1, Map.of());
        MemoryRecords zstd = MemoryRecords.withRecords(Compression.zstd().build(), record("v"));
        assertThat(produce((short) 3, "t", Map.of(0, zstd)).get(0).errorCode())
                .isEqualTo(Errors.UNSUPPORTED_COMPRESSION_TYPE.code());
        assertThat(produce((short) 7, "t", Map.of(0, zstd)).get(0).errorCode()).isZero();
    }

    // ---- P24: a corrupt batch stays alone

    @Test
    void aCorruptBatchFailsItsPartitionAndNoOther() throws IOException {
        topic("t", 3, Map.of());
        MemoryRecords bad = MemoryRecords.withRecords(Compression.NONE, record("will be damaged"));
        bad.buffer().put(bad.sizeInBytes() - 3, (byte) 0x55);
        MemoryRecords good = MemoryRecords.withRecords(Compression.NONE, record("good"));
        List<PartitionProduceResponse> results = produce((short) 9, "t", Map.of(0, good, 1, bad, 2, good));
        assertThat(results.get(0).errorCode()).isZero();
        assertThat(results.get(1).errorCode()).isEqualTo(Errors.CORRUPT_MESSAGE.code());
        assertThat(results.get(2).errorCode()).isZero();
        assertThat(offsets("t", 1).end()).isZero();
    }

    /** P23: only the newest record format is taken; the connection stays. */
    @Test
    void anOldRecordFormatFailsItsPartition() throws IOException {
        topic("t", 2, Map.of());
        ByteBuffer old = ByteBuffer.allocate(64);
        old.putLong(0).putInt(52).putInt(0).put((byte) 1);
        old.position(64).flip();
        List<PartitionProduceResponse> results = produce(
                (short) 9,
                "t",
                Map.of(
                        0, MemoryRecords.readableRecords(old),
                        1, MemoryRecords.withRecords(Compression.NONE, record("good"))));
        assertThat(results.get(0).errorCode()).isNotZero();
        assertThat(results.get(1).errorCode()).isZero();
    }

    @Test
    void aProduceWithoutAnswerThatFailsClosesItsConnection() throws IOException {
        ProduceRequest request = produceRequest(
                (short) 9, (short) 0, "missing", Map.of(0, MemoryRecords.withRecords(Compression.NONE, record("v"))));
        client.send(request);
        assertThat(client.isClosedByPeer()).isTrue();
    }

    @Test
    void aProduceWithoutAnswerIsWrittenAndTheNextAnswerIsTheNextRequests() throws IOException {
        topic("t", 1, Map.of());
        client.send(produceRequest(
                (short) 9, (short) 0, "t", Map.of(0, MemoryRecords.withRecords(Compression.NONE, record("v")))));
        assertThat(versions((short) 0).data().errorCode()).isZero();
        assertThat(offsets("t", 0).end()).isEqualTo(1);
    }

    // ---- pipelining

    @Test
    void theNextProduceIsAppendedWhileThePreviousWaitsAndAnswersKeepTheirOrder() throws IOException {
        topic("t", 1, Map.of());
        broker.logs.log(broker.partition("t", 0)).holdAcks();
        List<RequestHeader> sent = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            sent.add(client.send(produceRequest(
                    (short) 9,
                    (short) -1,
                    "t",
                    Map.of(0, MemoryRecords.withRecords(Compression.NONE, record("v" + i))))));
        }
        Await.until(() -> offsets("t", 0).end() == 20);
        broker.logs.log(broker.partition("t", 0)).releaseAcks();
        for (int i = 0; i < 20; i++) {
            ProduceResponse answer = (ProduceResponse) client.receive(sent.get(i));
            assertThat(answer.data()
                            .responses()
                            .iterator()
                            .next()
                            .partitionResponses()
                            .get(0)
                            .baseOffset())
                    .isEqualTo(i);
        }
    }

    /** A takeover holds what comes for the partition, in its order, instead of sending clients away. */
    @Test
    void writesThatComeDuringATakeoverAreAppendedInTheirOrderWhenItIsDone() throws IOException {
        topic("t", 1, Map.of());
        var partition = broker.partition("t", 0);
        broker.logs.lose(partition);
        broker.logs.takeOver(partition, 7);
        List<RequestHeader> sent = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            sent.add(client.send(produceRequest(
                    (short) 9,
                    (short) -1,
                    "t",
                    Map.of(0, MemoryRecords.withRecords(Compression.NONE, record("v" + i))))));
        }
        sent.add(client.send(new ApiVersionsRequest.Builder().build((short) 0)));
        broker.logs.serve(partition);
        for (int i = 0; i < 10; i++) {
            assertThat(results((ProduceResponse) client.receive(sent.get(i)))
                            .get(0)
                            .baseOffset())
                    .isEqualTo(i);
        }
        client.receive(sent.get(10));
    }

    @Test
    void aTakeoverThatDoesNotEndSendsTheClientToLookAgain() throws IOException {
        topic("t", 1, Map.of());
        var partition = broker.partition("t", 0);
        broker.logs.lose(partition);
        broker.logs.takeOver(partition, 7);
        long start = System.nanoTime();
        assertThat(produce((short) 9, "t", Map.of(0, MemoryRecords.withRecords(Compression.NONE, record("v"))))
                        .get(0)
                        .errorCode())
                .isEqualTo(Errors.NOT_LEADER_OR_FOLLOWER.code());
        // The test broker waits two seconds for a takeover.
        assertThat(millisSince(start)).isBetween(1_900L, 8_000L);
    }

    /** P3 of the user reports: even who is one too many is told the versions. */
    @Test
    void aConnectionOverTheLimitMayAskForTheVersionsAndNothingElse() throws IOException {
        ApiVersionsRequest versions = new ApiVersionsRequest.Builder().build((short) 0);
        MetadataRequest metadata = new MetadataRequest(new MetadataRequestData().setTopics(null), (short) 9);
        try (TestBroker small = new TestBroker(
                        new InMemoryMetadata(SystemClock.INSTANCE, 1).withBookies(3),
                        1,
                        TestBroker.options(1, 1 << 20));
                RawClient first = new RawClient(small.port())) {
            assertThat(first.<ApiVersionsResponse>call(versions).data().errorCode())
                    .isZero();
            try (RawClient second = new RawClient(small.port())) {
                assertThat(second.<ApiVersionsResponse>call(versions).data().errorCode())
                        .isZero();
                second.send(metadata);
                assertThat(second.isClosedByPeer()).isTrue();
            }
            assertThat(first.<MetadataResponse>call(metadata).data().brokers()).hasSize(1);
        }
    }

    /** P20: however much comes at once, requests hold no more memory than they may, and all of them are answered. */
    @Test
    void requestsWaitForMemoryAndAreAllAnswered() throws Exception {
        try (TestBroker small = new TestBroker(
                new InMemoryMetadata(SystemClock.INSTANCE, 1).withBookies(3), 1, TestBroker.options(100, 1 << 20))) {
            small.metadata.createTopic("t", 1, 3, Map.of()).join();
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                all.add(CompletableFuture.runAsync(() -> {
                    try (RawClient one = new RawClient(small.port())) {
                        for (int n = 0; n < 10; n++) {
                            MemoryRecords records =
                                    MemoryRecords.withRecords(Compression.NONE, new SimpleRecord(new byte[700_000]));
                            ProduceResponse answer =
                                    one.call(produceRequest((short) 9, (short) -1, "t", Map.of(0, records)));
                            assertThat(results(answer).get(0).errorCode()).isZero();
                        }
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                }));
            }
            for (CompletableFuture<Void> one : all) {
                one.get(30, TimeUnit.SECONDS);
            }
            assertThat(small.logs.log(small.partition("t", 0)).offsets().end()).isEqualTo(100);
        }
    }

    @Test
    void aDrainAnswersWhatWasTakenAndThenCloses() throws Exception {
        topic("t", 1, Map.of());
        var log = broker.logs.log(broker.partition("t", 0));
        log.holdAcks();
        RequestHeader sent = client.send(produceRequest(
                (short) 9, (short) -1, "t", Map.of(0, MemoryRecords.withRecords(Compression.NONE, record("v")))));
        Await.until(() -> log.offsets().end() == 1);
        CompletableFuture<Void> drained = CompletableFuture.runAsync(() -> broker.server.drain(10_000));
        broker.services.deadlines().after(200, log::releaseAcks);
        assertThat(results((ProduceResponse) client.receive(sent)).get(0).errorCode())
                .isZero();
        assertThat(client.isClosedByPeer()).isTrue();
        drained.get(10, TimeUnit.SECONDS);
    }

    @Test
    void aTimeOutOfAProduceIsAnsweredAsSuch() throws IOException {
        topic("t", 1, Map.of());
        broker.logs.log(broker.partition("t", 0)).holdAcks();
        ProduceRequest request = produceRequest(
                (short) 9, (short) -1, "t", Map.of(0, MemoryRecords.withRecords(Compression.NONE, record("v"))));
        request.data().setTimeoutMs(50);
        ProduceResponse answer = client.call(request);
        assertThat(results(answer).get(0).errorCode()).isEqualTo(Errors.REQUEST_TIMED_OUT.code());
    }

    // ---- KIP-714: telemetry without a receiver

    @Test
    void aClientIsToldWhatToReportAndHeldToItAndNobodyIsToldThatItCanBe() throws IOException {
        ApiVersionsResponse versions = client.call(new ApiVersionsRequest.Builder().build((short) 3));
        assertThat(versions.apiVersion(ApiKeys.GET_TELEMETRY_SUBSCRIPTIONS.id)).isNull();
        broker.metadata
                .alterBrokerConfigs(
                        Optional.empty(),
                        Map.of(
                                NamedConfigs.CLIENT_METRICS.clusterKey("all", "metrics"), Optional.of("org.apache."),
                                NamedConfigs.CLIENT_METRICS.clusterKey("all", "interval.ms"), Optional.of("60000")))
                .join();
        GetTelemetrySubscriptionsResponseData told = subscription(Uuid.ZERO_UUID);
        assertThat(told.errorCode()).isZero();
        assertThat(told.requestedMetrics()).containsExactly("org.apache.");
        assertThat(told.pushIntervalMs()).isEqualTo(60_000);
        Uuid id = told.clientInstanceId();
        assertThat(id).isNotEqualTo(Uuid.ZERO_UUID);

        assertThat(subscription(id).errorCode()).isEqualTo(Errors.THROTTLING_QUOTA_EXCEEDED.code());
        assertThat(push(id, told.subscriptionId() + 1, false)).isEqualTo(Errors.UNKNOWN_SUBSCRIPTION_ID);
        assertThat(push(id, told.subscriptionId(), false)).isEqualTo(Errors.THROTTLING_QUOTA_EXCEEDED);
        assertThat(push(id, told.subscriptionId(), true)).isEqualTo(Errors.NONE);
        assertThat(push(id, told.subscriptionId(), true)).isEqualTo(Errors.INVALID_REQUEST);
    }

    private GetTelemetrySubscriptionsResponseData subscription(Uuid id) throws IOException {
        GetTelemetrySubscriptionsResponse answer = client.call(new GetTelemetrySubscriptionsRequest.Builder(
                        new GetTelemetrySubscriptionsRequestData().setClientInstanceId(id), true)
                .build((short) 0));
        return answer.data();
    }

    private Errors push(Uuid id, int subscription, boolean last) throws IOException {
        PushTelemetryResponse answer = client.call(new PushTelemetryRequest.Builder(
                        new PushTelemetryRequestData()
                                .setClientInstanceId(id)
                                .setSubscriptionId(subscription)
                                .setTerminating(last)
                                .setMetrics(ByteBuffer.wrap(new byte[] {1})),
                        true)
                .build((short) 0));
        return Errors.forCode(answer.data().errorCode());
    }

    // ---- C5, P18, P19, P20: Fetch

    @Test
    void theFirstPartitionWithRecordsGivesOneBatchHoweverLarge() throws IOException {
        topic("t", 2, Map.of("max.message.bytes", "10000000"));
        append("t", 0, 4 << 20);
        append("t", 0, 1 << 10);
        append("t", 0, 4 << 20);
        append("t", 1, 1 << 10);

        FetchResponse first = fetch(1, 0, 1, List.of(at(0, 0, 1), at(1, 0, 1)));
        assertThat(batches(first, 0)).hasSize(1);
        assertThat(sizeOf(first, 0)).isGreaterThan(4 << 20);
        assertThat(batches(first, 1)).isEmpty();

        FetchResponse turned = fetch(1, 0, 1, List.of(at(1, 0, 1), at(0, 0, 1)));
        assertThat(batches(turned, 1)).hasSize(1);

        List<Long> seen = new ArrayList<>();
        for (long next = 0; next < 3; ) {
            FetchResponse step = fetch(1, 0, 1, List.of(at(0, next, 1)));
            assertThat(batches(step, 0)).hasSize(1);
            next = batches(step, 0).get(0).nextOffset();
            seen.add(next);
        }
        assertThat(seen).containsExactly(1L, 2L, 3L);
    }

    /** C5.4, P20: whatever a client asks for, the server has a cap of its own; here 8 MiB. */
    @Test
    void noAnswerIsLargerThanTheServersCap() throws IOException {
        topic("t", 1, Map.of("max.message.bytes", "10000000"));
        for (int i = 0; i < 20; i++) {
            append("t", 0, 1 << 20);
        }
        FetchResponse answer = fetch(Integer.MAX_VALUE, 0, 1, List.of(at(0, 0, Integer.MAX_VALUE)));
        assertThat(sizeOf(answer, 0)).isBetween(6 << 20, 8 << 20);
    }

    @Test
    void anIdleFetchWaitsItsTimeAndAWriteEndsTheWait() throws Exception {
        topic("t", 1, Map.of());
        long start = System.nanoTime();
        FetchResponse idle = fetch(1 << 20, 300, 1, List.of(at(0, 0, 1 << 20)));
        assertThat(batches(idle, 0)).isEmpty();
        assertThat(millisSince(start)).isBetween(290L, 2_000L);

        RequestHeader waiting = client.send(fetchRequest(1 << 20, 20_000, 1, List.of(at(0, 0, 1 << 20))));
        long written = System.nanoTime();
        CompletableFuture.runAsync(() -> appendQuietly("t", 0, 100)).get(10, TimeUnit.SECONDS);
        FetchResponse woken = (FetchResponse) client.receive(waiting);
        assertThat(batches(woken, 0)).hasSize(1);
        assertThat(millisSince(written)).isLessThan(5_000);
    }

    @Test
    void aFetchWithLessThanItsMinimumGivesWhatThereIsWhenTheTimeIsOver() throws IOException {
        topic("t", 1, Map.of());
        append("t", 0, 1 << 10);
        long start = System.nanoTime();
        FetchResponse answer = fetch(4 << 20, 400, 1 << 20, List.of(at(0, 0, 4 << 20)));
        assertThat(batches(answer, 0)).hasSize(1);
        assertThat(millisSince(start)).isBetween(390L, 2_000L);
    }

    @Test
    void bytesThatAddUpToTheMinimumEndTheWait() throws Exception {
        topic("t", 2, Map.of());
        append("t", 0, 600);
        RequestHeader waiting =
                client.send(fetchRequest(1 << 20, 20_000, 1_200, List.of(at(0, 0, 1 << 20), at(1, 0, 1 << 20))));
        append("t", 1, 300);
        append("t", 1, 600);
        FetchResponse answer = (FetchResponse) client.receive(waiting);
        assertThat(sizeOf(answer, 0) + sizeOf(answer, 1)).isGreaterThanOrEqualTo(1_200);
    }

    @Test
    void anOffsetOutOfRangeIsAnsweredWithTheTrueBounds() throws IOException {
        topic("t", 1, Map.of());
        append("t", 0, 100);
        append("t", 0, 100);
        FetchResponse answer = fetch(1 << 20, 5_000, 1, List.of(at(0, 77, 1 << 20)));
        FetchResponseData.PartitionData partition = partition(answer, 0);
        assertThat(partition.errorCode()).isEqualTo(Errors.OFFSET_OUT_OF_RANGE.code());
        assertThat(partition.highWatermark()).isEqualTo(2);
        assertThat(partition.logStartOffset()).isZero();
    }

    /** S13: a read slower than the client's wait is not thrown away. */
    @Test
    void aReadThatOutlastsTheWaitIsStillAnswered() throws IOException {
        topic("t", 1, Map.of());
        append("t", 0, 100);
        var log = broker.logs.log(broker.partition("t", 0));
        log.holdReads();
        RequestHeader waiting = client.send(fetchRequest(1 << 20, 1, 1, List.of(at(0, 0, 1 << 20))));
        broker.services.deadlines().after(200, log::releaseReads);
        FetchResponse answer = (FetchResponse) client.receive(waiting);
        assertThat(batches(answer, 0)).hasSize(1);
    }

    // ---- C4: ListOffsets

    @Test
    void offsetsByTimeAreThoseOfTheFirstRecordAtOrAfterIt() throws IOException {
        topic("t", 1, Map.of());
        for (int stamp = 2; stamp <= 8; stamp += 2) {
            appendAt("t", stamp);
        }
        assertThat(List.of(1, 2, 3, 4, 5, 7, 8).stream().map(this::offsetAtQuietly))
                .containsExactly("0@2", "0@2", "1@4", "1@4", "2@6", "3@8", "3@8");
        assertThat(offsetAt((short) 7, 9)).isEqualTo("-1@-1");
        assertThat(offsetAt((short) 7, -3)).isEqualTo("3@8");
        assertThat(offsetAt((short) 6, -3)).isEqualTo("UNSUPPORTED_VERSION");
        assertThat(offsetAt((short) 7, -4)).isEqualTo("UNSUPPORTED_VERSION");
        assertThat(offsetAt((short) 8, -4)).isEqualTo("0@-1");
        assertThat(offsetAt((short) 8, -5)).isEqualTo("UNSUPPORTED_VERSION");
        assertThat(offsetAt((short) 9, -5)).isEqualTo("-1@-1");
    }

    // ---- Metadata of every age

    @ParameterizedTest
    @ValueSource(shorts = {0, 1, 4, 9, 13})
    void metadataOfAllTopicsIsAskedForInTheWayOfItsVersion(short version) throws IOException {
        topic("a", 1, Map.of());
        topic("b", 2, Map.of());
        MetadataRequestData all = new MetadataRequestData().setTopics(version == 0 ? List.of() : null);
        MetadataResponse answer = client.call(new MetadataRequest(all, version));
        assertThat(answer.data().topics()).extracting(topic -> topic.name()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void aTopicIsFoundByItsId() throws IOException {
        topic("t", 1, Map.of());
        Uuid id = uuid("t");
        MetadataRequestData known = new MetadataRequestData()
                .setTopics(List.of(new MetadataRequestData.MetadataRequestTopic()
                        .setName(null)
                        .setTopicId(id)));
        MetadataResponse answer = client.call(new MetadataRequest(known, (short) 13));
        assertThat(answer.data().topics()).singleElement().satisfies(topic -> {
            assertThat(topic.name()).isEqualTo("t");
            assertThat(topic.errorCode()).isZero();
        });
        MetadataRequestData unknown = new MetadataRequestData()
                .setTopics(List.of(new MetadataRequestData.MetadataRequestTopic()
                        .setName(null)
                        .setTopicId(Uuid.randomUuid())));
        MetadataResponse none = client.call(new MetadataRequest(unknown, (short) 13));
        assertThat(none.data().topics())
                .singleElement()
                .satisfies(topic -> assertThat(topic.errorCode()).isEqualTo(Errors.UNKNOWN_TOPIC_ID.code()));
    }

    // ---- what is no request

    @Test
    void aLengthOverTheLimitClosesTheConnectionBeforeAnythingIsAllocated() throws IOException {
        client.sendRaw(
                ByteBuffer.allocate(8).putInt(Integer.MAX_VALUE).putInt(0).array());
        assertThat(client.isClosedByPeer()).isTrue();
    }

    /** The test broker allows one second. */
    @Test
    void aRequestThatStopsHalfWayLosesItsConnectionAndItsMemory() throws IOException {
        client.sendRaw(ByteBuffer.allocate(8).putInt(1 << 20).putInt(0).array());
        Await.until(() -> memoryInUse() > 0);
        assertThat(client.isClosedByPeer()).isTrue();
        Await.until(() -> memoryInUse() == 0);
    }

    private double memoryInUse() {
        return broker.meters.get("varve.broker.request.memory.bytes").gauge().value();
    }

    @Test
    void whatIsNoKafkaAtAllClosesTheConnection() throws IOException {
        client.sendRaw("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        assertThat(client.isClosedByPeer()).isTrue();
    }

    @Test
    void aBodyThatEndsEarlyClosesTheConnection() throws IOException {
        client.sendFrame(RawClient.frame(ApiKeys.METADATA, 9, 1, true, new byte[] {50}));
        assertThat(client.isClosedByPeer()).isTrue();
    }

    // ---- helpers

    private record At(int partition, long offset, int bytesMax) {}

    private static At at(int partition, long offset, int bytesMax) {
        return new At(partition, offset, bytesMax);
    }

    private ApiVersionsResponse versions(short version) throws IOException {
        return client.call(new ApiVersionsRequest(
                new ApiVersionsRequestData().setClientSoftwareName("t").setClientSoftwareVersion("1"), version));
    }

    private void topic(String name, int partitions, Map<String, String> configs) {
        broker.metadata.createTopic(name, partitions, 3, configs).join();
    }

    private Uuid uuid(String topic) {
        var id = broker.cluster.view().topic(topic).orElseThrow().id();
        return new Uuid(id.high(), id.low());
    }

    private Offsets offsets(String topic, int partition) {
        return broker.logs.log(broker.partition(topic, partition)).offsets();
    }

    private static SimpleRecord record(String value) {
        return new SimpleRecord(value.getBytes(StandardCharsets.UTF_8));
    }

    private void append(String topic, int partition, int bytes) throws IOException {
        try (RawClient producer = new RawClient(broker.port())) {
            MemoryRecords records = MemoryRecords.withRecords(Compression.NONE, new SimpleRecord(new byte[bytes]));
            ProduceResponse answer =
                    producer.call(produceRequest((short) 9, (short) -1, topic, Map.of(partition, records)));
            assertThat(results(answer).get(0).errorCode()).isZero();
        }
    }

    private void appendQuietly(String topic, int partition, int bytes) {
        try {
            append(topic, partition, bytes);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private void appendAt(String topic, long timestampMs) throws IOException {
        MemoryRecords records =
                MemoryRecords.withRecords(Compression.NONE, new SimpleRecord(timestampMs, new byte[] {1}));
        assertThat(produce((short) 9, topic, Map.of(0, records)).get(0).errorCode())
                .isZero();
    }

    private List<PartitionProduceResponse> produce(short version, String topic, Map<Integer, MemoryRecords> records)
            throws IOException {
        return results(client.call(produceRequest(version, (short) -1, topic, records)));
    }

    private static List<PartitionProduceResponse> results(ProduceResponse answer) {
        return answer.data().responses().iterator().next().partitionResponses();
    }

    private static ProduceRequest produceRequest(
            short version, short acks, String topic, Map<Integer, MemoryRecords> records) {
        ProduceRequestData.TopicProduceData data = new ProduceRequestData.TopicProduceData().setName(topic);
        records.keySet().stream()
                .sorted()
                .forEach(partition -> data.partitionData()
                        .add(new ProduceRequestData.PartitionProduceData()
                                .setIndex(partition)
                                .setRecords(records.get(partition))));
        ProduceRequestData request = new ProduceRequestData().setAcks(acks).setTimeoutMs(20_000);
        request.topicData().add(data);
        return new ProduceRequest(request, version);
    }

    private FetchResponse fetch(int maxBytes, int waitMs, int minBytes, List<At> from) throws IOException {
        return client.call(fetchRequest(maxBytes, waitMs, minBytes, from));
    }

    private static FetchRequest fetchRequest(int maxBytes, int waitMs, int minBytes, List<At> from) {
        FetchRequestData data = new FetchRequestData()
                .setReplicaId(-1)
                .setMaxWaitMs(waitMs)
                .setMinBytes(minBytes)
                .setMaxBytes(maxBytes)
                .setSessionEpoch(-1);
        FetchRequestData.FetchTopic topic = new FetchRequestData.FetchTopic().setTopic("t");
        for (At at : from) {
            topic.partitions()
                    .add(new FetchRequestData.FetchPartition()
                            .setPartition(at.partition)
                            .setFetchOffset(at.offset)
                            .setPartitionMaxBytes(at.bytesMax));
        }
        data.setTopics(List.of(topic));
        return new FetchRequest(data, (short) 11);
    }

    private static FetchResponseData.PartitionData partition(FetchResponse answer, int partition) {
        return answer.data().responses().get(0).partitions().stream()
                .filter(data -> data.partitionIndex() == partition)
                .findFirst()
                .orElseThrow();
    }

    private static List<RecordBatch> batches(FetchResponse answer, int partition) {
        Iterable<? extends RecordBatch> batches =
                FetchResponse.recordsOrFail(partition(answer, partition)).batches();
        return StreamSupport.stream(batches.spliterator(), false)
                .map(batch -> (RecordBatch) batch)
                .toList();
    }

    private static int sizeOf(FetchResponse answer, int partition) {
        return FetchResponse.recordsSize(partition(answer, partition));
    }

    private String offsetAtQuietly(int timestampMs) {
        try {
            return offsetAt((short) 7, timestampMs);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private String offsetAt(short version, long timestampMs) throws IOException {
        ListOffsetsRequestData data = new ListOffsetsRequestData()
                .setReplicaId(-1)
                .setTopics(List.of(new ListOffsetsRequestData.ListOffsetsTopic()
                        .setName("t")
                        .setPartitions(List.of(new ListOffsetsRequestData.ListOffsetsPartition()
                                .setPartitionIndex(0)
                                .setCurrentLeaderEpoch(-1)
                                .setTimestamp(timestampMs)))));
        ListOffsetsResponse answer =
                client.call(ListOffsetsRequest.parse(new ByteBufferAccessor(bytes(data, version)), version));
        ListOffsetsResponseData.ListOffsetsPartitionResponse partition =
                answer.topics().get(0).partitions().get(0);
        return partition.errorCode() != 0
                ? Errors.forCode(partition.errorCode()).name()
                : partition.offset() + "@" + partition.timestamp();
    }

    private static ByteBuffer bytes(ListOffsetsRequestData data, short version) {
        var cache = new org.apache.kafka.common.protocol.ObjectSerializationCache();
        ByteBufferAccessor to = new ByteBufferAccessor(ByteBuffer.allocate(data.size(cache, version)));
        data.write(to, cache, version);
        to.flip();
        return to.buffer();
    }

    private static long millisSince(long startNs) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
    }
}
