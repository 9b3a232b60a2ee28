package io.varve.serving.kafka.record;

import io.varve.serving.log.PartitionLog.TimestampResult.Found;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;

/** The times of the records inside a stored batch, inflated where it is compressed. */
public final class RecordTimes {

    private RecordTimes() {}

    /**
     * The first record of the batch at or after that time, and at or after that offset.
     *
     * @param batch from its position to its limit; neither moves
     */
    public static Optional<Found> firstAtLeast(ByteBuffer batch, long timestampMs, long fromOffset) {
        for (MutableRecordBatch b : MemoryRecords.readableRecords(batch.slice()).batches()) {
            for (Record record : b) {
                if (record.timestamp() >= timestampMs && record.offset() >= fromOffset) {
                    return Optional.of(new Found(record.offset(), record.timestamp(), b.partitionLeaderEpoch()));
                }
            }
        }
        return Optional.empty();
    }
}
