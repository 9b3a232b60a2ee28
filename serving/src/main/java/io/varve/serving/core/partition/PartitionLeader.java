package io.varve.serving.core.partition;

import io.varve.base.BookieId;
import io.varve.base.Invariant;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.core.partition.LeaderEffects.Deposition;
import io.varve.serving.core.partition.LeaderEffects.SealFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The owner's side of the segment protocol for one partition under one epoch: takeover, appending, live rolls, giving back.
 *
 * <p><b>Phases.</b> {@link Fencing} raises the fence on the replicas of the open segment until R - A + 1 truthful replies are in (I-5);
 * {@link Carrying} loads the owner's state, gets a new segment, and writes into it what lies between the seal and the largest end that was
 * replied; the roll makes it {@link Active}. {@link Rolling} is the live form: the seal is the high watermark, which stands still until the roll
 * has committed (I-6), while appends go on into the next segment. {@link Releasing} waits for what is under way and gives the partition back sealed.
 * {@link Deposed} is the end, and no phase follows it (I-14).
 *
 * <p><b>Why one kind of roll is enough.</b> Size, age, a dead replica and a slow one all end in the same three steps: freeze the high
 * watermark, carry what lies above it, commit. Whatever goes wrong on the way is mended by another roll afterwards, so that no change of
 * a replica set ever happens inside a segment; that is where the losses of systems before this one came from.
 *
 * <p><b>Unknown outcomes.</b> A roll or release whose answer was lost is looked up linearizably (I-17) before anything else is tried. Trying it
 * again is safe, because it is a compare-and-set on the open segment.
 *
 * <p>Used by one thread. Time comes in by {@link #tick}; effects go out through {@link LeaderEffects} and never come back in the same call.
 *
 * @param <P> the payload of entries, opaque
 */
public final class PartitionLeader<P> {

    /** Whether an append is taken at the moment. */
    public enum Admission {
        /** It is. */
        TAKEN,
        /** Not serving: taking over, giving back, or deposed. */
        NOT_SERVING,
        /** As much as may be unacknowledged is. */
        OVERLOADED,
        /** Too few bookies: it could not be acknowledged. */
        NOT_ENOUGH_REPLICAS
    }

    /** Why a segment could not be allocated. */
    public enum AllocationFailure {
        /** A higher epoch owns the partition. */
        SUPERSEDED,
        /** Fewer than A usable bookies. */
        NOT_ENOUGH_BOOKIES,
        /** No answer, or no quorum: nothing is known. */
        UNAVAILABLE
    }

    /** How a roll or a release came out. */
    public enum Outcome {
        /** It is in the Raft log. */
        COMMITTED,
        /** A higher epoch owns the partition. */
        SUPERSEDED,
        /** The chain is not as the caller thought: look. */
        MOVED,
        /** The allocated segment is gone. */
        SEGMENT_GONE,
        /** It was certainly not done. */
        NOT_DONE,
        /** It may have been done (I-17): look. */
        UNKNOWN
    }

    /** Where a leader is; see the class. */
    private sealed interface Phase {}

    private static final class New implements Phase {}

    private static final class Fencing implements Phase {
        private final SegmentDescriptor open;
        private final FenceTally tally;
        private final Step[] steps;

        private Fencing(SegmentDescriptor open, FenceTally tally, long retryNs) {
            this.open = open;
            this.tally = tally;
            this.steps = new Step[open.replicas().size()];
            for (int r = 0; r < steps.length; r++) {
                steps[r] = new Step(retryNs);
            }
        }
    }

    private static final class Carrying implements Phase {
        /** Null if the chain has no open segment. */
        private final Fencing fenced;

        private final long sealOffset;
        private final long carryEnd;
        private final boolean[] unreadable;
        private boolean stateLoaded;
        private long sealedBytes = -1;
        private long sealedMaxTimestampMs = -1;
        private boolean ready;

        private Carrying(Fencing fenced, long sealOffset, long carryEnd) {
            this.fenced = fenced;
            this.sealOffset = sealOffset;
            this.carryEnd = carryEnd;
            this.unreadable =
                    new boolean[fenced == null ? 0 : fenced.open.replicas().size()];
        }
    }

    private static final class Active implements Phase {}

    private static final class Rolling implements Phase {
        private final long sealOffset;

        private Rolling(long sealOffset) {
            this.sealOffset = sealOffset;
        }
    }

    private static final class Releasing implements Phase {
        private final long sealByNs;
        private boolean asked;
        private long sealOffset;

        private Releasing(long sealByNs) {
            this.sealByNs = sealByNs;
        }
    }

    private record Deposed(Deposition why) implements Phase {}

    private final int epoch;
    private final SegmentRules rules;
    private final LeaderEffects<P> out;
    private final EntryWindow<P> window = new EntryWindow<>();
    private final List<SegmentWriter> trailing = new ArrayList<>();
    private final TreeMap<BookieId, Long> avoidUntilNs = new TreeMap<>();
    private final Step allocation;
    private final Step loading;
    private final Step carrying;
    private final Step commit;
    private final Step improvement;

    private LeaderOptions options;
    private Phase phase = new New();
    private SegmentWriter current;
    private SegmentWriter next;
    private SegmentDescriptor prepared;
    private SealFacts strandedSeal;
    private int tickets;
    private int writers;
    private long nowNs;
    private int usableBookies = Integer.MAX_VALUE;
    private long endOffset;
    private long highWatermark;
    private boolean readChainFirst;
    private boolean rollAsked;
    private boolean releaseAsked;

    /**
     * @param epoch the owner's
     * @param rules {@link SegmentRules#STANDARD} everywhere but in the simulation's tests of itself
     */
    public PartitionLeader(int epoch, LeaderOptions options, SegmentRules rules, LeaderEffects<P> out, long nowNs) {
        this.epoch = epoch;
        this.options = options;
        this.rules = rules;
        this.out = out;
        this.nowNs = nowNs;
        this.allocation = new Step(options.retryNs());
        this.loading = new Step(options.retryNs());
        this.carrying = new Step(options.retryNs());
        this.commit = new Step(options.retryNs());
        this.improvement = new Step(options.retryNs() * 16);
    }

    // ---- what it is
    // -------------------------------------------------------------------------------------------------------------

    /** The owner's epoch. */
    public int epoch() {
        return epoch;
    }

    /** The first offset not yet assigned. */
    public long endOffset() {
        return endOffset;
    }

    /** The first offset not yet acknowledged. Only once it serves. */
    public long highWatermark() {
        return highWatermark;
    }

    /** Whether the takeover is complete and the partition was not lost or given back since. */
    public boolean isServing() {
        return phase instanceof Active || phase instanceof Rolling || phase instanceof Releasing;
    }

    /** Whether it has stopped for good. */
    public boolean isDeposed() {
        return phase instanceof Deposed;
    }

    /** Bytes assigned and not acknowledged. */
    public long windowBytes() {
        return window.bytes();
    }

    /** The phase's name, for people. */
    public String phaseName() {
        return phase.getClass().getSimpleName();
    }

    /** The segment that new entries go to, or null while there is none. */
    public SegmentWriter writing() {
        return phase instanceof Carrying || phase instanceof Rolling ? next : current;
    }

    // ---- takeover
    // ---------------------------------------------------------------------------------------------------------------

    /** Takes the partition over, as the metadata service describes it under this leader's epoch. Called once. */
    public void start(PartitionState state) {
        Invariant.check(
                state.epoch() == epoch, "a leader starts with the state of its own epoch", state.epoch(), epoch);
        Invariant.check(phase instanceof New, "a leader starts once");
        SegmentDescriptor open = state.chain().open().orElse(null);
        if (open == null) {
            long end = state.chain()
                    .last()
                    .map(SegmentDescriptor::endOffset)
                    .orElseGet(() ->
                            state.chain().manifest().map(m -> m.endOffset()).orElse(state.logStartOffset()));
            toCarrying(null, end, end);
        } else {
            toFencing(open, new FenceTally(rules, open.replicas().size(), open.acks(), open.startOffset()));
        }
    }

    private void toFencing(SegmentDescriptor open, FenceTally tally) {
        Fencing fencing = new Fencing(open, tally, options.retryNs());
        phase = fencing;
        for (int r = 0; r < fencing.steps.length; r++) {
            if (!tally.hasReply(r)) {
                fence(fencing, r);
            }
        }
        onFenceReply(fencing);
    }

    private void fence(Fencing fencing, int replica) {
        out.fence(fencing.steps[replica].begin(++tickets), fencing.open, replica);
    }

    /** A replica was fenced, holds everything below {@code end} durably, and was told of that high watermark. */
    public void onFenced(int ticket, int replica, long end, long highWatermarkTold) {
        Fencing fencing = fencingOf(ticket, replica);
        if (fencing != null) {
            fencing.tally.onHeld(replica, end, highWatermarkTold);
            onFenceReply(fencing);
        }
    }

    /** A bookie is fenced, and vouches that it never had the segment. */
    public void onFencedAbsent(int ticket, int replica) {
        Fencing fencing = fencingOf(ticket, replica);
        if (fencing != null) {
            fencing.tally.onAbsent(replica);
            onFenceReply(fencing);
        }
    }

    /** No reply that counts: a time-out, or a bookie that can't vouch. It is asked again after a pause. */
    public void onFenceFailed(int ticket, int replica) {
        Fencing fencing = phase instanceof Fencing f ? f : phase instanceof Carrying c ? c.fenced : null;
        if (fencing != null && fencing.steps[replica].isCurrent(ticket)) {
            fencing.steps[replica].failed(nowNs);
        }
    }

    /** A bookie holds a higher fence, or refused an append for one: somebody newer owns the partition. */
    public void onHigherFence() {
        depose(Deposition.SUPERSEDED);
    }

    /** The fencing that a reply belongs to: also a late one, of use as a source and as a holder. Null if it is stale. */
    private Fencing fencingOf(int ticket, int replica) {
        Fencing fencing = phase instanceof Fencing f ? f : phase instanceof Carrying c ? c.fenced : null;
        if (fencing == null || !fencing.steps[replica].isCurrent(ticket)) {
            return null;
        }
        fencing.steps[replica].done();
        return fencing;
    }

    private void onFenceReply(Fencing fencing) {
        if (phase instanceof Carrying c) {
            if (carrying.isFailing()) {
                readCarry(c);
            }
        } else if (fencing.tally.isEnough()) {
            long sealOffset = fencing.tally.sealOffset();
            toCarrying(fencing, sealOffset, fencing.tally.carryEnd(sealOffset));
        }
    }

    private void toCarrying(Fencing fenced, long sealOffset, long carryEnd) {
        endOffset = sealOffset;
        highWatermark = sealOffset;
        Carrying c = new Carrying(fenced, sealOffset, carryEnd);
        phase = c;
        loadState(c);
        allocate();
    }

    private void loadState(Carrying c) {
        long[] holders = new long[c.fenced == null ? 0 : c.fenced.steps.length];
        for (int r = 0; r < holders.length; r++) {
            holders[r] = c.fenced.tally.endOf(r);
        }
        out.loadState(loading.begin(++tickets), c.sealOffset, holders);
    }

    /**
     * The owner's state is that at the seal.
     *
     * @param sealedBytes what the sealed segment holds below the seal, -1 if that can't be told
     * @param maxTimestampMs likewise its largest record time
     */
    public void onStateLoaded(int ticket, long sealedBytes, long maxTimestampMs) {
        if (phase instanceof Carrying c && loading.isCurrent(ticket)) {
            loading.done();
            c.stateLoaded = true;
            c.sealedBytes = sealedBytes;
            c.sealedMaxTimestampMs = maxTimestampMs;
            readCarry(c);
        }
    }

    /** Whether the state asked for under this ticket is still wanted. */
    public boolean isLoading(int ticket) {
        return phase instanceof Carrying && loading.isCurrent(ticket);
    }

    /** The owner's state could not be loaded now. */
    public void onStateFailed(int ticket) {
        if (phase instanceof Carrying && loading.isCurrent(ticket)) {
            loading.failed(nowNs);
        }
    }

    private void readCarry(Carrying c) {
        if (!c.stateLoaded || next == null || carrying.isUnderWay()) {
            return;
        }
        if (endOffset == c.carryEnd) {
            onCarryComplete(c);
            return;
        }
        for (int r = 0; r < c.unreadable.length; r++) {
            if (!c.unreadable[r] && c.fenced.tally.holds(r, endOffset + 1)) {
                out.readCarry(carrying.begin(++tickets), c.fenced.open, r, endOffset, c.carryEnd);
                return;
            }
        }
        startOver(c);
    }

    /**
     * Nobody who replied can deliver what is to be carried. Their replies are taken back and the choice is made anew, from replies that
     * are still enough: nothing was acknowledged and nothing committed, so it may come out otherwise.
     */
    private void startOver(Carrying c) {
        for (int r = 0; r < c.unreadable.length; r++) {
            if (c.unreadable[r]) {
                c.fenced.tally.forget(r);
            }
        }
        discardNext();
        allocation.giveUp();
        loading.giveUp();
        carrying.giveUp();
        commit.giveUp();
        while (!window.isEmpty()) {
            out.releasePayload(window.removeFirst());
        }
        Fencing fencing = new Fencing(c.fenced.open, c.fenced.tally, options.retryNs());
        phase = fencing;
        for (int r = 0; r < fencing.steps.length; r++) {
            if (!fencing.tally.hasReply(r)) {
                // Not at once: it just failed.
                fencing.steps[r].failed(nowNs);
            }
        }
        if (fencing.tally.isEnough()) {
            long sealOffset = fencing.tally.sealOffset();
            toCarrying(fencing, sealOffset, fencing.tally.carryEnd(sealOffset));
        }
    }

    /** Whether the entries read under this ticket are still wanted. */
    public boolean isCarrying(int ticket) {
        return phase instanceof Carrying && carrying.isCurrent(ticket);
    }

    /** The next entry of the range asked for, while {@link #isCarrying}. The leader takes the payload over. */
    public void onCarried(
            int ticket, long firstOffset, long lastOffset, int crc, int sizeBytes, long maxTimestampMs, P payload) {
        Invariant.check(isCarrying(ticket), "carried entries are wanted");
        Carrying c = (Carrying) phase;
        Invariant.check(lastOffset < c.carryEnd, "I-3 entries end where replicas do", lastOffset, c.carryEnd);
        enter(firstOffset, lastOffset, crc, sizeBytes, maxTimestampMs, payload);
        if (endOffset == c.carryEnd) {
            carrying.done();
            onCarryComplete(c);
        }
    }

    /** The replica could not deliver the rest of the range. */
    public void onCarryFailed(int ticket, int replica) {
        if (phase instanceof Carrying c && carrying.isCurrent(ticket)) {
            carrying.failed(nowNs);
            c.unreadable[replica] = true;
            readCarry(c);
        }
    }

    private void onCarryComplete(Carrying c) {
        if (next == null) {
            return; // Its bookies failed meanwhile: another one is on its way.
        }
        if (!c.ready) {
            c.ready = true;
            checkpoint(next);
        }
        maybeCommit();
    }

    // ---- appending
    // --------------------------------------------------------------------------------------------------------------

    /** Whether an append of so many bytes would be taken. */
    public Admission admit(long sizeBytes) {
        if (!(phase instanceof Active) && !(phase instanceof Rolling)) {
            return Admission.NOT_SERVING;
        }
        SegmentWriter writer = writing();
        boolean canBeAcknowledged = writer != null && writer.tracker().hasQuorum();
        if (!canBeAcknowledged && allocation.isFailing()) {
            return Admission.NOT_ENOUGH_REPLICAS;
        }
        return !window.isEmpty() && window.bytes() + sizeBytes > options.windowBytesMax()
                ? Admission.OVERLOADED
                : Admission.TAKEN;
    }

    /**
     * Appends an entry that {@link #admit} took, at {@link #endOffset()}. The leader takes the payload over.
     *
     * @param crc the entry's checksum, made after its offsets were assigned
     * @param sizeBytes payload and entry header
     */
    public void append(long firstOffset, long lastOffset, int crc, int sizeBytes, long maxTimestampMs, P payload) {
        Invariant.check(phase instanceof Active || phase instanceof Rolling, "I-14 appends only while serving");
        enter(firstOffset, lastOffset, crc, sizeBytes, maxTimestampMs, payload);
        SegmentWriter writer = writing();
        if (writer != null && writer.isCheckpointDue(options.checkpointBytes(), highWatermark)) {
            checkpoint(writer);
        }
        if (phase instanceof Active) {
            considerRoll();
        }
    }

    private void enter(long firstOffset, long lastOffset, int crc, int sizeBytes, long maxTimestampMs, P payload) {
        Invariant.check(firstOffset == endOffset, "I-2 offsets are assigned once, in order", firstOffset, endOffset);
        Invariant.check(lastOffset >= firstOffset, "I-16 an entry holds a record", firstOffset, lastOffset);
        window.add(firstOffset, lastOffset, crc, sizeBytes, maxTimestampMs, payload);
        endOffset = lastOffset + 1;
        SegmentWriter writer = writing();
        if (writer != null) {
            send(writer, window.count() - 1);
        }
    }

    private void checkpoint(SegmentWriter writer) {
        writer.onCheckpoint(endOffset, out.checkpoint(writer, endOffset));
    }

    private void send(SegmentWriter writer, int index) {
        for (int r = 0; r < writer.replicas().size(); r++) {
            if (!writer.tracker().isFailed(r)) {
                out.send(
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

    /** Everything below {@code end} that was sent on this stream is durable there. */
    public void onDurable(int writerNumber, int replica, long end) {
        SegmentWriter writer = writerOf(writerNumber);
        if (writer == null || writer.tracker().isFailed(replica)) {
            return;
        }
        writer.tracker().onDurable(replica, end);
        if (writer == current) {
            if (!isFrozen()) {
                advance(current.tracker().durableOnQuorum());
            }
        } else if (writer == next) {
            if (phase instanceof Rolling && rules.acknowledgesBeforeRoll()) {
                advance(next.tracker().durableOnQuorum());
            }
            maybeCommit();
        } else {
            trail(writer, replica);
        }
    }

    /** Whether a seal was, or may have been, asked for at the high watermark, which therefore must not move (I-6). */
    private boolean isFrozen() {
        return phase instanceof Rolling || phase instanceof Releasing r && r.asked;
    }

    /** Raises the high watermark: everything below {@code durable} is durable on A replicas of a segment that the chain holds. */
    private void advance(long durable) {
        if (durable <= highWatermark) {
            return;
        }
        Invariant.check(durable <= endOffset, "I-1 nothing is acknowledged before it is sent", durable, endOffset);
        highWatermark = durable;
        SegmentWriter writer = current != null && !(phase instanceof Rolling) ? current : next;
        while (!window.isEmpty() && window.lastOffset(0) < durable) {
            writer.onAcked(window.sizeBytes(0), window.maxTimestampMs(0));
            out.releasePayload(window.removeFirst());
        }
        out.onHighWatermark(highWatermark);
        if (phase instanceof Releasing r) {
            maybeRelease(r);
        }
    }

    /** A stream is over. */
    public void onStreamFailed(int writerNumber, int replica) {
        SegmentWriter writer = writerOf(writerNumber);
        if (writer == null || writer.tracker().isFailed(replica)) {
            return;
        }
        writer.tracker().onFailed(replica);
        avoid(writer.replicas().get(replica).bookie());
        if (writer == next && phase instanceof Carrying && !next.tracker().hasQuorum()) {
            // Nothing of it was acknowledged, and unless the roll is on its way nobody knows of it: another one takes
            // its place.
            if (!commit.isUnderWay()) {
                discardNext();
                ((Carrying) phase).ready = false;
                allocate();
            }
        } else if (writer == current && phase instanceof Active) {
            considerRoll();
        } else if (trailing.contains(writer)) {
            forgetIfDone(writer);
        }
    }

    private void avoid(BookieId bookie) {
        avoidUntilNs.put(bookie, nowNs + options.avoidNs());
        if (prepared != null
                && prepared.replicas().stream().anyMatch(r -> r.bookie().equals(bookie))) {
            prepared = null;
        }
    }

    private SegmentWriter writerOf(int number) {
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

    // ---- rolling
    // ----------------------------------------------------------------------------------------------------------------

    /** Rolls as soon as possible, for a reason that the leader can't see. */
    public void roll() {
        rollAsked = true;
        if (phase instanceof Active) {
            considerRoll();
        }
    }

    /** New limits, from the next decision on. */
    public void onOptions(LeaderOptions changed) {
        options = changed;
    }

    private boolean isRollDue() {
        boolean full = current.sentBytes() >= options.segmentBytesMax();
        boolean old = nowNs - current.openedNs() >= options.segmentAgeNsMax() && highWatermark > current.startOffset();
        return full || old || rollAsked || !current.tracker().hasQuorum();
    }

    /** Whether another set of bookies could hold more copies than the current one does. */
    private boolean isBetterPossible() {
        int healthy = current.tracker().healthy();
        return healthy < options.replicas() && usableBookies > healthy && improvement.isFree(nowNs);
    }

    private void considerRoll() {
        boolean due = isRollDue();
        if (due && prepared != null) {
            toRolling();
            return;
        }
        boolean prepare = prepared == null && current.sentBytes() >= options.segmentBytesMax() - options.prepareBytes();
        if ((due || prepare || isBetterPossible()) && allocation.isFree(nowNs)) {
            allocate();
        }
    }

    private void allocate() {
        avoidUntilNs.values().removeIf(untilNs -> untilNs <= nowNs);
        out.allocate(allocation.begin(++tickets), endOffset, new TreeSet<>(avoidUntilNs.keySet()));
    }

    /** A segment to go on in. */
    public void onAllocated(int ticket, SegmentDescriptor segment) {
        if (!allocation.isCurrent(ticket)) {
            return;
        }
        allocation.done();
        Invariant.check(
                next == null || phase instanceof Active,
                "I-6 a roll under way keeps the segment that it names",
                ticket);
        if (phase instanceof Carrying c) {
            openNext(segment, c.sealOffset);
            readCarry(c);
        } else if (phase instanceof Rolling r) {
            openNext(segment, r.sealOffset);
            checkpoint(next);
            maybeCommit();
        } else if (phase instanceof Active) {
            onPrepared(segment);
        }
    }

    private void onPrepared(SegmentDescriptor segment) {
        boolean better = isBetterPossible();
        if (better) {
            // Whatever comes of it, the next try for more copies waits longer, so that a flapping bookie costs few
            // rolls.
            improvement.failed(nowNs);
        }
        boolean isBetter = segment.replicas().size() > current.tracker().healthy();
        if (isRollDue() || (better && isBetter)) {
            prepared = segment;
            toRolling();
        } else if (!better) {
            prepared = segment;
        }
    }

    /** No segment to be had. */
    public void onAllocateFailed(int ticket, AllocationFailure failure) {
        if (!allocation.isCurrent(ticket)) {
            return;
        }
        if (failure == AllocationFailure.SUPERSEDED) {
            depose(Deposition.SUPERSEDED);
        } else {
            allocation.failed(nowNs);
        }
    }

    private void toRolling() {
        SegmentDescriptor opened = prepared;
        prepared = null;
        // Another allocation may be under way; its segment must not take the place of the one that this roll names.
        allocation.giveUp();
        rollAsked = false;
        phase = new Rolling(highWatermark);
        out.onRolling(highWatermark);
        for (int i = 0; i < window.count(); i++) {
            out.recount(window.firstOffset(i), window.sizeBytes(i), window.maxTimestampMs(i));
        }
        openNext(opened, highWatermark);
        checkpoint(next);
        maybeCommit();
    }

    /** Opens the streams of the next segment and sends it all that is to be carried. */
    private void openNext(SegmentDescriptor segment, long startOffset) {
        next = new SegmentWriter(++writers, segment, startOffset, rules, nowNs);
        out.openStreams(next);
        for (int i = 0; i < window.count(); i++) {
            send(next, i);
        }
    }

    private void discardNext() {
        if (next != null) {
            closeStreams(next);
            next = null;
        }
    }

    private void closeStreams(SegmentWriter writer) {
        for (int r = 0; r < writer.replicas().size(); r++) {
            if (!writer.tracker().isFailed(r)) {
                out.closeStream(writer.number(), r, -1);
            }
        }
    }

    /** Sends the roll, if all that must come before it is done and it isn't on its way. */
    private void maybeCommit() {
        if (next == null || !commit.isFree(nowNs)) {
            return;
        }
        if (phase instanceof Carrying c) {
            if (c.ready && next.tracker().durableOnQuorum() >= c.carryEnd) {
                out.roll(commit.begin(++tickets), sealOf(c), next.segment());
            }
        } else if (phase instanceof Rolling r) {
            out.roll(commit.begin(++tickets), sealOf(r.sealOffset), next.segment());
        }
    }

    private SealFacts sealOf(Carrying c) {
        if (strandedSeal != null || c.fenced == null) {
            return strandedSeal;
        }
        TreeSet<BookieId> holders = new TreeSet<>();
        for (int r = 0; r < c.fenced.steps.length; r++) {
            if (c.fenced.tally.holds(r, c.sealOffset)) {
                holders.add(c.fenced.open.replicas().get(r).bookie());
            }
        }
        return new SealFacts(c.fenced.open.id(), c.sealOffset, c.sealedBytes, c.sealedMaxTimestampMs, holders);
    }

    private SealFacts sealOf(long sealOffset) {
        return strandedSeal != null
                ? strandedSeal
                : new SealFacts(
                        current.segment(),
                        sealOffset,
                        current.ackedBytes(),
                        current.ackedMaxTimestampMs(),
                        current.holders(sealOffset));
    }

    /** How the roll came out. */
    public void onRolled(int ticket, Outcome outcome) {
        if (!commit.isCurrent(ticket)) {
            return;
        }
        switch (outcome) {
            case COMMITTED -> onRollCommitted();
            case SUPERSEDED -> depose(Deposition.SUPERSEDED);
            case MOVED, UNKNOWN -> out.readChain(commit.begin(++tickets));
            case NOT_DONE -> commit.failed(nowNs);
            case SEGMENT_GONE -> {
                commit.failed(nowNs);
                discardNext();
                if (phase instanceof Carrying c) {
                    c.ready = false;
                }
                allocate();
            }
        }
    }

    /** The partition as a linearizable read found it. */
    public void onChain(int ticket, PartitionState state, boolean stillOwned) {
        if (!commit.isCurrent(ticket)) {
            return;
        }
        SegmentDescriptor open = state.chain().open().orElse(null);
        if (state.epoch() != epoch || !stillOwned) {
            depose(phase instanceof Releasing ? Deposition.RELEASED : Deposition.SUPERSEDED);
        } else if (phase instanceof Releasing) {
            if (open == null) {
                depose(Deposition.RELEASED);
            } else {
                commit.failed(nowNs);
            }
        } else if (open != null && next != null && open.id().equals(next.segment())) {
            onRollCommitted();
        } else {
            onRollNotCommitted(open);
        }
    }

    /**
     * The chain's open segment is not the one that the roll was to open. If it is another one that this leader once asked to open, given up
     * since, then it is empty as far as anybody was told (I-6), and the roll seals it instead.
     */
    private void onRollNotCommitted(SegmentDescriptor open) {
        long sealOffset = phase instanceof Carrying c ? c.sealOffset : ((Rolling) phase).sealOffset;
        SealFacts tried = phase instanceof Carrying c ? sealOf(c) : sealOf(sealOffset);
        boolean unchanged =
                open == null ? tried == null : tried != null && open.id().equals(tried.segment());
        if (!unchanged) {
            boolean stranded = open != null && open.epoch() == epoch && open.startOffset() == sealOffset;
            if (!stranded) {
                depose(Deposition.SUPERSEDED);
                return;
            }
            strandedSeal = new SealFacts(open.id(), sealOffset, 0, -1, new TreeSet<>());
        }
        commit.failed(nowNs);
    }

    /** It could not be read now. */
    public void onChainUnread(int ticket) {
        if (commit.isCurrent(ticket)) {
            // Still unknown: read again after a pause.
            commit.failed(nowNs);
            readChainFirst = true;
        }
    }

    private void onRollCommitted() {
        commit.done();
        readChainFirst = false;
        boolean takeover = phase instanceof Carrying;
        if (current != null) {
            toTrailing(current, ((Rolling) phase).sealOffset);
        }
        strandedSeal = null;
        current = next;
        next = null;
        phase = new Active();
        if (takeover) {
            highWatermark = Math.max(highWatermark, current.startOffset());
            advance(current.tracker().durableOnQuorum());
            out.onServing(highWatermark);
        } else {
            advance(current.tracker().durableOnQuorum());
        }
        if (releaseAsked) {
            toReleasing();
        } else {
            considerRoll();
        }
    }

    private void toTrailing(SegmentWriter sealed, long sealOffset) {
        sealed.toTrailing(sealOffset, nowNs + options.trailNs());
        for (int r = 0; r < sealed.replicas().size(); r++) {
            if (!sealed.tracker().isFailed(r) && sealed.tracker().holds(r, sealOffset)) {
                sealed.tracker().onFailed(r);
                out.closeStream(sealed.number(), r, sealOffset);
            }
        }
        trailing.add(sealed);
        forgetIfDone(sealed);
    }

    private void trail(SegmentWriter sealed, int replica) {
        if (sealed.tracker().holds(replica, sealed.sealOffset())) {
            sealed.tracker().onFailed(replica);
            out.closeStream(sealed.number(), replica, sealed.sealOffset());
            out.confirmReplica(sealed.segment(), sealed.replicas().get(replica).bookie());
            forgetIfDone(sealed);
        }
    }

    private void forgetIfDone(SegmentWriter sealed) {
        if (sealed.tracker().healthy() == 0) {
            trailing.remove(sealed);
        }
    }

    // ---- giving back
    // ------------------------------------------------------------------------------------------------------------

    /** Gives the partition back as soon as what is under way is acknowledged. A takeover under way is finished first. */
    public void release() {
        releaseAsked = true;
        if (phase instanceof Active) {
            toReleasing();
        }
    }

    private void toReleasing() {
        Releasing releasing = new Releasing(nowNs + options.releaseNs());
        phase = releasing;
        checkpoint(current);
        maybeRelease(releasing);
    }

    private void maybeRelease(Releasing releasing) {
        boolean settled = window.isEmpty() && current.tracker().healthy() == current.holdersCount(highWatermark);
        if (!releasing.asked && (settled || nowNs >= releasing.sealByNs) && commit.isFree(nowNs)) {
            releasing.asked = true;
            releasing.sealOffset = highWatermark;
            out.release(commit.begin(++tickets), sealOf(highWatermark));
        }
    }

    /** How the release came out. */
    public void onReleased(int ticket, Outcome outcome) {
        if (!commit.isCurrent(ticket)) {
            return;
        }
        switch (outcome) {
            case COMMITTED -> depose(Deposition.RELEASED);
            case SUPERSEDED -> depose(Deposition.SUPERSEDED);
            case MOVED, UNKNOWN, SEGMENT_GONE -> out.readChain(commit.begin(++tickets));
            case NOT_DONE -> commit.failed(nowNs);
        }
    }

    /** Stops for good: a higher epoch exists, or the shell closes. Nothing is acknowledged any more (I-14). */
    public void depose(Deposition why) {
        if (phase instanceof Deposed) {
            return;
        }
        phase = new Deposed(why);
        // What is under way may still be answered, and even have succeeded; it is no business of this leader any more.
        allocation.giveUp();
        loading.giveUp();
        carrying.giveUp();
        commit.giveUp();
        while (!window.isEmpty()) {
            out.releasePayload(window.removeFirst());
        }
        current = null;
        next = null;
        trailing.clear();
        out.onDeposed(why);
    }

    // ---- time
    // -------------------------------------------------------------------------------------------------------------------

    /**
     * Time has come to {@code now}. Called every few milliseconds to tens of them.
     *
     * @param usable how many bookies take new segments, as far as is known
     */
    public void tick(long now, int usable) {
        nowNs = now;
        usableBookies = usable;
        if (phase instanceof Fencing f) {
            retryFences(f);
        } else if (phase instanceof Carrying c) {
            tickCarrying(c);
        } else if (phase instanceof Active) {
            dropSlow();
            if (current.tracker().healthy() >= options.replicas() && nowNs - current.openedNs() > options.avoidNs()) {
                improvement.done();
            }
            considerRoll();
        } else if (phase instanceof Rolling) {
            tickCommit();
            if (next == null && allocation.isDue(nowNs)) {
                allocate();
            }
        } else if (phase instanceof Releasing r) {
            tickReleasing(r);
        }
        closeTrailing();
    }

    private void retryFences(Fencing fencing) {
        for (int r = 0; r < fencing.steps.length; r++) {
            if (fencing.steps[r].isDue(nowNs)) {
                fence(fencing, r);
            }
        }
    }

    private void tickCarrying(Carrying c) {
        if (c.fenced != null) {
            retryFences(c.fenced);
        }
        if (loading.isDue(nowNs)) {
            loadState(c);
        }
        if (next == null && allocation.isDue(nowNs)) {
            allocate();
        }
        if (carrying.isDue(nowNs)) {
            readCarry(c);
        }
        tickCommit();
    }

    private void tickCommit() {
        if (!commit.isDue(nowNs)) {
            return;
        }
        if (readChainFirst) {
            readChainFirst = false;
            out.readChain(commit.begin(++tickets));
        } else {
            maybeCommit();
        }
    }

    private void tickReleasing(Releasing releasing) {
        if (!releasing.asked) {
            maybeRelease(releasing);
        } else if (commit.isDue(nowNs)) {
            if (readChainFirst) {
                readChainFirst = false;
                out.readChain(commit.begin(++tickets));
            } else {
                // The same seal again: the release is a compare-and-set, and what was sealed stays sealed there.
                out.release(commit.begin(++tickets), sealOf(releasing.sealOffset));
            }
        }
    }

    private void dropSlow() {
        for (int r = 0; r < current.replicas().size(); r++) {
            if (current.tracker().healthy() <= current.descriptor().acks()) {
                // Never below what acknowledges: better slow than not at all.
                return;
            }
            boolean slow = current.tracker().isSlow(r, nowNs, options.lagNsMax())
                    || (!current.tracker().isFailed(r)
                            && out.pendingBytes(current.number(), r) > options.lagBytesMax()
                            && current.tracker().end(r) < highWatermark);
            if (slow) {
                out.closeStream(current.number(), r, -1);
                onStreamFailed(current.number(), r);
            }
        }
    }

    private void closeTrailing() {
        for (int i = trailing.size() - 1; i >= 0; i--) {
            SegmentWriter sealed = trailing.get(i);
            if (nowNs >= sealed.trailUntilNs()) {
                closeStreams(sealed);
                trailing.remove(i);
            }
        }
    }
}
