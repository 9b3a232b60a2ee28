package io.varve.bookie.store;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.core.JournalFormat;
import java.nio.ByteBuffer;

/**
 * The header of a segment's own file.
 *
 * <pre>
 *  | "VSEG"4 | version 4 | segment 8 | topic 16 | partition 4 | epoch 4 | start offset 8 | zeros 12 | crc32c 4 |
 * </pre>
 */
public final class SettledFormat {

    /** Bytes before the first entry. */
    public static final int HEADER_BYTES = 64;

    private static final int MAGIC = 0x56534547; // VSEG
    private static final int VERSION = 1;
    private static final int CRC_AT = HEADER_BYTES - 4;

    private SettledFormat() {}

    static ByteBuffer header(SegmentId segment, PartitionId partition, int epoch, long startOffset) {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
        header.putInt(0, MAGIC).putInt(4, VERSION).putLong(8, segment.value());
        Records.putPartition(header, 16, partition);
        header.putInt(36, epoch).putLong(40, startOffset);
        header.putInt(CRC_AT, JournalFormat.checksum(header, 0, CRC_AT));
        return header;
    }

    /** Whether the buffer starts with a header. */
    public static boolean isHeader(ByteBuffer header) {
        return header.limit() >= HEADER_BYTES
                && header.getInt(0) == MAGIC
                && header.getInt(4) == VERSION
                && header.getInt(CRC_AT) == JournalFormat.checksum(header, 0, CRC_AT);
    }

    /** Whose entries follow. */
    public static long segment(ByteBuffer header) {
        return header.getLong(8);
    }

    /** The epoch that the segment was made under. */
    public static int epoch(ByteBuffer header) {
        return header.getInt(36);
    }

    /** The first offset that it may hold. */
    public static long startOffset(ByteBuffer header) {
        return header.getLong(40);
    }
}
