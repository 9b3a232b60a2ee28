package io.varve.cli.restore;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.RestoredPartition;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.protocol.storage.EntryFormat;
import io.varve.serving.tools.CommittedOffsets;
import io.varve.serving.tools.CommittedOffsets.Correction;
import io.varve.tiering.api.ChainManifests;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import io.varve.tiering.api.RemoteSegments;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Sets committed offsets back that lie beyond the ends of restored logs, by an object with as many records, appended to the restored chain of the partition that holds them. One
 * thread, which it blocks.
 */
final class GroupOffsets {

    private static final int READ_BYTES = 4 << 20;

    /** Beyond what a call takes that is tried again and again. */
    private static final long ANSWER_MS_MAX = 300_000;

    /** Ids are taken from the middle of what the restored metadata leaves out: nobody ever had them, and nobody will. */
    private static final long IDS_LEFT_OUT = 500_000;

    private final RemoteSegments reader;
    private final ChainManifests manifests;
    private final Optional<Offloader> writer;
    private final List<String> lost;
    private final Map<String, Topic> topics = new TreeMap<>();
    private final Map<PartitionId, RestoredPartition> partitions = new TreeMap<>();
    private long lastSegmentId;
    private long lastAttemptId;

    /**
     * @param writer of the objects; empty for saying what would be set back, and writing nothing
     * @param lost takes a line for each offset set back, and for each partition whose offsets can't be had
     */
    GroupOffsets(
            RemoteSegments reader,
            ChainManifests manifests,
            Optional<Offloader> writer,
            List<Topic> topics,
            List<RestoredPartition> partitions,
            List<String> lost) {
        this.reader = reader;
        this.manifests = manifests;
        this.writer = writer;
        this.lost = lost;
        topics.forEach(topic -> this.topics.put(topic.name(), topic));
        for (RestoredPartition partition : partitions) {
            this.partitions.put(partition.id(), partition);
            partition.segments().forEach(this::noteIds);
        }
    }

    /** All partitions, those of groups' offsets put right. */
    List<RestoredPartition> corrected(long nowMs) {
        Topic offsets = topics.get(CommittedOffsets.TOPIC);
        if (offsets == null) {
            lost.add("committed offsets: the bucket has none");
            return List.copyOf(partitions.values());
        }
        try {
            noteIdsOfManifests();
        } catch (RemoteReadException e) {
            lost.add("committed offsets: not looked at, for " + e.getMessage());
            return List.copyOf(partitions.values());
        }
        lastSegmentId += IDS_LEFT_OUT;
        lastAttemptId += IDS_LEFT_OUT;
        for (int index = 0; index < offsets.partitions(); index++) {
            RestoredPartition partition = partitions.get(new PartitionId(offsets.id(), index));
            if (!partition.segments().isEmpty() || partition.manifest().isPresent()) {
                correct(offsets, partition, nowMs);
            }
        }
        return List.copyOf(partitions.values());
    }

    private void noteIds(SegmentDescriptor segment) {
        lastSegmentId = Math.max(lastSegmentId, segment.id().value());
        lastAttemptId = Math.max(lastAttemptId, segment.object().orElseThrow().attemptId());
    }

    /** Along a chain ids rise, so the last segment of each manifest is enough. */
    private void noteIdsOfManifests() {
        for (RestoredPartition partition : partitions.values()) {
            ManifestRef manifest = partition.manifest().orElse(null);
            if (manifest != null) {
                lastAttemptId = Math.max(lastAttemptId, manifest.generation());
                noteIds(segmentAt(manifest, partition, manifest.endOffset() - 1));
            }
        }
    }

    private SegmentDescriptor segmentAt(ManifestRef manifest, RestoredPartition partition, long offset) {
        return got(manifests.segmentAt(manifest, partition.id(), offset))
                .orElseThrow(() -> new RemoteReadException(
                        Kind.CORRUPT, manifest.key() + " has no segment at offset " + offset, null));
    }

    private void correct(Topic offsets, RestoredPartition partition, long nowMs) {
        CommittedOffsets committed = new CommittedOffsets();
        try {
            if (partition.manifest().isPresent()) {
                read(partition.manifest().get(), partition, committed);
            }
            for (SegmentDescriptor segment : partition.segments()) {
                read(segment, committed);
            }
        } catch (RemoteReadException e) {
            lost.add("committed offsets in " + offsets.name() + "-"
                    + partition.id().index() + " were not looked at: " + e.getMessage());
            return;
        }
        int epoch = partition.epoch() - 1;
        List<Correction> corrections = committed.corrections(this::endOf, partition.endOffset(), epoch, nowMs, lost);
        if (!corrections.isEmpty() && writer.isPresent()) {
            partitions.put(partition.id(), appended(offsets, partition, epoch, corrections, nowMs));
        }
    }

    /** What only a manifest describes. */
    private void read(ManifestRef manifest, RestoredPartition partition, CommittedOffsets committed) {
        long at = Math.max(partition.logStartOffset(), manifest.startOffset());
        while (at < manifest.endOffset()) {
            SegmentDescriptor segment = segmentAt(manifest, partition, at);
            read(segment, committed);
            at = segment.endOffset();
        }
    }

    private void read(SegmentDescriptor segment, CommittedOffsets committed) {
        ObjectRef object = segment.object().orElseThrow();
        long at = segment.startOffset();
        while (at < segment.endOffset()) {
            RemoteSegments.RemoteEntries read = got(reader.read(object, segment.partition(), at, READ_BYTES));
            try {
                add(read.entries().nioBuffer(), segment, committed);
            } finally {
                read.entries().release();
            }
            at = read.nextOffset();
        }
    }

    /** An object can hold the next segment as well: that is left out. */
    private static void add(ByteBuffer entries, SegmentDescriptor segment, CommittedOffsets committed) {
        int at = entries.position();
        while (at < entries.limit() && EntryFormat.firstOffset(entries, at) < segment.endOffset()) {
            int bytes = EntryFormat.payloadLength(entries, at);
            committed.add(entries.slice(at + EntryFormat.HEADER_BYTES, bytes));
            at += EntryFormat.HEADER_BYTES + bytes;
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
        ObjectRef object = got(writer.orElseThrow()
                .offload(
                        new Offloader.OffloadAttempt(++lastAttemptId, topic.name(), before.id()),
                        List.of(MemorySegment.of(segment, corrections))));
        List<SegmentDescriptor> segments = new ArrayList<>(before.segments());
        segments.add(withObject(segment, object));
        return new RestoredPartition(before.id(), before.logStartOffset(), before.manifest(), segments, before.epoch());
    }

    /**
     * What a store's answer is, if there is one in good time: the store has deadlines of its own, but not for what waits for it in a queue.
     *
     * @throws RemoteReadException if there is none
     */
    private static <T> T got(CompletableFuture<T> answer) {
        try {
            return answer.get(ANSWER_MS_MAX, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RemoteReadException told) {
                throw told;
            }
            throw new RemoteReadException(Kind.UNAVAILABLE, String.valueOf(e.getCause()), e.getCause());
        } catch (TimeoutException e) {
            throw new RemoteReadException(Kind.UNAVAILABLE, "no answer within " + ANSWER_MS_MAX + " ms", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RemoteReadException(Kind.UNAVAILABLE, "interrupted", e);
        }
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
