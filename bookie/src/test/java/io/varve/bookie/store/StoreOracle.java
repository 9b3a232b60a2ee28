package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.varve.bookie.client.BookieStatus;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.TreeMap;

/**
 * What a store may say, judged only by what it was asked and what it has answered. Shares no code with what it judges.
 */
final class StoreOracle {

    /** An entry as it was handed in. */
    record Entry(long first, long last, byte[] payload) {}

    /** What is known of a segment. */
    static final class Segment {
        final long id;
        final int partition;
        final int epoch;
        final long start;
        final TreeMap<Long, Entry> submitted = new TreeMap<>();
        final TreeMap<Long, byte[]> checkpoints = new TreeMap<>();
        boolean created;
        boolean deleteAsked;
        boolean deleted;
        boolean sealAsked;
        boolean sealed;
        /** Nobody appends to it any more: its end was decided elsewhere. */
        boolean over;
        /** Of the directory that is known to hold it, as the metadata would know; 0 if nobody was told. */
        long incarnation;

        long acknowledgedEnd;
        long acknowledgedCheckpoint = -1;

        Segment(long id, int partition, int epoch, long start) {
            this.id = id;
            this.partition = partition;
            this.epoch = epoch;
            this.start = start;
            this.acknowledgedEnd = start;
        }

        Segment copy() {
            Segment copy = new Segment(id, partition, epoch, start);
            copy.submitted.putAll(submitted);
            copy.checkpoints.putAll(checkpoints);
            copy.created = created;
            copy.deleteAsked = deleteAsked;
            copy.deleted = deleted;
            copy.sealAsked = sealAsked;
            copy.sealed = sealed;
            copy.over = over;
            copy.incarnation = incarnation;
            copy.acknowledgedEnd = acknowledgedEnd;
            copy.acknowledgedCheckpoint = acknowledgedCheckpoint;
            return copy;
        }

        long submittedEnd() {
            return submitted.isEmpty() ? start : submitted.lastEntry().getValue().last + 1;
        }
    }

    final TreeMap<Long, Segment> segments = new TreeMap<>();
    final TreeMap<Integer, Integer> fenced = new TreeMap<>();
    final TreeMap<Integer, Integer> fenceAsked = new TreeMap<>();
    int checks;

    void copyFrom(StoreOracle other) {
        other.segments.forEach((id, segment) -> segments.put(id, segment.copy()));
        fenced.putAll(other.fenced);
        fenceAsked.putAll(other.fenceAsked);
    }

    static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    int fenceOf(int partition) {
        return fenced.getOrDefault(partition, 0);
    }

    /** An append was answered OK with an end. */
    void onAppended(Segment segment, long end, int fenceWhenAsked) {
        require(end <= segment.submittedEnd(), "I-3 an end " + end + " beyond what was submitted to " + segment.id);
        require(
                fenceWhenAsked <= segment.epoch || end <= segment.acknowledgedEnd,
                "I-4 accepted below the fence: segment " + segment.id);
        segment.acknowledgedEnd = Math.max(segment.acknowledgedEnd, end);
        checks++;
    }

    /** A fence was answered OK with an end. */
    void onFenced(int partition, int epoch, Segment segment, BookieStatus status, long end) {
        if (status == BookieStatus.OK || status == BookieStatus.NO_SUCH_SEGMENT) {
            fenced.merge(partition, epoch, Math::max);
        }
        if (status == BookieStatus.OK) {
            onTold(segment, end);
        }
        if (status == BookieStatus.NO_SUCH_SEGMENT) {
            require(
                    segment == null || !segment.created || segment.deleteAsked,
                    "I-5 absence was vouched for of segment " + (segment == null ? 0 : segment.id));
        }
        checks++;
    }

    /** The store has told an end: it must hold everything acknowledged, nothing that was not submitted, and stand by it. */
    void onTold(Segment segment, long end) {
        require(
                end >= segment.acknowledgedEnd,
                "I-1 acknowledged up to " + segment.acknowledgedEnd + ", held up to " + end + ": segment "
                        + segment.id);
        require(
                end <= segment.submittedEnd(),
                "invented: submitted up to " + segment.submittedEnd() + ", held up to " + end + ": segment "
                        + segment.id);
        segment.acknowledgedEnd = end;
        checks++;
    }

    /** After a restart: what is above the end is gone for good, and may be written anew with other content. */
    void forgetUnacknowledged(Segment segment) {
        segment.submitted.tailMap(segment.acknowledgedEnd, true).clear();
    }

    /** Entries were read. */
    long onRead(Segment segment, long from, ByteBuf entries) {
        ByteBuffer bytes = entries.nioBuffer();
        long next = from;
        while (bytes.hasRemaining()) {
            long first = bytes.getLong();
            long last = bytes.getLong();
            int length = bytes.getInt();
            bytes.getInt();
            byte[] payload = new byte[length];
            bytes.get(payload);
            Entry expected = segment.submitted.get(first);
            require(first == next, "I-3 read " + first + " where " + next + " comes: segment " + segment.id);
            require(
                    expected != null && expected.last == last && Arrays.equals(expected.payload, payload),
                    "I-2 read something else at " + first + " of segment " + segment.id);
            next = last + 1;
            checks++;
        }
        return next;
    }
}
