package io.varve.protocol.storage;

import io.netty.buffer.ByteBuf;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;

/**
 * The messages of an append stream. Big-endian; the first byte is the type. What follows the known fields of OPEN is from a later version and ignored.
 *
 * <pre>
 * to the bookie, OPEN first, then the others in any order
 *  OPEN        | 1 | topic high | topic low | partition | segment | epoch | start offset | incarnation |
 *              | 1 |     8      |     8     |     4     |    8    |   4   |      8       |      8      |
 *  APPEND      | 2 | high watermark | entry ({@link EntryFormat}: 24 bytes and the payload) |
 *              | 1 |       8        |                                                         |
 *  CHECKPOINT  | 3 | offset | state |
 *              | 1 |   8    |       |
 *  SEAL        | 4 | end offset |
 *              | 1 |     8      |
 *
 * from the bookie
 *  DURABLE     | 1 | end |              everything this stream sent below it is durable
 *              | 1 |  8  |
 *  FAILED      | 2 | status | end |     and the stream ends; end is -1 if the bookie has none to tell
 *              | 1 |   1    |  8  |
 * </pre>
 */
public final class AppendFrames {

    /** Begins the stream. */
    public static final int OPEN = 1;

    /** An entry. */
    public static final int APPEND = 2;

    /** A checkpoint of the owner's state. */
    public static final int CHECKPOINT = 3;

    /** The segment ends. */
    public static final int SEAL = 4;

    /** An acknowledgement. */
    public static final int DURABLE = 1;

    /** A refusal. */
    public static final int FAILED = 2;

    /** Bytes of OPEN. */
    public static final int OPEN_BYTES = 49;

    /** Bytes of APPEND before the payload. */
    public static final int APPEND_HEAD_BYTES = 1 + Long.BYTES + EntryFormat.HEADER_BYTES;

    /** Bytes of CHECKPOINT before the state. */
    public static final int CHECKPOINT_HEAD_BYTES = 1 + Long.BYTES;

    /** Bytes of SEAL. */
    public static final int SEAL_BYTES = 1 + Long.BYTES;

    /** Bytes of DURABLE. */
    public static final int DURABLE_BYTES = 1 + Long.BYTES;

    /** Bytes of FAILED. */
    public static final int FAILED_BYTES = 2 + Long.BYTES;

    private static final int ENTRY_AT = 1 + Long.BYTES;

    private AppendFrames() {}

    /**
     * What OPEN says.
     *
     * @param incarnation of the directory to put the replica in; 0 lets the bookie choose
     */
    public record Open(PartitionId partition, SegmentId segment, int epoch, long startOffset, long incarnation) {}

    /** Writes OPEN. */
    public static void writeOpen(ByteBuf to, Open open) {
        to.writeByte(OPEN);
        StorageCodec.writePartition(to, open.partition());
        to.writeLong(open.segment().value())
                .writeInt(open.epoch())
                .writeLong(open.startOffset())
                .writeLong(open.incarnation());
    }

    /** Writes an APPEND up to its payload, which follows as it is. */
    public static void writeAppendHead(
            ByteBuf to, long highWatermark, long firstOffset, long lastOffset, int payloadLength, int crc) {
        to.writeByte(APPEND)
                .writeLong(highWatermark)
                .writeLong(firstOffset)
                .writeLong(lastOffset)
                .writeInt(payloadLength)
                .writeInt(crc);
    }

    /** Writes a CHECKPOINT up to its state, which follows as it is. */
    public static void writeCheckpointHead(ByteBuf to, long offset) {
        to.writeByte(CHECKPOINT).writeLong(offset);
    }

    /** Writes SEAL. */
    public static void writeSeal(ByteBuf to, long endOffset) {
        to.writeByte(SEAL).writeLong(endOffset);
    }

    /** Writes DURABLE. */
    public static void writeDurable(ByteBuf to, long end) {
        to.writeByte(DURABLE).writeLong(end);
    }

    /** Writes FAILED. */
    public static void writeFailed(ByteBuf to, int status, long end) {
        to.writeByte(FAILED).writeByte(status).writeLong(end);
    }

    /** The type of a message that has at least one byte; 0, which is none, if it has not. */
    public static int type(ByteBuf message) {
        return message.isReadable() ? message.getUnsignedByte(message.readerIndex()) : 0;
    }

    /**
     * Reads OPEN.
     *
     * @throws IndexOutOfBoundsException if it is cut short
     * @throws IllegalArgumentException if its numbers can't be
     */
    public static Open readOpen(ByteBuf from) {
        int at = from.readerIndex() + 1;
        TopicId topic = new TopicId(from.getLong(at), from.getLong(at + 8));
        long startOffset = from.getLong(at + 32);
        if (startOffset < 0) {
            throw new IllegalArgumentException("A segment's start is not negative: " + startOffset);
        }
        return new Open(
                new PartitionId(topic, from.getInt(at + 16)),
                new SegmentId(from.getLong(at + 20)),
                from.getInt(at + 28),
                startOffset,
                from.getLong(at + 40));
    }

    /** Whether an APPEND is as long as its entry claims. Check before reading anything else of it. */
    public static boolean isWholeAppend(ByteBuf message) {
        return message.readableBytes() >= APPEND_HEAD_BYTES
                && EntryFormat.isPlausible(firstOffset(message), lastOffset(message), payloadLength(message))
                && payloadLength(message) == message.readableBytes() - APPEND_HEAD_BYTES;
    }

    /** The owner's high watermark in an APPEND. */
    public static long highWatermark(ByteBuf append) {
        return append.getLong(append.readerIndex() + 1);
    }

    /** The first offset in an APPEND. */
    public static long firstOffset(ByteBuf append) {
        return append.getLong(append.readerIndex() + ENTRY_AT);
    }

    /** The last offset in an APPEND, inclusive. */
    public static long lastOffset(ByteBuf append) {
        return append.getLong(append.readerIndex() + ENTRY_AT + 8);
    }

    /** The checksum in an APPEND. */
    public static int crc(ByteBuf append) {
        return append.getInt(append.readerIndex() + ENTRY_AT + 20);
    }

    /** The payload of an APPEND: a view that shares its reference count. */
    public static ByteBuf payload(ByteBuf append) {
        return append.slice(append.readerIndex() + APPEND_HEAD_BYTES, append.readableBytes() - APPEND_HEAD_BYTES);
    }

    /** The offset of a CHECKPOINT, the end of a SEAL or of a DURABLE. */
    public static long offset(ByteBuf message) {
        return message.getLong(message.readerIndex() + 1);
    }

    /** The state of a CHECKPOINT: a view that shares its reference count. */
    public static ByteBuf state(ByteBuf checkpoint) {
        return checkpoint.slice(
                checkpoint.readerIndex() + CHECKPOINT_HEAD_BYTES, checkpoint.readableBytes() - CHECKPOINT_HEAD_BYTES);
    }

    /** The status of a FAILED. */
    public static int failedStatus(ByteBuf failed) {
        return failed.getUnsignedByte(failed.readerIndex() + 1);
    }

    /** The end of a FAILED, or -1. */
    public static long failedEnd(ByteBuf failed) {
        return failed.getLong(failed.readerIndex() + 2);
    }

    private static int payloadLength(ByteBuf append) {
        return append.getInt(append.readerIndex() + ENTRY_AT + 16);
    }
}
