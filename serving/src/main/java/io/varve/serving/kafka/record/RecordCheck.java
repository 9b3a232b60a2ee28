package io.varve.serving.kafka.record;

import io.varve.serving.kafka.record.RecordValidation.BadRecord;
import io.varve.serving.kafka.record.RecordValidation.Rules;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.protocol.Errors;

/** The rules for one record, applied to each record of a batch in turn. Not safe for several threads. */
final class RecordCheck {

    /** More than a client can use; bounds what a hostile batch makes us remember. */
    private static final int BAD_RECORDS_MAX = 1000;

    private static final long NO_TIMESTAMP = -1;

    private final Rules rules;
    private final long earliestMs;
    private final long latestMs;
    private final List<BadRecord> bad = new ArrayList<>(0);

    private boolean badTimestamp;
    private boolean dense = true;
    private int seen;
    private long bytes;
    private long maxTimestampMs = NO_TIMESTAMP;

    RecordCheck(Rules rules) {
        this.rules = rules;
        this.earliestMs = saturatedSubtract(rules.nowMs(), rules.timestampBeforeMaxMs());
        this.latestMs = saturatedAdd(rules.nowMs(), rules.timestampAfterMaxMs());
    }

    /**
     * The next record of the batch.
     *
     * @param offsetDelta its offset relative to the batch, which should be its index
     */
    void onRecord(long timestampMs, long offsetDelta, boolean hasKey) {
        int index = seen++;
        if (rules.compacted() && !hasKey) {
            blame(index, "A compacted topic takes no record without a key.");
        }
        if (!rules.logAppendTime()
                && timestampMs != NO_TIMESTAMP
                && (timestampMs < earliestMs || timestampMs > latestMs)) {
            badTimestamp = true;
            blame(index, "Timestamp " + timestampMs + " is not within [" + earliestMs + ", " + latestMs + "].");
        }
        dense &= offsetDelta == index;
        maxTimestampMs = Math.max(maxTimestampMs, timestampMs);
    }

    /** All records were seen; together they are {@code bytes} long, inflated. */
    void onEnd(long bytes) {
        this.bytes = bytes;
    }

    long bytes() {
        return bytes;
    }

    long maxTimestampMs() {
        return maxTimestampMs;
    }

    /** Whether the records' offsets are 0, 1, 2 and so on. */
    boolean dense() {
        return dense;
    }

    boolean failed() {
        return !bad.isEmpty();
    }

    /** What to answer if {@link #failed()}. */
    RecordValidation.Invalid outcome() {
        Errors error = badTimestamp ? Errors.INVALID_TIMESTAMP : Errors.INVALID_RECORD;
        String message = badTimestamp
                ? "One or more records have been rejected due to invalid timestamp"
                : "One or more records have been rejected: " + bad.get(0).message();
        return new RecordValidation.Invalid(error, message, List.copyOf(bad));
    }

    private void blame(int index, String message) {
        if (bad.size() < BAD_RECORDS_MAX) {
            bad.add(new BadRecord(index, message));
        }
    }

    private static long saturatedAdd(long a, long b) {
        long sum = a + b;
        return b > 0 && sum < a ? Long.MAX_VALUE : sum;
    }

    private static long saturatedSubtract(long a, long b) {
        long difference = a - b;
        return b > 0 && difference > a ? Long.MIN_VALUE : difference;
    }
}
