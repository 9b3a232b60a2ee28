package io.varve.tiering.core;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What an object says of itself, so that a bucket alone is enough to rebuild a cluster. Big-endian, in this order; {@code string} is a
 * length of two bytes and UTF-8:
 *
 * <pre>
 *  cluster id string | topic name string | topic id 16 | partition 4 | attempt id 8 | start 8 | end 8 | max timestamp 8
 *  | entries 8 | raw bytes 8 | created ms 8 | header crc 4 | blocks end 8
 *  | index entry bytes 4 | index entries 4 | index crc 4
 *  | sections 4, each: type 4, tag 8, position 8, length 4, crc 4
 *  | segments 4, each: id 8, epoch 4, start 8, end 8, bytes 8, max timestamp 8, created ms 8, sealed ms 8
 *  | what a later minor version appends
 * </pre>
 *
 * @param clusterId whose bucket
 * @param topicName the topic's name when it was written
 * @param attemptId the upload's own number
 * @param startOffset the first offset held
 * @param endOffset exclusive
 * @param maxTimestampMs the largest record time, {@code -1} if none
 * @param entries how many entries
 * @param rawBytes their bytes before compression
 * @param createdMs wall time of the upload, for people
 * @param headerCrc the checksum in the header
 * @param blocksEnd where the last block ends
 * @param indexEntryBytes the length of an index entry
 * @param blocks how many blocks
 * @param indexCrc the checksum of the index
 * @param sections opaque stretches
 * @param segments the segments held, in order, adjoining
 */
public record ObjectFooter(
        String clusterId,
        String topicName,
        PartitionId partition,
        long attemptId,
        long startOffset,
        long endOffset,
        long maxTimestampMs,
        long entries,
        long rawBytes,
        long createdMs,
        int headerCrc,
        long blocksEnd,
        int indexEntryBytes,
        int blocks,
        int indexCrc,
        List<Section> sections,
        List<Segment> segments) {

    private static final int SECTION_BYTES = 28;
    private static final int SEGMENT_BYTES = 60;

    public ObjectFooter {
        Objects.requireNonNull(clusterId, "clusterId");
        Objects.requireNonNull(topicName, "topicName");
        Objects.requireNonNull(partition, "partition");
        sections = List.copyOf(sections);
        segments = List.copyOf(segments);
    }

    /**
     * An opaque stretch of the object.
     *
     * @param type one of {@code ObjectFormat.SECTION_…}; unknown ones are skipped
     * @param tag what the type makes of it
     * @param position of its first byte in the object
     * @param bytes its length
     * @param crc of its bytes
     */
    public record Section(int type, long tag, long position, int bytes, int crc) {}

    /**
     * One segment in the object.
     *
     * @param id its identity in the metadata
     * @param epoch the owner's epoch when it was allocated
     * @param startOffset its first offset
     * @param endOffset exclusive
     * @param bytes of its entries
     * @param maxTimestampMs its largest record time, {@code -1} if none
     * @param createdMs wall time
     * @param sealedMs wall time
     */
    public record Segment(
            SegmentId id,
            int epoch,
            long startOffset,
            long endOffset,
            long bytes,
            long maxTimestampMs,
            long createdMs,
            long sealedMs) {}

    /**
     * The newest checkpoint of an owner at or below {@code atMostOffset}. Where one segment ends and the next begins, both may have one at
     * that very offset: asked for exactly there, it is that of the segment that ends; asked for beyond, that of the one that begins.
     */
    public Optional<Section> checkpointAtMost(long atMostOffset) {
        Section found = null;
        for (Section section : sections) {
            if (section.type() != ObjectFormat.SECTION_CHECKPOINT || section.tag() > atMostOffset) {
                continue;
            }
            boolean later = found == null
                    || section.tag() > found.tag()
                    || section.tag() == found.tag() && section.tag() < atMostOffset;
            found = later ? section : found;
        }
        return Optional.ofNullable(found);
    }

    /** The footer's bytes, from 0 to the limit. */
    ByteBuffer encode() {
        byte[] cluster = clusterId.getBytes(StandardCharsets.UTF_8);
        byte[] topic = topicName.getBytes(StandardCharsets.UTF_8);
        ByteBuffer to = ByteBuffer.allocate(128
                + cluster.length
                + topic.length
                + sections.size() * SECTION_BYTES
                + segments.size() * SEGMENT_BYTES);
        to.putShort((short) cluster.length).put(cluster);
        to.putShort((short) topic.length).put(topic);
        to.putLong(partition.topic().high())
                .putLong(partition.topic().low())
                .putInt(partition.index())
                .putLong(attemptId)
                .putLong(startOffset)
                .putLong(endOffset)
                .putLong(maxTimestampMs)
                .putLong(entries)
                .putLong(rawBytes)
                .putLong(createdMs)
                .putInt(headerCrc)
                .putLong(blocksEnd)
                .putInt(indexEntryBytes)
                .putInt(blocks)
                .putInt(indexCrc);
        to.putInt(sections.size());
        for (Section section : sections) {
            to.putInt(section.type())
                    .putLong(section.tag())
                    .putLong(section.position())
                    .putInt(section.bytes())
                    .putInt(section.crc());
        }
        to.putInt(segments.size());
        for (Segment segment : segments) {
            to.putLong(segment.id().value())
                    .putInt(segment.epoch())
                    .putLong(segment.startOffset())
                    .putLong(segment.endOffset())
                    .putLong(segment.bytes())
                    .putLong(segment.maxTimestampMs())
                    .putLong(segment.createdMs())
                    .putLong(segment.sealedMs());
        }
        return to.flip();
    }

    /** Reads a footer whose checksum was found right. */
    static ObjectFooter decode(ByteBuffer bytes) throws ObjectFormatException {
        FieldReader from = new FieldReader(bytes);
        String clusterId = from.string();
        String topicName = from.string();
        TopicId topic = new TopicId(from.int64(), from.int64());
        PartitionId partition = new PartitionId(topic, from.count("partition", 0));
        long attemptId = from.int64();
        long startOffset = from.int64();
        long endOffset = from.int64();
        long maxTimestampMs = from.int64();
        long entries = from.int64();
        long rawBytes = from.int64();
        long createdMs = from.int64();
        int headerCrc = from.int32();
        long blocksEnd = from.int64();
        int indexEntryBytes = from.count("index entry bytes", 0);
        int blocks = from.count("index entries", 0);
        int indexCrc = from.int32();
        List<Section> sections = sections(from, blocksEnd);
        List<Segment> segments = segments(from);
        checkSegments(segments, startOffset, endOffset);
        return new ObjectFooter(
                clusterId,
                topicName,
                partition,
                attemptId,
                startOffset,
                endOffset,
                maxTimestampMs,
                entries,
                rawBytes,
                createdMs,
                headerCrc,
                blocksEnd,
                indexEntryBytes,
                blocks,
                indexCrc,
                sections,
                segments);
    }

    private static List<Section> sections(FieldReader from, long blocksEnd) throws ObjectFormatException {
        int count = from.count("sections", SECTION_BYTES);
        List<Section> sections = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            Section section = new Section(from.int32(), from.int64(), from.int64(), from.int32(), from.int32());
            if (section.position() < blocksEnd
                    || section.bytes() < 0
                    || section.bytes() > ObjectFormat.SECTION_BYTES_MAX) {
                throw ObjectFormatException.corrupt("section " + i + " makes no sense");
            }
            sections.add(section);
        }
        return sections;
    }

    private static List<Segment> segments(FieldReader from) throws ObjectFormatException {
        int count = from.count("segments", SEGMENT_BYTES);
        List<Segment> segments = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long id = from.int64();
            if (id <= 0) {
                throw ObjectFormatException.corrupt("a segment's id is not positive");
            }
            segments.add(new Segment(
                    new SegmentId(id),
                    from.int32(),
                    from.int64(),
                    from.int64(),
                    from.int64(),
                    from.int64(),
                    from.int64(),
                    from.int64()));
        }
        return segments;
    }

    /** I-8 holds inside an object too. */
    private static void checkSegments(List<Segment> segments, long startOffset, long endOffset)
            throws ObjectFormatException {
        long next = startOffset;
        for (Segment segment : segments) {
            if (segment.startOffset() != next || segment.endOffset() < next) {
                throw ObjectFormatException.corrupt("the object's segments do not adjoin at " + next);
            }
            next = segment.endOffset();
        }
        if (startOffset < 0 || segments.isEmpty() || next != endOffset) {
            throw ObjectFormatException.corrupt(
                    "the object's segments end at " + next + ", the object at " + endOffset);
        }
    }
}
