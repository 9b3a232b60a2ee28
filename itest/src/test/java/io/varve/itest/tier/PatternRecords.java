package io.varve.itest.tier;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Records that say which they are and whose every byte can be checked: a number, and bytes that nothing compresses, out of one pool. */
final class PatternRecords {

    private static final int POOL_BYTES = 4 << 20;
    private static final long STRIDE = 7919;

    private final byte[] pool = new byte[POOL_BYTES];
    private final int valueBytes;

    /** @param valueBytes of each value, more than 8 */
    PatternRecords(int valueBytes) {
        this.valueBytes = valueBytes;
        new SplittableRandom(1).nextBytes(pool);
    }

    byte[] value(long number) {
        byte[] value = new byte[valueBytes];
        ByteBuffer.wrap(value).putLong(number);
        System.arraycopy(pool, at(number), value, Long.BYTES, valueBytes - Long.BYTES);
        return value;
    }

    /** @throws AssertionError if a byte of it is another than was written */
    void check(long number, byte[] value) {
        boolean intact = value.length == valueBytes
                && ByteBuffer.wrap(value).getLong() == number
                && Arrays.equals(value, Long.BYTES, valueBytes, pool, at(number), at(number) + valueBytes - Long.BYTES);
        if (!intact) {
            throw new AssertionError("record " + number + " is not what was written");
        }
    }

    private int at(long number) {
        return (int) (number * STRIDE % (POOL_BYTES - valueBytes));
    }
}
