package io.varve.serving.kafka.group;

import static io.varve.serving.kafka.Eventually.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.varve.base.PartitionId;
import io.varve.metadata.model.InternalTopics;
import io.varve.serving.kafka.FakeMetadata;
import io.varve.serving.log.InMemoryPartitionLog;
import io.varve.serving.log.InMemoryPartitionLogs;
import io.varve.serving.log.PartitionLog;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordHelpers;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.OffsetAndMetadata;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** S22: {@code __consumer_offsets} is as long as what lives in it, and loads as fast. */
class OffsetsStayBoundedTest {

    private static final int GROUPS = 1_000;
    /** Of a commit, with its group's name and its topic's. */
    private static final int COMMIT_BYTES_MAX = 100;

    private final FakeMetadata metadata = new FakeMetadata();
    private final InMemoryPartitionLogs logs = new InMemoryPartitionLogs();
    private PartitionId partition;

    @BeforeEach
    void makeTopics() {
        metadata.addBroker(1);
        metadata.addTopic(InternalTopics.CONSUMER_OFFSETS, 1, 1);
        metadata.addTopic("t", 1, 1);
        partition = GroupBroker.partition(metadata);
    }

    @AfterEach
    void forget() {
        logs.lose(partition);
    }

    @Test
    void aMillionCommitsOnAThousandKeysAreAThousandRecordsToLoadWhenTheyWereCompacted() {
        InMemoryPartitionLog log = logs.serve(partition);
        appendCommits(log, 1_000_000);
        log.compact(1_000_000);
        assertThat(log.batches()).isLessThan(10);
        logs.lose(partition);
        try (GroupBroker broker = new GroupBroker(1, metadata, logs)) {
            InMemoryPartitionLog loaded = logs.serve(partition);
            broker.awaitActive("group-0");
            assertThat(loaded.recordsRead()).isEqualTo(GROUPS);
            assertThat(loaded.bytesRead()).isLessThan(GROUPS * COMMIT_BYTES_MAX);
            assertThat(broker.committed("group-0")).isEqualTo("999000");
            assertThat(broker.committed("group-999")).isEqualTo("999999");
            assertThat(logs.log(partition).offsets().logStart()).isZero();
            assertThat(logs.log(partition).offsets().end()).isEqualTo(1_000_000);
        }
    }

    @Test
    void aCoordinatorGoesOnWhileItsLogIsCompactedUnderIt() {
        InMemoryPartitionLog log = logs.serve(partition);
        try (GroupBroker broker = new GroupBroker(1, metadata, logs)) {
            broker.awaitActive("g-0");
            for (int round = 0; round < 5; round++) {
                commitAll(broker, round);
                log.compact(log.offsets().highWatermark());
            }
            assertThat(broker.committed("g-7")).isEqualTo("19987");
            assertThat(log.batches()).isLessThan(100);

            logs.lose(partition);
            logs.serve(partition);
            broker.awaitActive("g-0");
            for (int group = 0; group < 20; group++) {
                assertThat(broker.committed("g-" + group)).isEqualTo(Integer.toString(19_980 + group));
            }
            assertThat(get(broker.commit("g-7", 20_000))).isEqualTo(Errors.NONE);
            assertThat(broker.committed("g-7")).isEqualTo("20000");
        }
    }

    private static void commitAll(GroupBroker broker, int round) {
        List<CompletableFuture<Errors>> commits = new ArrayList<>();
        for (int i = 0; i < 4_000; i++) {
            commits.add(broker.commit("g-" + i % 20, round * 4_000L + i));
        }
        commits.forEach(commit -> assertThat(get(commit)).isEqualTo(Errors.NONE));
    }

    private static void appendCommits(InMemoryPartitionLog log, int count) {
        GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();
        int perBatch = 1_000;
        for (int from = 0; from < count; from += perBatch) {
            SimpleRecord[] records = new SimpleRecord[perBatch];
            for (int i = 0; i < perBatch; i++) {
                CoordinatorRecord record = GroupCoordinatorRecordHelpers.newOffsetCommitRecord(
                        "group-" + (from + i) % GROUPS,
                        "t",
                        0,
                        new OffsetAndMetadata(
                                from + i, OptionalInt.empty(), "", 1, OptionalLong.empty(), Uuid.ZERO_UUID));
                records[i] = new SimpleRecord(1, serde.serializeKey(record), serde.serializeValue(record));
            }
            log.append(
                            List.of(new PartitionLog.Batch(
                                    Unpooled.wrappedBuffer(MemoryRecords.withRecords(Compression.NONE, records)
                                            .buffer()
                                            .duplicate()),
                                    perBatch,
                                    1,
                                    -1,
                                    (short) -1,
                                    -1,
                                    false)),
                            PartitionLog.AppendOptions.COORDINATOR)
                    .join();
        }
    }
}
