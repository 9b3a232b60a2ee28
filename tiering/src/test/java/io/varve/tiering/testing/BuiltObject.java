package io.varve.tiering.testing;

import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.core.Block;
import io.varve.tiering.core.BlockCompression;
import io.varve.tiering.core.ObjectBuilder;
import io.varve.tiering.core.ObjectFormat;
import io.varve.tiering.core.ObjectFormatException;
import io.varve.tiering.core.ObjectTail;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import java.util.zip.CRC32C;

/** An object in memory, with what went into it. */
public record BuiltObject(
        byte[] bytes,
        List<TestSegments.Segment> segments,
        BlockCompression compression,
        ObjectBuilder.Written written) {

    /** Writes segments into an object. */
    public static BuiltObject of(List<TestSegments.Segment> segments, int blockBytes, BlockCompression compression)
            throws ObjectFormatException {
        return of(segments, blockBytes, compression, SegmentDescriptor::startOffset);
    }

    /** Writes segments into an object, each with a checkpoint of an offset. */
    public static BuiltObject of(
            List<TestSegments.Segment> segments,
            int blockBytes,
            BlockCompression compression,
            ToLongFunction<SegmentDescriptor> checkpointOffset)
            throws ObjectFormatException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ObjectBuilder<RuntimeException> builder = new ObjectBuilder<>(
                new ObjectBuilder.Identity(TestSegments.CLUSTER, "orders", TestSegments.PARTITION, 77, 5000),
                blockBytes,
                compression,
                bytes -> {
                    byte[] copy = new byte[bytes.remaining()];
                    bytes.get(copy);
                    out.writeBytes(copy);
                });
        for (TestSegments.Segment segment : segments) {
            builder.beginSegment(segment.descriptor());
            for (ByteBuffer entry : segment.entries()) {
                builder.append(entry.duplicate());
            }
            builder.endSegment(
                    checkpointOffset.applyAsLong(segment.descriptor()),
                    segment.checkpoint().orElse(null));
        }
        ObjectBuilder.Written written = builder.finish();
        return new BuiltObject(out.toByteArray(), segments, compression, written);
    }

    /** A copy of a range, from 0 to its limit. */
    public ByteBuffer range(long from, int length) {
        byte[] range = new byte[length];
        System.arraycopy(bytes, (int) from, range, 0, length);
        return ByteBuffer.wrap(range);
    }

    /** The tail, read as a reader reads it. */
    public ObjectTail tail() throws ObjectFormatException {
        int guess = Math.min(bytes.length, ObjectFormat.TAIL_GUESS_BYTES);
        ObjectTail.Result result = ObjectTail.decode(range(bytes.length - guess, guess), bytes.length);
        if (result instanceof ObjectTail.Result.More more) {
            result = ObjectTail.decode(range(bytes.length - more.bytes(), more.bytes()), bytes.length);
        }
        return ((ObjectTail.Result.Found) result).tail();
    }

    /** A block, read as a reader reads it. */
    public Block block(ObjectTail tail, int block) throws ObjectFormatException {
        return Block.open(
                range(tail.index().position(block), tail.index().storedBytes(block)), tail, block, compression);
    }

    /** All entries, read back. */
    public List<ByteBuffer> entries() throws ObjectFormatException {
        ObjectTail tail = tail();
        List<ByteBuffer> entries = new ArrayList<>();
        for (int block = 0; block < tail.index().blocks(); block++) {
            entries.addAll(block(tail, block).entriesFrom(0, Integer.MAX_VALUE, true));
        }
        return entries;
    }

    /** The object as another version would have written it, with the trailer's checksum made right again. */
    public BuiltObject withVersion(int major, int minor) {
        byte[] changed = bytes.clone();
        ByteBuffer all = ByteBuffer.wrap(changed);
        int trailer = changed.length - ObjectFormat.TRAILER_BYTES;
        all.putShort(trailer + 16, (short) major).putShort(trailer + 18, (short) minor);
        int footerBytes = all.getInt(trailer + 4);
        CRC32C crc = new CRC32C();
        crc.update(changed, trailer - footerBytes, footerBytes + 20);
        all.putInt(trailer + 20, (int) crc.getValue());
        return new BuiltObject(changed, segments, compression, written);
    }

    /** The first entry that differs from what went in, if any. */
    public Optional<ByteBuffer> firstDifference() throws ObjectFormatException {
        List<ByteBuffer> wanted =
                segments.stream().flatMap(s -> s.entries().stream()).toList();
        List<ByteBuffer> got = entries();
        for (int i = 0; i < wanted.size(); i++) {
            if (i >= got.size() || !got.get(i).equals(wanted.get(i))) {
                return Optional.of(wanted.get(i));
            }
        }
        return Optional.empty();
    }
}
