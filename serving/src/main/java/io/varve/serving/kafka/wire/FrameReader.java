package io.varve.serving.kafka.wire;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.common.record.internal.MemoryRecords;

/**
 * Kafka's reading side over one request frame. Every length is checked against what is left before anything is allocated for it. Fields of
 * bytes are copied to the heap, for handlers keep them; record batches are not: the n-th field of records read is the n-th of
 * {@link #records()}, a slice of the frame that holds no reference of its own.
 */
final class FrameReader implements Readable {

    private final ByteBuf frame;
    private final List<ByteBuf> records;

    FrameReader(ByteBuf frame) {
        this(frame, new ArrayList<>(4));
    }

    private FrameReader(ByteBuf frame, List<ByteBuf> records) {
        this.frame = frame;
        this.records = records;
    }

    /** The fields of records, in the order in which they were read. */
    List<ByteBuf> records() {
        return records;
    }

    @Override
    public byte readByte() {
        return frame.readByte();
    }

    @Override
    public short readShort() {
        return frame.readShort();
    }

    @Override
    public int readInt() {
        return frame.readInt();
    }

    @Override
    public long readLong() {
        return frame.readLong();
    }

    @Override
    public double readDouble() {
        return frame.readDouble();
    }

    @Override
    public byte[] readArray(int length) {
        checkLength(length);
        byte[] bytes = new byte[length];
        frame.readBytes(bytes);
        return bytes;
    }

    @Override
    public ByteBuffer readByteBuffer(int length) {
        return ByteBuffer.wrap(readArray(length));
    }

    @Override
    public MemoryRecords readRecords(int length) {
        if (length < 0) {
            return null;
        }
        checkLength(length);
        ByteBuf slice = frame.readSlice(length);
        records.add(slice);
        return MemoryRecords.EMPTY;
    }

    @Override
    public int readUnsignedVarint() {
        int value = 0;
        for (int shift = 0; shift < 35; shift += 7) {
            byte next = frame.readByte();
            if (shift == 28 && (next & 0xf0) != 0) {
                break;
            }
            value |= (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new MalformedRequestException("A varint is longer than 32 bits.");
    }

    @Override
    public int readVarint() {
        int raw = readUnsignedVarint();
        return (raw >>> 1) ^ -(raw & 1);
    }

    @Override
    public long readVarlong() {
        long raw = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            byte next = frame.readByte();
            if (shift == 63 && (next & 0xfe) != 0) {
                break;
            }
            raw |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return (raw >>> 1) ^ -(raw & 1);
            }
        }
        throw new MalformedRequestException("A varlong is longer than 64 bits.");
    }

    @Override
    public int remaining() {
        return frame.readableBytes();
    }

    @Override
    public Readable slice() {
        return new FrameReader(frame.slice(), records);
    }

    private void checkLength(int length) {
        if (length < 0 || length > frame.readableBytes()) {
            throw new MalformedRequestException(
                    "A field claims " + length + " bytes where " + frame.readableBytes() + " are left.");
        }
    }
}
