package io.varve.tiering.core;

import io.varve.base.Invariant;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Adjoining offloaded segments of one partition, as they were when they left Raft. Immutable.
 *
 * <pre>
 *  magic "VARVEMFL" 8 | major 2 | minor 2 | topic id 16 | partition 4 | segment bytes 4 | object bytes 4
 *  | segments 4, each: id 8, epoch 4, start 8, end 8, bytes 8, max timestamp 8, created ms 8, sealed ms 8, acks 4, object 4
 *  | objects 4, each: attempt id 8, length 8, crc 4, start 8, end 8, max timestamp 8
 *  | crc 4
 * </pre>
 *
 * Big-endian; {@code object} is a number in the table of objects, whose keys follow from cluster, partition, start and attempt;
 * {@code crc} covers all before it.
 *
 * @param segments in order, adjoining, each with its object
 */
public record ManifestLeaf(PartitionId partition, List<SegmentDescriptor> segments) {

    /** A leaf of this many segments is full. */
    public static final int SEGMENTS_MAX = 4096;

    private static final long MAGIC = 0x56_41_52_56_45_4d_46_4cL;
    private static final int SEGMENT_BYTES = 68;
    private static final int OBJECT_BYTES = 44;
    private static final int HEAD_BYTES = 40;

    public ManifestLeaf {
        segments = List.copyOf(segments);
        Invariant.check(!segments.isEmpty() && segments.size() <= SEGMENTS_MAX, "a leaf's size", segments.size());
    }

    /** The first offset described. */
    public long startOffset() {
        return segments.get(0).startOffset();
    }

    /** Exclusive. */
    public long endOffset() {
        return segments.get(segments.size() - 1).endOffset();
    }

    /** The segment that covers an offset. */
    public Optional<SegmentDescriptor> at(long offset) {
        int low = 0;
        int high = segments.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            SegmentDescriptor segment = segments.get(middle);
            if (segment.covers(offset)) {
                return Optional.of(segment);
            }
            if (offset < segment.startOffset()) {
                high = middle - 1;
            } else {
                low = middle + 1;
            }
        }
        return Optional.empty();
    }

    /** The first segment that goes beyond {@code fromOffset} and may have a record at or after a time. */
    public Optional<SegmentDescriptor> atTimestamp(long timestampMs, long fromOffset) {
        return segments.stream()
                .filter(segment -> segment.endOffset() > fromOffset && timestampMsMost(segment) >= timestampMs)
                .findFirst();
    }

    /** No record of the segment has a larger time: of one that was sealed by somebody who didn't know, its object's. */
    public static long timestampMsMost(SegmentDescriptor segment) {
        return segment.maxTimestampMs() >= 0
                ? segment.maxTimestampMs()
                : segment.object().orElseThrow().maxTimestampMs();
    }

    /**
     * Leaves for a run of segments, as full as they can be if all that a leaf names is to begin in it, or before the first: so no object is in two of them, and what a listing of the bucket shows between two
     * offsets is named by the leaves between those.
     *
     * @param segments in order, adjoining, not empty
     */
    public static List<ManifestLeaf> cut(PartitionId partition, List<SegmentDescriptor> segments) {
        long[] starts = lowestStarts(segments);
        List<ManifestLeaf> leaves = new ArrayList<>();
        int from = 0;
        while (from < segments.size()) {
            int end = Math.min(segments.size(), from + SEGMENTS_MAX);
            while (end < segments.size() && starts[end] < segments.get(end).startOffset()) {
                end--;
            }
            Invariant.check(end > from, "objects that overlap have no more segments than a leaf", from);
            leaves.add(new ManifestLeaf(partition, segments.subList(from, end)));
            from = end;
        }
        return leaves;
    }

    /** Where the first object begins that a segment or one behind it is in. */
    private static long[] lowestStarts(List<SegmentDescriptor> segments) {
        long[] starts = new long[segments.size()];
        long lowest = Long.MAX_VALUE;
        for (int i = segments.size() - 1; i >= 0; i--) {
            lowest = Math.min(lowest, segments.get(i).object().orElseThrow().startOffset());
            starts[i] = lowest;
        }
        return starts;
    }

    /** How many bytes this takes in memory, nearly. */
    public long memoryBytes() {
        return 64 + 400L * segments.size();
    }

    /** The leaf's bytes, from 0 to the limit. */
    public ByteBuffer encode(String clusterId) {
        TreeMap<Long, Integer> numbers = new TreeMap<>();
        List<ObjectRef> objects = new ArrayList<>();
        for (SegmentDescriptor segment : segments) {
            ObjectRef object = segment.object().orElseThrow();
            Invariant.check(
                    object.key().equals(key(clusterId, object.startOffset(), object.attemptId())),
                    "an object's key follows from its attempt",
                    object.attemptId());
            if (numbers.putIfAbsent(object.attemptId(), objects.size()) == null) {
                objects.add(object);
            }
        }
        ByteBuffer to = ByteBuffer.allocate(
                HEAD_BYTES + 4 + segments.size() * SEGMENT_BYTES + 4 + objects.size() * OBJECT_BYTES + 4);
        to.putLong(MAGIC)
                .putShort((short) ObjectFormat.MAJOR)
                .putShort((short) ObjectFormat.MINOR)
                .putLong(partition.topic().high())
                .putLong(partition.topic().low())
                .putInt(partition.index())
                .putInt(SEGMENT_BYTES)
                .putInt(OBJECT_BYTES);
        to.putInt(segments.size());
        for (SegmentDescriptor segment : segments) {
            to.putLong(segment.id().value())
                    .putInt(segment.epoch())
                    .putLong(segment.startOffset())
                    .putLong(segment.endOffset())
                    .putLong(segment.bytes())
                    .putLong(segment.maxTimestampMs())
                    .putLong(segment.createdMs())
                    .putLong(segment.sealedMs())
                    .putInt(segment.acks())
                    .putInt(numbers.get(segment.object().orElseThrow().attemptId()));
        }
        to.putInt(objects.size());
        for (ObjectRef object : objects) {
            to.putLong(object.attemptId())
                    .putLong(object.length())
                    .putInt(object.crc32c())
                    .putLong(object.startOffset())
                    .putLong(object.endOffset())
                    .putLong(object.maxTimestampMs());
        }
        to.putInt(Crc.of(to, 0, to.position()));
        return to.flip();
    }

    /**
     * Reads a leaf.
     *
     * @throws ObjectFormatException if it is damaged, of a later major version, or has a gap or an overlap (I-8)
     */
    public static ManifestLeaf decode(ByteBuffer bytes, String clusterId) throws ObjectFormatException {
        FieldReader from = ManifestBytes.open(bytes, MAGIC);
        PartitionId partition = new PartitionId(new TopicId(from.int64(), from.int64()), from.count("partition", 0));
        int segmentBytes = from.atLeast("segment bytes", SEGMENT_BYTES);
        int objectBytes = from.atLeast("object bytes", OBJECT_BYTES);
        int count = from.count("segments", segmentBytes);
        if (count == 0 || count > SEGMENTS_MAX) {
            throw ObjectFormatException.corrupt("a leaf of " + count + " segments");
        }
        FieldReader table = from.section(count * segmentBytes);
        int objectCount = from.count("objects", objectBytes);
        List<ObjectRef> objects = new ArrayList<>(objectCount);
        for (int i = 0; i < objectCount; i++) {
            objects.add(object(from.section(objectBytes), clusterId, partition));
        }
        List<SegmentDescriptor> segments = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            segments.add(segment(table.section(segmentBytes), partition, objects));
        }
        for (int i = 1; i < count; i++) {
            if (segments.get(i).startOffset() != segments.get(i - 1).endOffset()) {
                throw ObjectFormatException.corrupt(
                        "a leaf's segments do not adjoin at " + segments.get(i).startOffset());
            }
        }
        return new ManifestLeaf(partition, segments);
    }

    private static ObjectRef object(FieldReader from, String clusterId, PartitionId partition)
            throws ObjectFormatException {
        long attemptId = from.int64();
        long length = from.int64();
        int crc = from.int32();
        long startOffset = from.int64();
        return new ObjectRef(
                ObjectKeys.segment(clusterId, partition, startOffset, attemptId),
                attemptId,
                length,
                crc,
                startOffset,
                from.int64(),
                from.int64());
    }

    private static SegmentDescriptor segment(FieldReader from, PartitionId partition, List<ObjectRef> objects)
            throws ObjectFormatException {
        long id = from.int64();
        int epoch = from.int32();
        long startOffset = from.int64();
        long endOffset = from.int64();
        long bytes = from.int64();
        long maxTimestampMs = from.int64();
        long createdMs = from.int64();
        long sealedMs = from.int64();
        int acks = from.int32();
        int object = from.int32();
        if (id <= 0
                || startOffset < 0
                || endOffset <= startOffset
                || acks < 1
                || object < 0
                || object >= objects.size()) {
            throw ObjectFormatException.corrupt("a leaf's segment " + id + " makes no sense");
        }
        return new SegmentDescriptor(
                new SegmentId(id),
                partition,
                epoch,
                SegmentDescriptor.State.SEALED,
                startOffset,
                endOffset,
                acks,
                List.of(),
                List.of(),
                bytes,
                maxTimestampMs,
                createdMs,
                sealedMs,
                Optional.of(objects.get(object)));
    }

    private String key(String clusterId, long startOffset, long attemptId) {
        return ObjectKeys.segment(clusterId, partition, startOffset, attemptId);
    }
}
