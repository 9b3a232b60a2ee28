package io.varve.serving.kafka.record;

import io.varve.serving.core.compaction.BatchFormatException;
import io.varve.serving.core.compaction.RecordCodec;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.utils.internals.ByteBufferOutputStream;

/** Kafka's codecs at their usual levels. Keeps some memory from batch to batch: one use at a time, by one thread. */
public final class KafkaRecordCodec implements RecordCodec {

    private static final int CAPACITY_MIN = 64 << 10;
    /** More than this isn't kept from batch to batch. */
    private static final int CAPACITY_KEPT_MAX = 4 << 20;

    private byte[] inflated = new byte[CAPACITY_MIN];

    /** Without any memory yet. */
    public KafkaRecordCodec() {}

    @Override
    public ByteBuffer inflate(int compression, ByteBuffer records, int bytesMax) {
        if (inflated.length > CAPACITY_KEPT_MAX) {
            inflated = new byte[CAPACITY_MIN];
        }
        try (InputStream in = codec(compression)
                .wrapForInput(
                        records.slice(), BatchHeader.MAGIC, CodecBuffers.get().supplier())) {
            int size = readAll(in, bytesMax); // May put a larger array in the place of this one.
            return ByteBuffer.wrap(inflated, 0, size);
        } catch (BatchFormatException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            // Codecs throw whatever comes to them on bytes that are not theirs.
            throw new BatchFormatException("a batch that can't be inflated", e);
        } catch (VirtualMachineError | LinkageError e) {
            throw e;
        } catch (Error e) {
            // Snappy reports a bad chunk as an Error.
            throw new BatchFormatException("a batch that can't be inflated", e);
        }
    }

    @Override
    public ByteBuffer deflate(int compression, ByteBuffer records, int headroomBytes) {
        ByteBufferOutputStream to = new ByteBufferOutputStream(headroomBytes + Math.max(512, records.remaining() / 2));
        to.position(headroomBytes);
        try (OutputStream out = codec(compression).wrapForOutput(to, BatchHeader.MAGIC)) {
            out.write(records.array(), records.arrayOffset() + records.position(), records.remaining());
        } catch (IOException e) {
            throw new IllegalStateException("Memory can't be written.", e);
        }
        return to.buffer().flip();
    }

    private int readAll(InputStream in, int bytesMax) throws IOException {
        int size = 0;
        while (true) {
            if (size == inflated.length) {
                // One more than is allowed, to tell whether there is more.
                long most = Math.min(Math.max(size, (long) bytesMax) + 1, Integer.MAX_VALUE - 8);
                inflated = Arrays.copyOf(inflated, (int) Math.min(2L * size, most));
            }
            int read = in.read(inflated, size, inflated.length - size);
            if (read <= 0) {
                return size;
            }
            size += read;
            if (size > bytesMax) {
                throw new BatchFormatException("a batch of more than " + bytesMax + " bytes inflated");
            }
        }
    }

    private static Compression codec(int compression) {
        if (compression <= 0 || compression > CompressionType.ZSTD.id) {
            throw new BatchFormatException("a batch with codec " + compression);
        }
        return Compression.of(CompressionType.forId(compression)).build();
    }
}
