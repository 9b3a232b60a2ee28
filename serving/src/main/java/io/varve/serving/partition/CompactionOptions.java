package io.varve.serving.partition;

/**
 * How much of a broker compaction may take.
 *
 * @param intervalMs how long after a look at all partitions, or after a pass, the next look is; -1 for never
 * @param bytesPerSecondMax read and written, together
 * @param keysBytes memory for the keys of one pass, taken when there is the first pass
 * @param inflatedBytesMax of one batch: about three times as much is needed for it
 */
public record CompactionOptions(long intervalMs, long bytesPerSecondMax, long keysBytes, int inflatedBytesMax) {

    /** Room for some forty thousand keys. */
    public static final long KEYS_BYTES_MIN = 1 << 20;

    /** No broker can do without. */
    public static final int INFLATED_BYTES_MIN = 16 << 20;

    /** No compaction. */
    public static final CompactionOptions NEVER =
            new CompactionOptions(-1, Long.MAX_VALUE, KEYS_BYTES_MIN, INFLATED_BYTES_MIN);

    /** The defaults, sized to the heap. */
    public static CompactionOptions sized(long memoryBytes) {
        return new CompactionOptions(
                15_000, Long.MAX_VALUE, Math.max(KEYS_BYTES_MIN, Math.min(32 << 20, memoryBytes / 32)), (int)
                        Math.max(INFLATED_BYTES_MIN, Math.min(64 << 20, memoryBytes / 16)));
    }
}
