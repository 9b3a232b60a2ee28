package io.varve.itest.sim;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.InMemoryBookies;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.storage.EntryFormat;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * What clients were told, and what therefore must be so. It looks at the metadata and into the bookies with eyes of its own, and shares no code
 * with the owners.
 */
final class History {

    private final Supplier<MetadataImage> metadata;
    private final InMemoryBookies bookies;
    private final SimBucket bucket;
    /** Acknowledged batches of a partition: first offset to what. */
    private final TreeMap<PartitionId, TreeMap<Long, Acked>> acked = new TreeMap<>();
    /** What a reader or a producer was shown at an offset. */
    private final TreeMap<PartitionId, TreeMap<Long, Long>> shown = new TreeMap<>();

    private final TreeMap<PartitionId, Shown> highWatermarks = new TreeMap<>();
    private final TreeMap<PartitionId, Integer> epochs = new TreeMap<>();
    private final TreeSet<SegmentId> offloaded = new TreeSet<>();
    /** Numbers of batches that compaction may take: of those of no transaction some by its rule, and what was aborted. */
    private final TreeSet<Long> leavable = new TreeSet<>();

    private long acknowledged;
    private int disksLost;
    private MetadataImage checkedImage;

    History(Supplier<MetadataImage> metadata, InMemoryBookies bookies, SimBucket bucket) {
        this.metadata = metadata;
        this.bookies = bookies;
        this.bucket = bucket;
    }

    /** @param lastOffset inclusive */
    record Acked(long number, long lastOffset) {}

    private record Shown(int epoch, long highWatermark) {}

    /** A copy of everything may be gone with that disk, until it is repaired. */
    void onDiskLost() {
        disksLost++;
    }

    /** Everything is said to be repaired: from now on nothing may be short of a copy. */
    void onRepaired() {
        disksLost = 0;
    }

    /** I-11: an object goes only when no chain names it any more. */
    void onObjectDeleted(String key) {
        MetadataImage image = metadata.get();
        image.topics()
                .forEach(topic -> image.partitions(topic.id())
                        .forEach(partition -> partition
                                .chain()
                                .segments()
                                .forEach(segment -> require(
                                        segment.object()
                                                .filter(o -> o.key().equals(key))
                                                .isEmpty(),
                                        "I-11 the object " + key + " is deleted while segment " + segment.id()
                                                + " is in it"))));
    }

    long acknowledged() {
        return acknowledged;
    }

    TreeMap<Long, Acked> ackedOf(PartitionId partition) {
        return acked.getOrDefault(partition, new TreeMap<>());
    }

    /** A producer was told that its batch stands there. */
    void onAcked(PartitionId partition, long number, long firstOffset, long lastOffset) {
        acknowledged++;
        Acked before =
                acked.computeIfAbsent(partition, p -> new TreeMap<>()).put(firstOffset, new Acked(number, lastOffset));
        require(before == null || before.number() == number, "I-2 two batches acknowledged at " + firstOffset);
        onShown(partition, firstOffset, number);
        requireHeld(partition, firstOffset, number);
    }

    /** A batch of no transaction. */
    void onMayBeLeftOut(long number) {
        if (SimBatches.mayBeLeftOut(number)) {
            leavable.add(number);
        }
    }

    /** A batch whose transaction is, or will be, aborted. */
    void onAborted(long number) {
        leavable.add(number);
    }

    /** Whether compaction may have left out all that was acknowledged from one offset to another. */
    boolean mayBeLeftOut(PartitionId partition, long fromOffset, long toOffset) {
        Optional<SegmentDescriptor> segment =
                metadata.get().partition(partition).orElseThrow().chain().covering(fromOffset);
        return segment.filter(SegmentDescriptor::isCompacted).isPresent()
                && ackedOf(partition).subMap(fromOffset, toOffset).values().stream()
                        .allMatch(batch -> leavable.contains(batch.number()));
    }

    /** A reader was shown that batch there. */
    void onShown(PartitionId partition, long firstOffset, long number) {
        Long before = shown.computeIfAbsent(partition, p -> new TreeMap<>()).putIfAbsent(firstOffset, number);
        require(
                before == null || before == number,
                "I-2 at " + firstOffset + " of " + partition + " " + before + " was shown before " + number);
    }

    /** An owner began to serve. */
    void onServing(PartitionId partition, int epoch, long highWatermark) {
        Shown last = highWatermarks.get(partition);
        require(
                last == null || last.epoch() >= epoch || highWatermark >= last.highWatermark(),
                "I-15 the high watermark of " + partition + " went back from " + last + " to " + highWatermark
                        + " with epoch " + epoch);
        onHighWatermark(partition, epoch, highWatermark);
    }

    /** An owner showed this high watermark. */
    void onHighWatermark(PartitionId partition, int epoch, long highWatermark) {
        Shown last = highWatermarks.get(partition);
        if (last == null || epoch > last.epoch() || (epoch == last.epoch() && highWatermark > last.highWatermark())) {
            highWatermarks.put(partition, new Shown(epoch, highWatermark));
        }
    }

    /** I-1: everything acknowledged is held by A replicas of the segment that the chain names for it. */
    void checkAllHeld() {
        acked.forEach((partition, batches) ->
                batches.forEach((offset, batch) -> requireHeld(partition, offset, batch.number())));
    }

    /** The same as to how far replicas reach, without a look at each entry: cheap enough for every few milliseconds. */
    void checkAllReached() {
        acked.forEach((partition, batches) -> {
            if (!batches.isEmpty()) {
                checkReached(
                        metadata.get().partition(partition).orElseThrow(),
                        batches.lastEntry().getValue().lastOffset() + 1);
            }
        });
    }

    private void checkReached(PartitionState state, long ackedEnd) {
        for (SegmentDescriptor segment : state.chain().segments()) {
            long end = segment.endOffset() < 0 ? ackedEnd : Math.min(ackedEnd, segment.endOffset());
            if (segment.isOffloaded()) {
                continue; // That was looked at when the metadata began to say so, and objects don't change.
            }
            int reach = 0;
            for (Replica replica : segment.replicas()) {
                reach += bookies.end(replica.bookie().value(), segment.id()) >= end ? 1 : 0;
            }
            for (Replica replica : segment.unconfirmed()) {
                reach += bookies.end(replica.bookie().value(), segment.id()) >= end ? 1 : 0;
            }
            require(
                    end <= segment.startOffset() || reach >= segment.acks() - disksLost,
                    "I-1 only " + reach + " replicas of segment " + segment.id() + " reach " + end);
        }
    }

    private void requireHeld(PartitionId partition, long offset, long number) {
        PartitionState state = metadata.get().partition(partition).orElseThrow();
        Optional<SegmentDescriptor> segment = state.chain().covering(offset);
        require(segment.isPresent(), "I-6 no segment of the chain covers the acknowledged offset " + offset);
        if (segment.get().isCompactedAt(offset) && leavable.contains(number)) {
            return; // Whether the rest reaches to the end is looked at elsewhere.
        }
        if (segment.get().isOffloaded()) {
            requireInBucket(segment.get(), offset, number);
            return;
        }
        int held = 0;
        StringBuilder where = new StringBuilder();
        for (Replica replica : segment.get().replicas()) {
            held += holds(replica.bookie(), segment.get(), offset, number) ? 1 : 0;
            where.append(' ')
                    .append(replica.bookie())
                    .append(':')
                    .append(bookies.end(replica.bookie().value(), segment.get().id()));
        }
        for (Replica replica : segment.get().unconfirmed()) {
            held += holds(replica.bookie(), segment.get(), offset, number) ? 1 : 0;
        }
        require(
                held >= segment.get().acks() - disksLost,
                "I-1 offset " + offset + " of " + partition + " in segment "
                        + segment.get().id() + " is held by " + held + " replicas; ends:" + where);
    }

    private void requireInBucket(SegmentDescriptor segment, long offset, long number) {
        String key = segment.object().orElseThrow().key();
        byte[] entry =
                bucket.look(key).map(object -> object.entries().get(offset)).orElse(null);
        require(
                entry != null
                        && SimBatches.numberOf(ByteBuffer.wrap(entry).position(EntryFormat.HEADER_BYTES)) == number,
                "I-10 offset " + offset + " of " + segment.partition() + " is not in the object " + key);
    }

    private boolean holds(BookieId bookie, SegmentDescriptor segment, long offset, long number) {
        byte[] entry = bookies.entry(bookie.value(), segment.id(), offset);
        return entry != null
                && SimBatches.numberOf(ByteBuffer.wrap(entry).position(EntryFormat.HEADER_BYTES)) == number;
    }

    /** I-8 and the rise of epochs, at every version. */
    void checkChains() {
        MetadataImage image = metadata.get();
        if (image == checkedImage) {
            return;
        }
        checkedImage = image;
        image.topics().forEach(topic -> image.partitions(topic.id()).forEach(this::checkChain));
    }

    private void checkChain(PartitionState state) {
        Integer before = epochs.put(state.id(), state.epoch());
        require(before == null || before <= state.epoch(), "epochs rise: " + before + ", " + state.epoch());
        long end = -1;
        int open = 0;
        for (SegmentDescriptor segment : state.chain().segments()) {
            require(end < 0 || segment.startOffset() == end, "I-8 a gap or overlap at " + segment.startOffset());
            require(open == 0, "I-8 a segment after the open one");
            open += segment.state() == SegmentDescriptor.State.OPEN ? 1 : 0;
            end = segment.endOffset();
            if (segment.isOffloaded() && offloaded.add(segment.id())) {
                checkOffloaded(segment);
            }
        }
    }

    /** I-10: what the metadata says is in object storage is there, all of it. */
    private void checkOffloaded(SegmentDescriptor segment) {
        String key = segment.object().orElseThrow().key();
        require(
                bucket.look(key)
                        .filter(object -> object.covers(segment.startOffset(), segment.endOffset()))
                        .isPresent(),
                "I-10 the object " + key + " doesn't hold all of segment " + segment.id());
    }

    /** Everything acknowledged was read at its offset, and every batch stands in the log once. */
    void checkRead(PartitionId partition, Map<Long, Long> read) {
        ackedOf(partition)
                .forEach((offset, batch) -> require(
                        Long.valueOf(batch.number()).equals(read.get(offset))
                                || read.get(offset) == null && leavable.contains(batch.number()),
                        "I-1 acknowledged batch " + batch.number() + " at " + offset + " of " + partition + " reads "
                                + read.get(offset)));
        TreeMap<Long, Long> places = new TreeMap<>();
        read.forEach((offset, number) -> {
            Long elsewhere = places.put(number, offset);
            require(elsewhere == null, "batch " + number + " stands at " + elsewhere + " and at " + offset);
        });
    }

    /** A late reader reads what an early one read, but for what compaction took. */
    void checkReadLater(PartitionId partition, Map<Long, Long> early, Map<Long, Long> late, boolean compacted) {
        early.forEach((offset, number) -> require(
                number.equals(late.get(offset))
                        || compacted
                                && late.get(offset) == null
                                && (SimBatches.mayBeLeftOut(number) || leavable.contains(number)),
                "batch " + number + " at " + offset + " of " + partition + " reads " + late.get(offset) + " later"));
        require(early.keySet().containsAll(late.keySet()), "a late reader of " + partition + " reads more");
    }

    static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
