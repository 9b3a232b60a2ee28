package io.varve.serving.kafka.restore;

import io.varve.serving.kafka.restore.NewestByKey.Kept;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongBiFunction;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.Deserializer;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.generated.OffsetCommitKey;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/** The records of one partition of {@code __consumer_offsets}, read from a log's start to its end. One thread. */
public final class OffsetRecords {

    private static final int NO_LEADER_EPOCH = -1;
    private static final int BATCH_BYTES = 256 << 10;
    private static final int BATCH_HEADER_BYTES = 61;
    private static final int RECORD_OVERHEAD_BYTES = 32;

    private final NewestByKey newest = new NewestByKey();
    private final GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();

    /** A committed offset that lies beyond the end of its log. */
    private record Beyond(OffsetCommitKey key, OffsetCommitValue value, short version, long end) {}

    /** A batch to append. */
    public record Correction(ByteBuffer batch, long firstOffset, long lastOffset, long maxTimestampMs) {}

    /** Takes the batch that follows. Copies what it keeps. */
    public void add(ByteBuffer batch) {
        for (MutableRecordBatch one : MemoryRecords.readableRecords(batch).batches()) {
            newest.add(one);
        }
    }

    /**
     * Batches after which no group stands beyond the end of a log.
     *
     * @param endOf the end of a topic's partition, negative if there is none of that name
     * @param firstOffset where they are appended
     * @param leaderEpoch of the batches
     * @param changed takes a line for each offset that is set back
     */
    public List<Correction> corrections(
            ToLongBiFunction<String, Integer> endOf,
            long firstOffset,
            int leaderEpoch,
            long nowMs,
            List<String> changed) {
        List<Correction> corrections = new ArrayList<>();
        List<CoordinatorRecord> records = new ArrayList<>();
        int bytes = 0;
        long next = firstOffset;
        for (Kept kept : newest.inOrder()) {
            Optional<Beyond> beyond = beyond(kept, endOf);
            if (beyond.isEmpty()) {
                continue;
            }
            Beyond found = beyond.get();
            changed.add("group " + found.key().group() + ": committed offset "
                    + found.value().offset() + " of "
                    + found.key().topic() + "-" + found.key().partition() + " lies beyond the end of the log, set to "
                    + found.end());
            records.add(CoordinatorRecord.record(
                    found.key(),
                    new ApiMessageAndVersion(
                            found.value().duplicate().setOffset(found.end()).setLeaderEpoch(NO_LEADER_EPOCH),
                            found.version())));
            bytes += kept.key().remaining() + kept.value().remaining() + RECORD_OVERHEAD_BYTES;
            if (bytes >= BATCH_BYTES) {
                corrections.add(batch(records, bytes, next, leaderEpoch, nowMs));
                next += records.size();
                records.clear();
                bytes = 0;
            }
        }
        if (!records.isEmpty()) {
            corrections.add(batch(records, bytes, next, leaderEpoch, nowMs));
        }
        return corrections;
    }

    private Optional<Beyond> beyond(Kept kept, ToLongBiFunction<String, Integer> endOf) {
        CoordinatorRecord record;
        try {
            record = serde.deserialize(kept.key().duplicate(), kept.value().duplicate());
        } catch (Deserializer.UnknownRecordTypeException newer) {
            return Optional.empty(); // Not a kind that was known when this was written: left as it is.
        }
        if (!(record.key() instanceof OffsetCommitKey key) || record.value() == null) {
            return Optional.empty();
        }
        OffsetCommitValue value = (OffsetCommitValue) record.value().message();
        long end = endOf.applyAsLong(key.topic(), key.partition());
        return end >= 0 && value.offset() > end
                ? Optional.of(new Beyond(key, value, record.value().version(), end))
                : Optional.empty();
    }

    private Correction batch(
            List<CoordinatorRecord> records, int bytes, long firstOffset, int leaderEpoch, long nowMs) {
        MemoryRecordsBuilder builder = MemoryRecords.builder(
                ByteBuffer.allocate(bytes + BATCH_HEADER_BYTES),
                RecordBatch.CURRENT_MAGIC_VALUE,
                Compression.NONE,
                TimestampType.CREATE_TIME,
                firstOffset,
                RecordBatch.NO_TIMESTAMP);
        for (CoordinatorRecord record : records) {
            builder.append(nowMs, serde.serializeKey(record), serde.serializeValue(record));
        }
        MemoryRecords built = builder.build();
        for (MutableRecordBatch batch : built.batches()) {
            batch.setPartitionLeaderEpoch(leaderEpoch);
        }
        return new Correction(built.buffer().duplicate(), firstOffset, firstOffset + records.size() - 1, nowMs);
    }
}
