package io.varve.tiering.core;

import io.varve.base.Invariant;
import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.model.SegmentDescriptor;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The leaves of a partition's manifest. Immutable. Ten million segments have 2,442 leaves, and so a root of 172 KiB.
 *
 * <pre>
 *  magic "VARVEMFR" 8 | major 2 | minor 2 | topic id 16 | partition 4 | generation 8 | leaf bytes 4
 *  | leaves 4, each: generation 8, number 4, start 8, end 8, segments 4, bytes 8, max timestamp 8, age stamp 8, first epoch 4, last epoch 4,
 *    length 4, crc 4
 *  | crc 4
 * </pre>
 *
 * Big-endian; {@code crc} covers all before it. Generations are numbers that the metadata service gives out once, so no key is written twice.
 *
 * @param generation of this root
 * @param leaves in order, adjoining
 */
public record ManifestRoot(PartitionId partition, long generation, List<Leaf> leaves) {

    private static final long MAGIC = 0x56_41_52_56_45_4d_46_52L;
    private static final int LEAF_BYTES = 72;
    private static final int HEAD_BYTES = 44;

    public ManifestRoot {
        leaves = List.copyOf(leaves);
    }

    /**
     * Where a leaf is and what is in it.
     *
     * @param generation in which it was written
     * @param number of those written in it
     * @param startOffset the first offset described
     * @param endOffset exclusive
     * @param segments how many
     * @param bytes of them
     * @param maxTimestampMs the largest record time that may be in it, {@code -1} if none
     * @param ageStampMs of its youngest segment
     * @param firstEpoch of its first segment
     * @param lastEpoch of its last segment
     * @param length of the leaf
     * @param crc of the leaf
     */
    public record Leaf(
            long generation,
            int number,
            long startOffset,
            long endOffset,
            int segments,
            long bytes,
            long maxTimestampMs,
            long ageStampMs,
            int firstEpoch,
            int lastEpoch,
            int length,
            int crc) {}

    /** The leaf that covers an offset. */
    public Optional<Leaf> at(long offset) {
        int low = 0;
        int high = leaves.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            Leaf leaf = leaves.get(middle);
            if (offset >= leaf.startOffset() && offset < leaf.endOffset()) {
                return Optional.of(leaf);
            }
            if (offset < leaf.startOffset()) {
                high = middle - 1;
            } else {
                low = middle + 1;
            }
        }
        return Optional.empty();
    }

    /** The first leaf that goes beyond {@code fromOffset} and may have a record at or after a time. */
    public Optional<Leaf> atTimestamp(long timestampMs, long fromOffset) {
        return leaves.stream()
                .filter(leaf -> leaf.endOffset() > fromOffset && leaf.maxTimestampMs() >= timestampMs)
                .findFirst();
    }

    /** How many bytes this takes in memory, nearly. */
    public long memoryBytes() {
        return 128 + 96L * leaves.size();
    }

    /** What a root says of a leaf. */
    public static Leaf describe(ManifestLeaf leaf, ByteBuffer encoded, long generation, int number) {
        var segments = leaf.segments();
        return new Leaf(
                generation,
                number,
                leaf.startOffset(),
                leaf.endOffset(),
                segments.size(),
                segments.stream().mapToLong(s -> Math.max(0, s.bytes())).sum(),
                segments.stream().mapToLong(ManifestLeaf::timestampMsMost).max().orElse(-1),
                segments.stream().mapToLong(SegmentDescriptor::ageStampMs).max().orElse(-1),
                segments.get(0).epoch(),
                segments.get(segments.size() - 1).epoch(),
                encoded.remaining(),
                Crc.of(encoded, encoded.position(), encoded.remaining()));
    }

    /** The root's bytes, from 0 to the limit. */
    public ByteBuffer encode() {
        Invariant.check(!leaves.isEmpty(), "a root has leaves");
        ByteBuffer to = ByteBuffer.allocate(HEAD_BYTES + 4 + leaves.size() * LEAF_BYTES + 4);
        to.putLong(MAGIC)
                .putShort((short) ObjectFormat.MAJOR)
                .putShort((short) ObjectFormat.MINOR)
                .putLong(partition.topic().high())
                .putLong(partition.topic().low())
                .putInt(partition.index())
                .putLong(generation)
                .putInt(LEAF_BYTES);
        to.putInt(leaves.size());
        for (Leaf leaf : leaves) {
            to.putLong(leaf.generation())
                    .putInt(leaf.number())
                    .putLong(leaf.startOffset())
                    .putLong(leaf.endOffset())
                    .putInt(leaf.segments())
                    .putLong(leaf.bytes())
                    .putLong(leaf.maxTimestampMs())
                    .putLong(leaf.ageStampMs())
                    .putInt(leaf.firstEpoch())
                    .putInt(leaf.lastEpoch())
                    .putInt(leaf.length())
                    .putInt(leaf.crc());
        }
        to.putInt(Crc.of(to, 0, to.position()));
        return to.flip();
    }

    /**
     * Reads a root.
     *
     * @throws ObjectFormatException if it is damaged, of a later major version, or has a gap or an overlap (I-8)
     */
    public static ManifestRoot decode(ByteBuffer bytes) throws ObjectFormatException {
        FieldReader from = ManifestBytes.open(bytes, MAGIC);
        PartitionId partition = new PartitionId(new TopicId(from.int64(), from.int64()), from.count("partition", 0));
        long generation = from.int64();
        int leafBytes = from.atLeast("leaf bytes", LEAF_BYTES);
        int count = from.count("leaves", leafBytes);
        List<Leaf> leaves = new ArrayList<>(count);
        long next = -1;
        for (int i = 0; i < count; i++) {
            Leaf leaf = leaf(from.section(leafBytes));
            if (next >= 0 && leaf.startOffset() != next || leaf.endOffset() <= leaf.startOffset()) {
                throw ObjectFormatException.corrupt("a root's leaves do not adjoin at " + leaf.startOffset());
            }
            if (leaf.length() <= 0 || leaf.length() > ObjectFormat.TAIL_BYTES_MAX) {
                throw ObjectFormatException.corrupt("a leaf of " + leaf.length() + " bytes");
            }
            next = leaf.endOffset();
            leaves.add(leaf);
        }
        return new ManifestRoot(partition, generation, leaves);
    }

    private static Leaf leaf(FieldReader from) throws ObjectFormatException {
        return new Leaf(
                from.int64(),
                from.int32(),
                from.int64(),
                from.int64(),
                from.int32(),
                from.int64(),
                from.int64(),
                from.int64(),
                from.int32(),
                from.int32(),
                from.int32(),
                from.int32());
    }
}
