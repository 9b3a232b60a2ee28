package io.varve.bookie.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.protocol.storage.EntryFormat;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One bookie's replicas and fences in memory, by the rules of DESIGN part 4. One owner.
 *
 * <p>What is done to it is durable once {@link #sync} was called; until that {@link #tear} takes back the end of it, as a power cut does to the tail of a journal.
 */
final class InMemoryBookie {

    private static final int CHECKPOINTS_KEPT = 2;

    final int id;
    long incarnation;
    boolean readOnly;
    /** Whether it lost a disk and with it the right to say what was never there (I-5). */
    boolean lostDisk;

    private final TreeMap<SegmentId, Copy> copies = new TreeMap<>();
    private final TreeMap<PartitionId, Integer> fences = new TreeMap<>();
    /** The fences that a power cut leaves. */
    private final TreeMap<PartitionId, Integer> durableFences = new TreeMap<>();
    /** Takes back what was done since the last sync, the last first. */
    private final ArrayDeque<Runnable> undo = new ArrayDeque<>();

    InMemoryBookie(int id, long incarnation) {
        this.id = id;
        this.incarnation = incarnation;
    }

    // ---- durability

    /** Everything done so far is durable. */
    void sync() {
        undo.clear();
        durableFences.clear();
        durableFences.putAll(fences);
        copies.values().forEach(copy -> {
            copy.durable = true;
            copy.durableEnd = copy.end;
        });
    }

    /**
     * A power cut: of what was done since the last sync, in its order, only a part is there afterwards.
     *
     * @param share from 0, nothing, to 1, everything
     */
    void tear(double share) {
        long lost = undo.size() - Math.round(share * undo.size());
        for (long i = 0; i < lost; i++) {
            undo.removeLast().run();
        }
        sync();
    }

    // ---- what it is asked

    /** An answer to an open, an append or a seal: {@code end} is -1 if there is none. */
    record Answer(BookieStatus status, long end) {}

    Answer open(PartitionId partition, SegmentId segment, int epoch, long startOffset, long wantedIncarnation) {
        if (epoch < fence(partition)) {
            return new Answer(BookieStatus.FENCED, -1);
        }
        if (wantedIncarnation != 0 && wantedIncarnation != incarnation) {
            return new Answer(BookieStatus.UNKNOWN, -1);
        }
        Copy there = copies.get(segment);
        if (there != null) {
            if (there.epoch != epoch) {
                return new Answer(BookieStatus.FENCED, -1);
            }
            return there.sealedEnd >= 0
                    ? new Answer(BookieStatus.SEALED, there.end)
                    : new Answer(BookieStatus.OK, there.end);
        }
        if (readOnly) {
            return new Answer(BookieStatus.READ_ONLY, -1);
        }
        copies.put(segment, new Copy(partition, epoch, startOffset));
        undo.add(() -> copies.remove(segment));
        return new Answer(BookieStatus.OK, startOffset);
    }

    Answer append(SegmentId segment, int epoch, long first, long last, int crc, byte[] payload, long highWatermark) {
        Copy copy = copies.get(segment);
        if (copy == null) {
            return new Answer(lostDisk ? BookieStatus.UNKNOWN : BookieStatus.NO_SUCH_SEGMENT, -1);
        }
        if (epoch < fence(copy.partition) || epoch != copy.epoch) {
            return new Answer(BookieStatus.FENCED, copy.end);
        }
        if (EntryFormat.checksum(first, last, ByteBuffer.wrap(payload)) != crc) {
            return new Answer(BookieStatus.BAD_CHECKSUM, copy.end);
        }
        copy.highWatermark = Math.max(copy.highWatermark, highWatermark);
        if (last < copy.end) {
            return new Answer(BookieStatus.OK, copy.end);
        }
        if (copy.sealedEnd >= 0) {
            return new Answer(BookieStatus.SEALED, copy.end);
        }
        if (first != copy.end) {
            return new Answer(first > copy.end ? BookieStatus.GAP : BookieStatus.INVALID, copy.end);
        }
        if (readOnly) {
            return new Answer(BookieStatus.READ_ONLY, copy.end);
        }
        ByteBuffer entry = ByteBuffer.allocate(EntryFormat.HEADER_BYTES + payload.length);
        EntryFormat.putHeader(entry, first, last, payload.length, crc);
        copy.entries.put(first, entry.put(payload).array());
        copy.end = last + 1;
        undo.add(() -> {
            copy.entries.remove(first);
            copy.end = first;
        });
        return new Answer(BookieStatus.OK, copy.end);
    }

    void checkpoint(SegmentId segment, int epoch, long offset, byte[] state) {
        Copy copy = copies.get(segment);
        if (copy != null && epoch >= fence(copy.partition) && copy.sealedEnd < 0) {
            TreeMap<Long, byte[]> before = new TreeMap<>(copy.checkpoints);
            copy.checkpoints.put(offset, state);
            if (copy.checkpoints.size() > CHECKPOINTS_KEPT) {
                copy.checkpoints.pollFirstEntry();
            }
            undo.add(() -> {
                copy.checkpoints.clear();
                copy.checkpoints.putAll(before);
            });
        }
    }

    void seal(SegmentId segment, int epoch, long end) {
        Copy copy = copies.get(segment);
        if (copy != null && epoch >= fence(copy.partition)) {
            long before = copy.sealedEnd;
            copy.sealedEnd = end;
            undo.add(() -> copy.sealedEnd = before);
        }
    }

    /** A copy made by repair takes the place of whatever was there of it. */
    void importCopy(
            PartitionId partition, SegmentId segment, int epoch, long start, long sealedEnd, List<byte[]> entries) {
        Copy made = new Copy(partition, epoch, start);
        for (byte[] entry : entries) {
            ByteBuffer bytes = ByteBuffer.wrap(entry);
            made.entries.put(EntryFormat.firstOffset(bytes, 0), entry);
            made.end = EntryFormat.lastOffset(bytes, 0) + 1;
        }
        made.sealedEnd = sealedEnd;
        Copy before = copies.put(segment, made);
        if (before != null) {
            // Until the new copy is durable a power cut leaves the one before.
            made.durable = before.durable;
            made.durableEnd = before.durableEnd;
        }
        undo.add(() -> {
            if (before == null) {
                copies.remove(segment);
            } else {
                copies.put(segment, before);
            }
        });
    }

    FenceReply fence(FenceRequest request) {
        int standing = fence(request.partition());
        if (standing > request.epoch()) {
            return new FenceReply(BookieStatus.FENCED, -1, -1, 0, false, standing);
        }
        Integer before = fences.put(request.partition(), request.epoch());
        undo.add(() -> {
            if (before == null) {
                fences.remove(request.partition());
            } else {
                fences.put(request.partition(), before);
            }
        });
        return describe(request.segment(), request.incarnation(), request.epoch());
    }

    FenceReply describe(SegmentId segment, long wantedIncarnation, int fenceEpoch) {
        Copy copy = copies.get(segment);
        if (copy != null) {
            return new FenceReply(
                    BookieStatus.OK, copy.end, copy.highWatermark, incarnation, copy.sealedEnd >= 0, fenceEpoch);
        }
        boolean vouches = wantedIncarnation == 0 ? !lostDisk : wantedIncarnation == incarnation;
        return new FenceReply(
                vouches ? BookieStatus.NO_SUCH_SEGMENT : BookieStatus.UNKNOWN, -1, -1, 0, false, fenceEpoch);
    }

    ReadReply read(SegmentId segment, long fromOffset, int maxBytes) {
        Copy copy = copies.get(segment);
        if (copy == null) {
            return nothing(lostDisk ? BookieStatus.UNKNOWN : BookieStatus.NO_SUCH_SEGMENT, -1, -1);
        }
        if (fromOffset >= copy.end) {
            return nothing(BookieStatus.BEYOND_END, copy.end, copy.highWatermark);
        }
        Map.Entry<Long, byte[]> holder = copy.entries.floorEntry(fromOffset);
        if (holder == null) {
            return nothing(BookieStatus.INVALID, copy.end, copy.highWatermark);
        }
        ByteBuf entries = Unpooled.buffer();
        for (byte[] entry : copy.entries.tailMap(holder.getKey(), true).values()) {
            if (!EntryFormat.isIntact(ByteBuffer.wrap(entry), 0)) {
                if (!entries.isReadable()) {
                    return nothing(BookieStatus.CORRUPT, copy.end, copy.highWatermark);
                }
                break;
            }
            if (entries.isReadable() && entries.readableBytes() + entry.length > maxBytes) {
                break;
            }
            entries.writeBytes(entry);
        }
        return new ReadReply(BookieStatus.OK, entries, copy.end, copy.highWatermark);
    }

    CheckpointReply readCheckpoint(SegmentId segment, long atMost) {
        Copy copy = copies.get(segment);
        if (copy == null) {
            return new CheckpointReply(
                    lostDisk ? BookieStatus.UNKNOWN : BookieStatus.NO_SUCH_SEGMENT, -1, Unpooled.EMPTY_BUFFER);
        }
        Map.Entry<Long, byte[]> newest = copy.checkpoints.floorEntry(atMost);
        return newest == null
                ? new CheckpointReply(BookieStatus.BEYOND_END, -1, Unpooled.EMPTY_BUFFER)
                : new CheckpointReply(BookieStatus.OK, newest.getKey(), Unpooled.wrappedBuffer(newest.getValue()));
    }

    void loseDisk(long newIncarnation) {
        copies.clear();
        fences.clear();
        sync();
        incarnation = newIncarnation;
        lostDisk = true;
    }

    void forgetFences() {
        fences.clear();
        durableFences.clear();
    }

    // ---- what oracles see: what a power cut leaves

    List<SegmentId> segments() {
        return copies.entrySet().stream()
                .filter(copy -> copy.getValue().durable)
                .map(Map.Entry::getKey)
                .toList();
    }

    int epoch(SegmentId segment) {
        return copies.get(segment).epoch;
    }

    PartitionId partition(SegmentId segment) {
        return copies.get(segment).partition;
    }

    void corrupt(SegmentId segment, long offset) {
        byte[] entry = copies.get(segment).entries.floorEntry(offset).getValue();
        entry[entry.length - 1] ^= 1;
    }

    void delete(SegmentId segment) {
        Copy before = copies.remove(segment);
        if (before != null) {
            undo.add(() -> copies.put(segment, before));
        }
    }

    private int fence(PartitionId partition) {
        return fences.getOrDefault(partition, -1);
    }

    int durableFence(PartitionId partition) {
        return durableFences.getOrDefault(partition, -1);
    }

    long durableEnd(SegmentId segment) {
        Copy copy = copies.get(segment);
        return copy == null || !copy.durable ? -1 : copy.durableEnd;
    }

    byte[] entry(SegmentId segment, long firstOffset) {
        Copy copy = copies.get(segment);
        return copy == null || firstOffset >= copy.durableEnd ? null : copy.entries.get(firstOffset);
    }

    /** The newest checkpoint, or null. */
    Map.Entry<Long, byte[]> lastCheckpoint(SegmentId segment) {
        Copy copy = copies.get(segment);
        return copy == null ? null : copy.checkpoints.lastEntry();
    }

    List<byte[]> entries(SegmentId segment) {
        Copy copy = copies.get(segment);
        return copy == null ? List.of() : new ArrayList<>(copy.entries.values());
    }

    private static ReadReply nothing(BookieStatus status, long end, long highWatermark) {
        return new ReadReply(status, Unpooled.EMPTY_BUFFER, end, highWatermark);
    }

    private static final class Copy {
        final PartitionId partition;
        final int epoch;
        final TreeMap<Long, byte[]> entries = new TreeMap<>();
        final TreeMap<Long, byte[]> checkpoints = new TreeMap<>();
        long end;
        boolean durable;
        long durableEnd;
        long highWatermark = -1;
        long sealedEnd = -1;

        Copy(PartitionId partition, int epoch, long start) {
            this.partition = partition;
            this.epoch = epoch;
            this.end = start;
            this.durableEnd = start;
        }
    }
}
