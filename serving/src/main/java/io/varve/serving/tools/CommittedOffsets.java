package io.varve.serving.tools;

import io.varve.metadata.model.InternalTopics;
import io.varve.serving.kafka.restore.OffsetRecords;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.ToLongBiFunction;

/**
 * What groups have committed, in a partition of the topic that holds it, after a restore that brought back less of the logs than was consumed. An offset beyond the
 * end of its log would be out of range today, and tomorrow skip what was written there anew; it is set back to the end. One thread.
 */
public final class CommittedOffsets {

    /** The topic that holds them. */
    public static final String TOPIC = InternalTopics.CONSUMER_OFFSETS;

    private final OffsetRecords records = new OffsetRecords();

    /**
     * A batch to append to the partition.
     *
     * @param batch a record batch with its offsets assigned
     * @param lastOffset inclusive
     */
    public record Correction(ByteBuffer batch, long firstOffset, long lastOffset, long maxTimestampMs) {}

    /** Takes the record batch that follows, in the order of the log. Copies what it keeps. */
    public void add(ByteBuffer batch) {
        records.add(batch);
    }

    /**
     * What to append so that no group stands beyond the end of a log.
     *
     * @param endOf the end of a topic's partition, exclusive; negative if there is none of that name
     * @param firstOffset where it is appended
     * @param leaderEpoch of the batches
     * @param changed takes a line for each offset that is set back
     */
    public List<Correction> corrections(
            ToLongBiFunction<String, Integer> endOf,
            long firstOffset,
            int leaderEpoch,
            long nowMs,
            List<String> changed) {
        return records.corrections(endOf, firstOffset, leaderEpoch, nowMs, changed).stream()
                .map(c -> new Correction(c.batch(), c.firstOffset(), c.lastOffset(), c.maxTimestampMs()))
                .toList();
    }
}
