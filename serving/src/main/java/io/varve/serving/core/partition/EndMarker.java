package io.varve.serving.core.partition;

import io.varve.protocol.record.RecordBatchHeader;
import java.nio.ByteBuffer;

/**
 * A transaction's end marker: a control batch of one record, in Kafka's form.
 *
 * <pre>
 *  61       62           63           64             65        66                70            71                        77        78
 *  +--------+------------+------------+--------------+---------+-----------------+-------------+-------------------------+---------+
 *  | length | attributes | time delta | offset delta | key len | version 0, type | value length| version 0, coord. epoch | headers |
 *  +--------+------------+------------+--------------+---------+-----------------+-------------+-------------------------+---------+
 * </pre>
 *
 * The lengths are zig-zag numbers of one byte; type 0 aborts, 1 commits.
 *
 * @param commit whether the transaction's records count
 */
public record EndMarker(long producerId, short producerEpoch, int coordinatorEpoch, boolean commit) {

    /** Bytes of the whole batch. */
    public static final int BYTES = RecordBatchHeader.BYTES + 17;

    private static final int RECORD_AT = RecordBatchHeader.BYTES;
    private static final int KEY_AT = RECORD_AT + 5;
    private static final int VALUE_AT = KEY_AT + 5;
    private static final byte RECORD_BYTES = 16;
    private static final byte KEY_BYTES = 4;
    private static final byte VALUE_BYTES = 6;
    private static final short TYPE_ABORT = 0;
    private static final short TYPE_COMMIT = 1;
    private static final short TRANSACTIONAL_CONTROL = 0x30;
    private static final int CRC_AT = 17;

    /** The batch, with base offset 0 and no epoch yet, at {@code to}'s position, which moves past it. */
    public void write(ByteBuffer to, long nowMs) {
        int at = to.position();
        to.putLong(0)
                .putInt(BYTES - RecordBatchHeader.LENGTH_PREFIX_BYTES)
                .putInt(-1)
                .put(RecordBatchHeader.MAGIC)
                .putInt(0)
                .putShort(TRANSACTIONAL_CONTROL)
                .putInt(0)
                .putLong(nowMs)
                .putLong(nowMs)
                .putLong(producerId)
                .putShort(producerEpoch)
                .putInt(-1)
                .putInt(1);
        to.put(zigZag(RECORD_BYTES)).put((byte) 0).put((byte) 0).put((byte) 0);
        to.put(zigZag(KEY_BYTES)).putShort((short) 0).putShort(commit ? TYPE_COMMIT : TYPE_ABORT);
        to.put(zigZag(VALUE_BYTES)).putShort((short) 0).putInt(coordinatorEpoch).put((byte) 0);
        ByteBuffer written = to.duplicate().flip();
        to.putInt(at + CRC_AT, RecordBatchHeader.checksum(written, at));
    }

    /** What a control batch says, or null if it is no transaction's end (other control records concern nobody here). */
    static EndMarker parse(ByteBuffer in, int at) {
        int type = RecordBatchHeader.controlType(in, at).orElse(-1);
        if (type != TYPE_ABORT && type != TYPE_COMMIT) {
            return null;
        }
        boolean hasValue =
                RecordBatchHeader.sizeInBytes(in, at) >= BYTES && in.get(at + VALUE_AT - 1) >= VALUE_BYTES * 2;
        return new EndMarker(
                RecordBatchHeader.producerId(in, at),
                RecordBatchHeader.producerEpoch(in, at),
                hasValue ? in.getInt(at + VALUE_AT + Short.BYTES) : -1,
                type == TYPE_COMMIT);
    }

    private static byte zigZag(byte value) {
        return (byte) (value << 1);
    }
}
