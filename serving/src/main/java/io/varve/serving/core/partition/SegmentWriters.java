package io.varve.serving.core.partition;

import io.varve.base.Invariant;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.core.partition.LeaderEffects.SealFacts;
import java.util.ArrayList;
import java.util.List;

/**
 * The log's end: the segments that are written, the entries that are not acknowledged yet, and the high watermark.
 *
 * <p>The <em>current</em> segment is the chain's open one. The <em>next</em> is what a roll under way is to open. Entries go to the next once the writers have turned to
 * it, and to the current before. <em>Trailing</em> ones are sealed, and wait for replicas that are behind.
 *
 * <p>The high watermark is the current segment's quorum, and stands still while a seal was, or may have been, asked for at it (I-6): from the turn on, or when frozen.
 */
final class SegmentWriters<P> {

    private final Tenure<P> tenure;
    private final EntryWindow<P> window = new EntryWindow<>();
    private final List<SegmentWriter> trailing = new ArrayList<>();
    private SegmentWriter current;
    private SegmentWriter next;
    /** Entries go to the next segment. So it is from the start of a takeover on, which has no other. */
    private boolean turned = true;

    private boolean frozen;
    private int numbers;
    private long endOffset;
    private long highWatermark;

    SegmentWriters(Tenure<P> tenure) {
        this.tenure = tenure;
    }

    /** The chain's open segment, or null before the takeover is complete. */
    SegmentWriter current() {
        return current;
    }

    /** What the roll under way is to open, or null if there is none yet. */
    SegmentWriter next() {
        return next;
    }

    /** Where new entries go, or null while there is none. */
    SegmentWriter writing() {
        return turned ? next : current;
    }

    EntryWindow<P> window() {
        return window;
    }

    long endOffset() {
        return endOffset;
    }

    long highWatermark() {
        return highWatermark;
    }

    /** A takeover begins the log anew where it seals the old owner's segment. */
    void startAt(long offset) {
        Invariant.check(window.isEmpty() && current == null, "a takeover begins with nothing under way", offset);
        endOffset = offset;
        highWatermark = offset;
    }

    // ---- entries
    // ----------------------------------------------------------------------------------------------------------------

    void enter(long firstOffset, long lastOffset, int crc, int sizeBytes, long maxTimestampMs, P payload) {
        Invariant.check(firstOffset == endOffset, "I-2 offsets are assigned once, in order", firstOffset, endOffset);
        Invariant.check(lastOffset >= firstOffset, "I-16 an entry holds a record", firstOffset, lastOffset);
        window.add(firstOffset, lastOffset, crc, sizeBytes, maxTimestampMs, payload);
        endOffset = lastOffset + 1;
        SegmentWriter writer = writing();
        if (writer != null) {
            send(writer, window.count() - 1);
        }
    }

    private void send(SegmentWriter writer, int index) {
        for (int r = 0; r < writer.replicas().size(); r++) {
            if (!writer.tracker().isFailed(r)) {
                tenure.out()
                        .send(
                                writer.number(),
                                r,
                                window.firstOffset(index),
                                window.lastOffset(index),
                                window.crc(index),
                                window.payload(index),
                                highWatermark);
            }
        }
        writer.onSent(window.lastOffset(index) + 1, window.sizeBytes(index));
    }

    void checkpoint(SegmentWriter writer) {
        writer.onCheckpoint(endOffset, tenure.out().checkpoint(writer, endOffset));
    }

    void checkpointIfDue() {
        SegmentWriter writer = writing();
        if (writer != null && writer.isCheckpointDue(tenure.options().checkpointBytes(), highWatermark)) {
            checkpoint(writer);
        }
    }

    /** Forgets the entries that are not acknowledged, and where the log ended. */
    void forgetEntries() {
        while (!window.isEmpty()) {
            tenure.out().releasePayload(window.removeFirst());
        }
    }

    // ---- acknowledgements
    // -------------------------------------------------------------------------------------------------------

    void onDurable(int number, int replica, long end) {
        SegmentWriter writer = find(number);
        if (writer == null || writer.tracker().isFailed(replica)) {
            return;
        }
        writer.tracker().onDurable(replica, end);
        if (writer == current) {
            if (!turned && !frozen) {
                advanceToDurable();
            }
        } else if (writer == next) {
            if (current != null && tenure.rules().acknowledgesBeforeRoll()) {
                advance(next);
            }
            tenure.phase().onNextDurable();
        } else {
            confirm(writer, replica);
        }
    }

    /** Raises the high watermark to what the current segment's quorum holds. */
    void advanceToDurable() {
        advance(current);
    }

    private void advance(SegmentWriter writer) {
        long durable = writer.tracker().durableOnQuorum();
        if (durable <= highWatermark) {
            return;
        }
        Invariant.check(durable <= endOffset, "I-1 nothing is acknowledged before it is sent", durable, endOffset);
        highWatermark = durable;
        while (!window.isEmpty() && window.lastOffset(0) < durable) {
            writer.onAcked(window.sizeBytes(0), window.maxTimestampMs(0));
            tenure.out().releasePayload(window.removeFirst());
        }
        tenure.out().onHighWatermark(highWatermark);
        tenure.phase().onHighWatermark();
    }

    /** A seal is asked for at the high watermark. */
    void freeze() {
        frozen = true;
    }

    /** Whether everything is acknowledged, and all replicas that take entries hold it. */
    boolean isSettled() {
        return window.isEmpty() && current.tracker().healthy() == current.holdersCount(highWatermark);
    }

    /** How the current segment ends if it is sealed there. */
    SealFacts sealCurrent(long sealOffset) {
        return new SealFacts(
                current.segment(),
                sealOffset,
                current.ackedBytes(),
                current.ackedMaxTimestampMs(),
                current.holders(sealOffset));
    }

    // ---- from one segment to the next
    // -------------------------------------------------------------------------------------------

    /** Entries go to the next segment from now on, beginning with those that are not acknowledged. */
    void turn() {
        turned = true;
        tenure.out().onRolling(highWatermark);
        for (int i = 0; i < window.count(); i++) {
            tenure.out().recount(window.firstOffset(i), window.sizeBytes(i), window.maxTimestampMs(i));
        }
    }

    /** Opens the streams of the next segment and sends it all that is to be carried. */
    void openNext(SegmentDescriptor segment, long startOffset) {
        next = new SegmentWriter(++numbers, segment, startOffset, tenure.rules(), tenure.nowNs());
        tenure.out().openStreams(next);
        for (int i = 0; i < window.count(); i++) {
            send(next, i);
        }
    }

    void discardNext() {
        if (next != null) {
            closeStreams(next);
            next = null;
        }
    }

    /** The roll has committed: the next segment is the current one, and the one before, if any, is sealed there. */
    void onOpened(long sealOffset) {
        if (current != null) {
            toTrailing(current, sealOffset);
        }
        current = next;
        next = null;
        turned = false;
    }

    // ---- streams
    // ----------------------------------------------------------------------------------------------------------------

    /** A stream is over. */
    void onStreamFailed(int number, int replica) {
        SegmentWriter writer = find(number);
        if (writer != null && !writer.tracker().isFailed(replica)) {
            onStreamFailed(writer, replica);
        }
    }

    void onStreamFailed(SegmentWriter writer, int replica) {
        writer.tracker().onFailed(replica);
        tenure.supply().avoid(writer.replicas().get(replica).bookie());
        forgetIfDone(writer);
        tenure.phase().onStreamFailed(writer);
    }

    private SegmentWriter find(int number) {
        if (current != null && current.number() == number) {
            return current;
        }
        if (next != null && next.number() == number) {
            return next;
        }
        for (SegmentWriter writer : trailing) {
            if (writer.number() == number) {
                return writer;
            }
        }
        return null;
    }

    private void closeStreams(SegmentWriter writer) {
        for (int r = 0; r < writer.replicas().size(); r++) {
            if (!writer.tracker().isFailed(r)) {
                tenure.out().closeStream(writer.number(), r, -1);
            }
        }
    }

    // ---- trailing
    // ---------------------------------------------------------------------------------------------------------------

    private void toTrailing(SegmentWriter sealed, long sealOffset) {
        sealed.toTrailing(sealOffset, tenure.nowNs() + tenure.options().trailNs());
        for (int r = 0; r < sealed.replicas().size(); r++) {
            if (!sealed.tracker().isFailed(r) && sealed.tracker().holds(r, sealOffset)) {
                closeSealed(sealed, r);
            }
        }
        trailing.add(sealed);
        forgetIfDone(sealed);
    }

    /** A replica that was behind when its segment was sealed has gone on. */
    private void confirm(SegmentWriter sealed, int replica) {
        if (sealed.tracker().holds(replica, sealed.sealOffset())) {
            closeSealed(sealed, replica);
            tenure.out()
                    .confirmReplica(
                            sealed.segment(), sealed.replicas().get(replica).bookie());
            forgetIfDone(sealed);
        }
    }

    private void closeSealed(SegmentWriter sealed, int replica) {
        sealed.tracker().onFailed(replica);
        tenure.out().closeStream(sealed.number(), replica, sealed.sealOffset());
    }

    private void forgetIfDone(SegmentWriter sealed) {
        if (sealed.tracker().healthy() == 0) {
            trailing.remove(sealed);
        }
    }

    /** Gives up on replicas that are still behind: repair will see to them. */
    void closeOverdue() {
        for (int i = trailing.size() - 1; i >= 0; i--) {
            SegmentWriter sealed = trailing.get(i);
            if (tenure.nowNs() >= sealed.trailUntilNs()) {
                closeStreams(sealed);
                trailing.remove(i);
            }
        }
    }

    /** Forgets everything; the shell closes the streams. */
    void forgetAll() {
        forgetEntries();
        current = null;
        next = null;
        trailing.clear();
    }
}
