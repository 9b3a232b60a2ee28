package io.varve.serving.kafka.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import java.nio.ByteBuffer;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.MessageSizeAccumulator;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Writable;
import org.apache.kafka.common.record.internal.BaseRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.ResponseHeader;

/**
 * Writes an answer as one frame: length, header, body. Everything but record batches goes into one buffer of exactly the right size;
 * batches stay where they are and become components between slices of it.
 */
public final class ResponseWriter {

    private ResponseWriter() {}

    /**
     * The frame.
     *
     * @param request the header of the request that is answered
     * @param version the version of the answer's body: the request's, except for ApiVersions from the future
     * @return a buffer for the socket, with one reference, a composite one if there are record batches; the references of the answer's record batches are in it
     */
    public static ByteBuf write(
            ByteBufAllocator allocator, RequestHeader request, AbstractResponse response, short version) {
        ResponseHeader responseHeader = request.toResponseHeader();
        ApiMessage header = responseHeader.data();
        short headerVersion = responseHeader.headerVersion();
        ApiMessage body = response.data();
        ObjectSerializationCache cache = new ObjectSerializationCache();
        MessageSizeAccumulator size = new MessageSizeAccumulator();
        header.addSize(size, cache, headerVersion);
        body.addSize(size, cache, version);

        ByteBuf head = allocator.buffer(Integer.BYTES + size.sizeExcludingZeroCopy());
        FrameWriter writer = new FrameWriter(allocator, head);
        try {
            writer.writeInt(size.totalSize());
            header.write(writer, cache, headerVersion);
            body.write(writer, cache, version);
            return writer.finish();
        } catch (RuntimeException e) {
            writer.release();
            throw e;
        }
    }

    /** Kafka's writing side over one growing buffer, cut where record batches lie in between. */
    private static final class FrameWriter implements Writable {

        private final ByteBufAllocator allocator;
        private final ByteBuf head;
        private CompositeByteBuf frame;
        private int cutAt;

        private FrameWriter(ByteBufAllocator allocator, ByteBuf head) {
            this.allocator = allocator;
            this.head = head;
        }

        @Override
        public void writeByte(byte value) {
            head.writeByte(value);
        }

        @Override
        public void writeShort(short value) {
            head.writeShort(value);
        }

        @Override
        public void writeInt(int value) {
            head.writeInt(value);
        }

        @Override
        public void writeLong(long value) {
            head.writeLong(value);
        }

        @Override
        public void writeDouble(double value) {
            head.writeDouble(value);
        }

        @Override
        public void writeByteArray(byte[] bytes) {
            head.writeBytes(bytes);
        }

        @Override
        public void writeByteBuffer(ByteBuffer bytes) {
            head.writeBytes(bytes.duplicate());
        }

        @Override
        public void writeUnsignedVarint(int value) {
            int rest = value;
            while ((rest & ~0x7f) != 0) {
                head.writeByte((byte) (rest & 0x7f | 0x80));
                rest >>>= 7;
            }
            head.writeByte((byte) rest);
        }

        @Override
        public void writeVarint(int value) {
            writeUnsignedVarint(value << 1 ^ value >> 31);
        }

        @Override
        public void writeVarlong(long value) {
            long rest = value << 1 ^ value >> 63;
            while ((rest & ~0x7fL) != 0) {
                head.writeByte((byte) (rest & 0x7f | 0x80));
                rest >>>= 7;
            }
            head.writeByte((byte) rest);
        }

        @Override
        public void writeRecords(BaseRecords records) {
            if (records instanceof FetchedRecords fetched) {
                for (ByteBuf batch : fetched.take()) {
                    append(batch);
                }
            } else {
                writeByteBuffer(((MemoryRecords) records).buffer());
            }
        }

        private void append(ByteBuf batch) {
            if (frame == null) {
                frame = allocator.compositeBuffer(Integer.MAX_VALUE);
            }
            cut();
            frame.addComponent(true, batch);
        }

        private void cut() {
            if (head.writerIndex() > cutAt) {
                frame.addComponent(true, head.retainedSlice(cutAt, head.writerIndex() - cutAt));
                cutAt = head.writerIndex();
            }
        }

        private ByteBuf finish() {
            if (frame == null) {
                return head;
            }
            cut();
            head.release();
            return frame;
        }

        private void release() {
            head.release();
            if (frame != null) {
                frame.release();
            }
        }
    }
}
