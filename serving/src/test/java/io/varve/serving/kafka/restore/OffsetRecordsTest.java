package io.varve.serving.kafka.restore;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.kafka.restore.OffsetRecords.Correction;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.generated.OffsetCommitKey;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.junit.jupiter.api.Test;

class OffsetRecordsTest {

    private static final Map<String, Long> ENDS = Map.of("a-0", 100L, "a-1", 100L);
    private static final long NOW_MS = 5_000;

    private final GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();
    private final OffsetRecords offsets = new OffsetRecords();
    private final List<String> changed = new ArrayList<>();

    @Test
    void onlyOffsetsBeyondTheEndAreSetBackToItAndAllElseOfThemStays() {
        commit(0, "g", "a", 0, 150);
        commit(1, "g", "a", 1, 100);
        commit(2, "g", "gone", 0, 999);
        List<Correction> corrections = corrections(3);
        assertThat(corrections).singleElement().satisfies(correction -> {
            assertThat(correction.firstOffset()).isEqualTo(3);
            assertThat(correction.lastOffset()).isEqualTo(3);
        });
        assertThat(read(corrections)).singleElement().satisfies(record -> {
            assertThat(((OffsetCommitKey) record.key()).topic()).isEqualTo("a");
            OffsetCommitValue value = (OffsetCommitValue) record.value().message();
            assertThat(value.offset()).isEqualTo(100);
            assertThat(value.leaderEpoch()).isEqualTo(-1);
            assertThat(value.metadata()).isEqualTo("kept");
        });
        assertThat(changed)
                .containsExactly("group g: committed offset 150 of a-0 lies beyond the end of the log, set to 100");
    }

    @Test
    void theNewestCommitCounts() {
        commit(0, "g", "a", 0, 150);
        commit(1, "g", "a", 0, 50);
        assertThat(corrections(2)).isEmpty();
    }

    @Test
    void manyCorrectionsComeInSeveralBatchesWithoutAGap() {
        for (int i = 0; i < 5_000; i++) {
            commit(i, "group-" + i, "a", 0, 150 + i);
        }
        List<Correction> corrections = corrections(5_000);
        assertThat(corrections).hasSizeGreaterThan(1);
        long next = 5_000;
        for (Correction correction : corrections) {
            assertThat(correction.firstOffset()).isEqualTo(next);
            next = correction.lastOffset() + 1;
            for (MutableRecordBatch batch :
                    MemoryRecords.readableRecords(correction.batch()).batches()) {
                batch.ensureValid();
                assertThat(batch.baseOffset()).isEqualTo(correction.firstOffset());
                assertThat(batch.lastOffset()).isEqualTo(correction.lastOffset());
                assertThat(batch.partitionLeaderEpoch()).isEqualTo(9);
            }
        }
        assertThat(next).isEqualTo(10_000);
    }

    private List<Correction> corrections(long firstOffset) {
        return offsets.corrections(
                (topic, index) -> ENDS.getOrDefault(topic + "-" + index, -1L), firstOffset, 9, NOW_MS, changed);
    }

    private void commit(long offset, String group, String topic, int partition, long committed) {
        CoordinatorRecord record = CoordinatorRecord.record(
                new OffsetCommitKey().setGroup(group).setTopic(topic).setPartition(partition),
                new ApiMessageAndVersion(
                        new OffsetCommitValue()
                                .setOffset(committed)
                                .setLeaderEpoch(4)
                                .setMetadata("kept")
                                .setCommitTimestamp(1),
                        (short) 3));
        MemoryRecordsBuilder builder = MemoryRecords.builder(
                ByteBuffer.allocate(512),
                RecordBatch.CURRENT_MAGIC_VALUE,
                Compression.NONE,
                TimestampType.CREATE_TIME,
                offset,
                RecordBatch.NO_TIMESTAMP);
        builder.append(1_000, serde.serializeKey(record), serde.serializeValue(record));
        offsets.add(builder.build().buffer());
    }

    private List<CoordinatorRecord> read(List<Correction> corrections) {
        List<CoordinatorRecord> records = new ArrayList<>();
        for (Correction correction : corrections) {
            for (Record record :
                    MemoryRecords.readableRecords(correction.batch()).records()) {
                records.add(serde.deserialize(record.key(), record.value()));
            }
        }
        return records;
    }
}
