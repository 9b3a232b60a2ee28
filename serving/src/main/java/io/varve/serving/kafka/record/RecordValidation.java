package io.varve.serving.kafka.record;

import io.netty.buffer.ByteBuf;
import io.varve.serving.log.PartitionLog;
import java.util.List;
import org.apache.kafka.common.protocol.Errors;

/**
 * Turns the record bytes of a produce request into batches that a {@link PartitionLog} takes. Safe for any thread; the work is bounded by
 * the size of the request, inflated.
 */
public interface RecordValidation {

    /**
     * Checks one partition's records as Kafka does: magic, lengths, checksum, that the records are what the batch's header says, keys of
     * compacted topics, time stamps, compression. Batches that are to be stored as they came (by far the most) are not copied: their payloads are
     * retained slices of {@code records}, in which attributes, largest time and checksum may be rewritten (LogAppendTime). Others are built anew.
     *
     * @param records the bytes of the partition, writable; not released, and its indices aren't moved
     * @return {@link Valid}, whose payloads each hold a reference that the receiver owns; or {@link Invalid}, which holds nothing
     */
    Outcome validate(ByteBuf records, Rules rules);

    /** What came of it. */
    sealed interface Outcome {}

    /**
     * @param batches in order, at least one
     * @param logAppendTimeMs the time that all records were given, -1 if they keep the producer's
     */
    record Valid(List<PartitionLog.Batch> batches, long logAppendTimeMs) implements Outcome {}

    /**
     * @param error for the partition
     * @param message for the client
     * @param records which records of the batch are to blame, where that is known (KIP-467)
     */
    record Invalid(Errors error, String message, List<BadRecord> records) implements Outcome {}

    /**
     * @param index in the batch
     * @param message for the client
     */
    record BadRecord(int index, String message) {}

    /**
     * What a topic wants of its records, and what the request may contain.
     *
     * @param topic its name, for messages
     * @param partition its index, for messages
     * @param requestVersion of Produce: from 3 on one batch only; zstd from 7 on
     * @param maxBatchBytes {@code max.message.bytes}
     * @param compression {@code compression.type}: {@code producer} stores as it came
     * @param compacted whether every record needs a key
     * @param logAppendTime whether {@code message.timestamp.type} is LogAppendTime
     * @param timestampBeforeMaxMs {@code message.timestamp.before.max.ms}
     * @param timestampAfterMaxMs {@code message.timestamp.after.max.ms}
     * @param nowMs wall time
     */
    record Rules(
            String topic,
            int partition,
            int requestVersion,
            int maxBatchBytes,
            String compression,
            boolean compacted,
            boolean logAppendTime,
            long timestampBeforeMaxMs,
            long timestampAfterMaxMs,
            long nowMs) {}
}
