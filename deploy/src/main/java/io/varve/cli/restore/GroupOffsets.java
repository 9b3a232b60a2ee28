package io.varve.cli.restore;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.RestoredPartition;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.protocol.storage.EntryFormat;
import io.varve.serving.tools.CommittedOffsets;
import io.varve.serving.tools.CommittedOffsets.Correction;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.RemoteSegments;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;

/**
 * Sets committed offsets back that lie beyond the ends of restored logs, by an object with as many records, appended to the restored chain of the partition that holds them. One
 * thread, which it blocks.
 */
final class GroupOffsets {

    private static final int READ_BYTES = 4 << 20;

    /** Ids are taken from the middle of what the restored metadata leaves out: nobody ever had them, and nobody will. */
    private static final long IDS_LEFT_OUT = 500_000;

    private final RemoteSegments reader;
    private final Offloader writer;
    private final List<String> lost;
    private final Map<String, Topic> topics = new TreeMap<>();
    private final Map<PartitionId, RestoredPartition> partitions = new TreeMap<>();
    private long lastSegmentId;
    private long lastAttemptId;

    /**
     * @param lost takes a line for each offset set back, and for each partition whose offsets can't be had
     */
    GroupOffsets(
            RemoteSegments reader,
            Offloader writer,
            List<Topic> topics,
            List<RestoredPartition> partitions,
            List<String> lost) {
        this.reader = reader;
        this.writer = writer;
        this.lost = lost;
        topics.forEach(topic -> this.topics.put(topic.name(), topic));
        for (RestoredPartition partition : partitions) {
            this.partitions.put(partition.id(), partition);
            for (SegmentDescriptor segment : partition.segments()) {
                lastSegmentId = Math.max(lastSegmentId, segment.id().value());
                lastAttemptId =
                        Math.max(lastAttemptId, segment.object().orElseThrow().attemptId());
            }
        }
        lastSegmentId += IDS_LEFT_OUT;
        lastAttemptId += IDS_LEFT_OUT;
    }

    /** All partitions, those of groups' offsets put right. */
    List<RestoredPartition> corrected(long nowMs) {
        Topic offsets = topics.get(CommittedOffsets.TOPIC);
        if (offsets == null) {
            lost.add("committed offsets: the bucket has none");
            return List.copyOf(partitions.values());
        }
        for (int index = 0; index < offsets.partitions(); index++) {
            RestoredPartition partition = partitions.get(new PartitionId(offsets.id(), index));
            if (!partition.segments().isEmpty()) {
                correct(offsets, partition, nowMs);
            }
        }
        return List.copyOf(partitions.values());
    }

    private void correct(Topic offsets, RestoredPartition partition, long nowMs) {
        CommittedOffsets committed = new CommittedOffsets();
        try {
            for (SegmentDescriptor segment : partition.segments()) {
                read(segment, committed);
            }
        } catch (CompletionException e) {
            lost.add("committed offsets in " + offsets.name() + "-"
                    + partition.id().index() + " were not looked at: "
                    + e.getCause().getMessage());
            return;
        }
        int epoch = partition.epoch() - 1;
        List<Correction> corrections = committed.corrections(this::endOf, partition.endOffset(), epoch, nowMs, lost);
        if (!corrections.isEmpty()) {
            partitions.put(partition.id(), appended(offsets, partition, epoch, corrections, nowMs));
        }
    }

    private void read(SegmentDescriptor segment, CommittedOffsets committed) {
        ObjectRef object = segment.object().orElseThrow();
        long at = segment.startOffset();
        while (at < segment.endOffset()) {
            RemoteSegments.RemoteEntries read =
                    reader.read(object, segment.partition(), at, READ_BYTES).join();
            for (ByteBuffer entry : read.entries()) {
                // An object can hold the next segment as well.
                if (EntryFormat.firstOffset(entry, 0) < segment.endOffset()) {
                    committed.add(entry.slice(EntryFormat.HEADER_BYTES, EntryFormat.payloadLength(entry, 0)));
                }
            }
            at = read.nextOffset();
        }
    }

    private long endOf(String topic, int index) {
        Topic found = topics.get(topic);
        RestoredPartition partition = found == null ? null : partitions.get(new PartitionId(found.id(), index));
        return partition == null ? -1 : partition.endOffset();
    }

    private RestoredPartition appended(
            Topic topic, RestoredPartition before, int epoch, List<Correction> corrections, long nowMs) {
        long bytes = 0;
        for (Correction correction : corrections) {
            bytes += MemorySegment.entry(correction).remaining();
        }
        Correction last = corrections.get(corrections.size() - 1);
        SegmentDescriptor segment = new SegmentDescriptor(
                new SegmentId(++lastSegmentId),
                before.id(),
                epoch,
                SegmentDescriptor.State.SEALED,
                before.endOffset(),
                last.lastOffset() + 1,
                topic.acks(),
                List.of(),
                List.of(),
                bytes,
                nowMs,
                nowMs,
                nowMs,
                Optional.empty());
        ObjectRef object = writer.offload(
                        new Offloader.OffloadAttempt(++lastAttemptId, topic.name(), before.id()),
                        List.of(MemorySegment.of(segment, corrections)))
                .join();
        List<SegmentDescriptor> segments = new ArrayList<>(before.segments());
        segments.add(withObject(segment, object));
        return new RestoredPartition(before.id(), before.logStartOffset(), before.manifest(), segments, before.epoch());
    }

    private static SegmentDescriptor withObject(SegmentDescriptor segment, ObjectRef object) {
        return new SegmentDescriptor(
                segment.id(),
                segment.partition(),
                segment.epoch(),
                segment.state(),
                segment.startOffset(),
                segment.endOffset(),
                segment.acks(),
                segment.replicas(),
                segment.unconfirmed(),
                segment.bytes(),
                segment.maxTimestampMs(),
                segment.createdMs(),
                segment.sealedMs(),
                Optional.of(object));
    }
}
