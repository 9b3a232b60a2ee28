package io.varve.serving.kafka.record;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Where the fields of a v2 batch's header are, relative to its first byte.
 *
 * <pre>
 *  0 base offset 8 | 8 length 4 | 12 leader epoch 4 | 16 magic 1 | 17 crc32c 4 of all that follows | 21 attributes 2
 * 23 last offset delta 4 | 27 base time 8 | 35 max time 8 | 43 producer id 8 | 51 producer epoch 2 | 53 base sequence 4
 * 57 record count 4 | 61 records
 * </pre>
 */
final class BatchHeader {

    static final int BYTES = 61;
    static final int LOG_OVERHEAD = 12;
    static final byte MAGIC = 2;

    static final int BASE_OFFSET = 0;
    static final int LENGTH = 8;
    static final int MAGIC_AT = 16;
    static final int CRC = 17;
    static final int ATTRIBUTES = 21;
    static final int LAST_OFFSET_DELTA = 23;
    static final int BASE_TIMESTAMP = 27;
    static final int MAX_TIMESTAMP = 35;
    static final int PRODUCER_ID = 43;
    static final int PRODUCER_EPOCH = 51;
    static final int BASE_SEQUENCE = 53;
    static final int COUNT = 57;

    static final int CODEC_MASK = 0x07;
    static final int LOG_APPEND_TIME_BIT = 0x08;
    static final int TRANSACTIONAL_BIT = 0x10;
    static final int CONTROL_BIT = 0x20;

    private BatchHeader() {}

    /** The checksum that the batch should carry. */
    static int crcOf(ByteBuffer batch) {
        CRC32C crc = new CRC32C();
        ByteBuffer covered = batch.duplicate();
        covered.position(batch.position() + ATTRIBUTES);
        crc.update(covered);
        return (int) crc.getValue();
    }

    /** Makes {@code maxTimestampMs}, and its kind, the batch's; rewrites the checksum if that changes anything. */
    static void setMaxTimestamp(ByteBuf batch, boolean logAppendTime, long maxTimestampMs) {
        int at = batch.readerIndex();
        short attributes = batch.getShort(at + ATTRIBUTES);
        short wanted = (short) (logAppendTime ? attributes | LOG_APPEND_TIME_BIT : attributes & ~LOG_APPEND_TIME_BIT);
        if (attributes == wanted && batch.getLong(at + MAX_TIMESTAMP) == maxTimestampMs) {
            return;
        }
        batch.setShort(at + ATTRIBUTES, wanted);
        batch.setLong(at + MAX_TIMESTAMP, maxTimestampMs);
        batch.setInt(at + CRC, crcOf(batch.nioBuffer()));
    }
}
