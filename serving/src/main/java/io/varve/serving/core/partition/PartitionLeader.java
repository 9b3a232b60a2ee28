package io.varve.serving.core.partition;

import io.varve.base.BookieId;
import io.varve.base.Invariant;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.core.partition.LeaderEffects.Deposition;
import java.util.SortedSet;

/**
 * The owner's side of the segment protocol for one partition under one epoch: takeover, appending, live rolls, giving back.
 *
 * <p><b>Phases.</b> {@link Fencing} raises the fence on the replicas of the open segment until R - A + 1 truthful replies are in (I-5);
 * {@link Carrying} loads the owner's state, gets a new segment, and writes into it what lies between the seal and the largest end that was
 * replied; the roll makes it {@link Active}. {@link Rolling} is the live form: the seal is the high watermark, which stands still until the roll
 * has committed (I-6), while appends go on into the next segment. {@link Releasing} waits for what is under way and gives the partition back sealed.
 * {@link Deposed} is the end, and no phase follows it (I-14).
 *
 * <pre>
 *   Unstarted ──► Fencing ◄──► Carrying ──► Active ◄──► Rolling        any ──► Deposed
 *        └──────(no open segment)──▲           └──► Releasing
 * </pre>
 *
 * <p><b>Parts.</b> {@link SegmentWriters} is the log's end: segments, window, high watermark (I-1, I-2, I-16); {@link SegmentSupply} gets segments;
 * {@link ChainChange} brings one change of the chain to a known outcome (I-17); {@link RollPolicy} and {@link RollLookup} decide.
 *
 * <p><b>Why one kind of roll is enough.</b> Size, age, a dead replica and a slow one all end in the same three steps: freeze the high
 * watermark, carry what lies above it, commit. Whatever goes wrong on the way is mended by another roll afterwards, so that no change of
 * a replica set ever happens inside a segment; that is where the losses of systems before this one came from.
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

    private final Tenure<P> tenure;

    /**
     * @param epoch the owner's
     * @param rules {@link SegmentRules#STANDARD} everywhere but in the simulation's tests of itself
     */
    public PartitionLeader(int epoch, LeaderOptions options, SegmentRules rules, LeaderEffects<P> out, long nowNs) {
        this.tenure = new Tenure<>(epoch, options, rules, out, nowNs);
    }

    // ---- what it is
    // -------------------------------------------------------------------------------------------------------------

    /** The owner's epoch. */
    public int epoch() {
        return tenure.epoch();
    }

    /** The first offset not yet assigned. */
    public long endOffset() {
        return tenure.writers().endOffset();
    }

    /** The first offset not yet acknowledged. Only once it serves. */
    public long highWatermark() {
        return tenure.writers().highWatermark();
    }

    /** Whether the takeover is complete and the partition was not lost or given back since. */
    public boolean isServing() {
        return tenure.phase().isServing();
    }

    /** Whether it has stopped for good. */
    public boolean isDeposed() {
        return tenure.phase() instanceof Deposed;
    }

    /** Bytes assigned and not acknowledged. */
    public long windowBytes() {
        return tenure.writers().window().bytes();
    }

    /** The phase's name, for people. */
    public String phaseName() {
        return tenure.phase().getClass().getSimpleName();
    }

    /** The segment that new entries go to, or null while there is none. */
    public SegmentWriter writing() {
        return tenure.writers().writing();
    }

    // ---- takeover
    // ---------------------------------------------------------------------------------------------------------------

    /**
     * Takes the partition over, as the metadata service describes it under this leader's epoch. Called once.
     *
     * @param prepared a segment that is allocated under this epoch already, or null: then the takeover asks for one
     */
    public void start(PartitionState state, SegmentDescriptor prepared) {
        Invariant.check(
                state.epoch() == epoch(), "a leader starts with the state of its own epoch", state.epoch(), epoch());
        Invariant.check(tenure.phase() instanceof Unstarted, "a leader starts once");
        if (prepared != null) {
            Invariant.check(prepared.epoch() == epoch(), "a prepared segment is of this epoch", prepared.epoch());
            tenure.supply().prepare(prepared);
        }
        SegmentDescriptor open = state.chain().open().orElse(null);
        if (open == null) {
            long end = state.chain()
                    .last()
                    .map(SegmentDescriptor::endOffset)
                    .orElseGet(() ->
                            state.chain().manifest().map(m -> m.endOffset()).orElse(state.logStartOffset()));
            tenure.become(new Carrying<>(tenure, null, end, end)).begin();
        } else {
            Fences<P> fences = new Fences<>(tenure, open);
            tenure.become(new Fencing<>(tenure, fences));
            fences.askAll();
        }
    }

    /** A replica was fenced, holds everything below {@code end} durably, and was told of that high watermark. */
    public void onFenced(int ticket, int replica, long end, long highWatermarkTold) {
        Fences<P> fences = tenure.phase().fences();
        if (fences != null && fences.accept(ticket, replica)) {
            fences.tally().onHeld(replica, end, highWatermarkTold);
            tenure.phase().onFenceReply();
        }
    }

    /** A bookie is fenced, and vouches that it never had the segment. */
    public void onFencedAbsent(int ticket, int replica) {
        Fences<P> fences = tenure.phase().fences();
        if (fences != null && fences.accept(ticket, replica)) {
            fences.tally().onAbsent(replica);
            tenure.phase().onFenceReply();
        }
    }

    /** No reply that counts: a time-out, or a bookie that can't vouch. It is asked again after a pause. */
    public void onFenceFailed(int ticket, int replica) {
        Fences<P> fences = tenure.phase().fences();
        if (fences != null) {
            fences.onFailed(ticket, replica);
        }
    }

    /** A bookie holds a higher fence, or refused an append for one: somebody newer owns the partition. */
    public void onHigherFence() {
        depose(Deposition.SUPERSEDED);
    }

    /**
     * The owner's state is that at the seal.
     *
     * @param sealedBytes what the sealed segment holds below the seal, -1 if that can't be told
     * @param maxTimestampMs likewise its largest record time
     */
    public void onStateLoaded(int ticket, long sealedBytes, long maxTimestampMs) {
        if (tenure.phase() instanceof Carrying<P> carrying) {
            carrying.onStateLoaded(ticket, sealedBytes, maxTimestampMs);
        }
    }

    /** Whether the state asked for under this ticket is still wanted. */
    public boolean isLoading(int ticket) {
        return tenure.phase() instanceof Carrying<P> carrying && carrying.isLoading(ticket);
    }

    /** The owner's state could not be loaded now. */
    public void onStateFailed(int ticket) {
        if (tenure.phase() instanceof Carrying<P> carrying) {
            carrying.onStateFailed(ticket);
        }
    }

    /** Whether the entries read under this ticket are still wanted. */
    public boolean isCarrying(int ticket) {
        return tenure.phase() instanceof Carrying<P> carrying && carrying.isReading(ticket);
    }

    /** The next entry of the range asked for, while {@link #isCarrying}. The leader takes the payload over. */
    public void onCarried(
            int ticket, long firstOffset, long lastOffset, int crc, int sizeBytes, long maxTimestampMs, P payload) {
        Invariant.check(isCarrying(ticket), "carried entries are wanted");
        ((Carrying<P>) tenure.phase())
                .onCarried(ticket, firstOffset, lastOffset, crc, sizeBytes, maxTimestampMs, payload);
    }

    /** The replica could not deliver the rest of the range. */
    public void onCarryFailed(int ticket, int replica) {
        if (tenure.phase() instanceof Carrying<P> carrying) {
            carrying.onCarryFailed(ticket, replica);
        }
    }

    // ---- appending
    // --------------------------------------------------------------------------------------------------------------

    /** Whether an append of so many bytes would be taken. */
    public Admission admit(long sizeBytes) {
        if (!tenure.phase().isAppending()) {
            return Admission.NOT_SERVING;
        }
        SegmentWriter writer = writing();
        boolean canBeAcknowledged = writer != null && writer.tracker().hasQuorum();
        if (!canBeAcknowledged && tenure.supply().isFailing()) {
            return Admission.NOT_ENOUGH_REPLICAS;
        }
        EntryWindow<P> window = tenure.writers().window();
        return !window.isEmpty()
                        && window.bytes() + sizeBytes > tenure.options().windowBytesMax()
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
        Invariant.check(tenure.phase().isAppending(), "I-14 appends only while serving");
        tenure.writers().enter(firstOffset, lastOffset, crc, sizeBytes, maxTimestampMs, payload);
        tenure.writers().checkpointIfDue();
        considerRoll();
    }

    /** Everything below {@code end} that was sent on this stream is durable there. */
    public void onDurable(int writerNumber, int replica, long end) {
        tenure.writers().onDurable(writerNumber, replica, end);
    }

    /** A stream is over. */
    public void onStreamFailed(int writerNumber, int replica) {
        tenure.writers().onStreamFailed(writerNumber, replica);
    }

    // ---- rolling and giving back
    // ------------------------------------------------------------------------------------------------

    /** Rolls as soon as possible, for a reason that the leader can't see. */
    public void roll() {
        tenure.setRollAsked(true);
        considerRoll();
    }

    /** Bookies that are being emptied: what is written there, or is to be next, goes on elsewhere as soon as possible. */
    public void leave(SortedSet<BookieId> bookies) {
        SegmentWriter writer = writing();
        boolean isThere =
                writer != null && writer.replicas().stream().anyMatch(replica -> bookies.contains(replica.bookie()));
        if (tenure.supply().dropPreparedOn(bookies) || isThere) {
            roll();
        }
    }

    private void considerRoll() {
        if (tenure.phase() instanceof Active<P> active) {
            active.considerRoll();
        }
    }

    /** Gives the partition back as soon as what is under way is acknowledged. A takeover under way is finished first. */
    public void release() {
        tenure.setReleaseAsked();
        if (tenure.phase() instanceof Active<P>) {
            Releasing.begin(tenure);
        }
    }

    /** New limits, from the next decision on. */
    public void onOptions(LeaderOptions changed) {
        tenure.setOptions(changed);
    }

    /** A segment to go on in. */
    public void onAllocated(int ticket, SegmentDescriptor segment) {
        if (tenure.supply().accept(ticket)) {
            tenure.phase().onAllocated(segment);
        }
    }

    /** No segment to be had. */
    public void onAllocateFailed(int ticket, AllocationFailure failure) {
        if (!tenure.supply().isCurrent(ticket)) {
            return;
        }
        switch (failure) {
            case SUPERSEDED -> depose(Deposition.SUPERSEDED);
            case NOT_ENOUGH_BOOKIES, UNAVAILABLE -> tenure.supply().onFailed();
        }
    }

    /** How the roll came out. */
    public void onRolled(int ticket, Outcome outcome) {
        onChanged(ticket, outcome);
    }

    /** How the release came out. */
    public void onReleased(int ticket, Outcome outcome) {
        onChanged(ticket, outcome);
    }

    private void onChanged(int ticket, Outcome outcome) {
        ChainChange<P> change = tenure.change();
        if (!change.isCurrent(ticket)) {
            return;
        }
        switch (outcome) {
            case COMMITTED -> tenure.phase().onChangeCommitted();
            case SUPERSEDED -> depose(Deposition.SUPERSEDED);
            case MOVED, UNKNOWN -> change.look();
            case SEGMENT_GONE -> tenure.phase().onSegmentGone();
            case NOT_DONE -> change.tryAgain();
        }
    }

    /** The partition as a linearizable read found it. */
    public void onChain(int ticket, PartitionState state, boolean stillOwned) {
        if (!tenure.change().isCurrent(ticket)) {
            return;
        }
        if (state.epoch() != epoch() || !stillOwned) {
            depose(tenure.phase().whyNotOwned());
        } else {
            tenure.phase().onChainRead(state);
        }
    }

    /** It could not be read now. */
    public void onChainUnread(int ticket) {
        if (tenure.change().isCurrent(ticket)) {
            tenure.change().onUnread();
        }
    }

    /** Stops for good: a higher epoch exists, or the shell closes. Nothing is acknowledged any more (I-14). */
    public void depose(Deposition why) {
        tenure.depose(why);
    }

    // ---- time
    // -------------------------------------------------------------------------------------------------------------------

    /**
     * Time has come to {@code now}. Called every few milliseconds to tens of them.
     *
     * @param usable how many bookies take new segments, as far as is known
     */
    public void tick(long now, int usable) {
        tenure.onTime(now, usable);
        tenure.phase().onTick();
        tenure.writers().closeOverdue();
    }
}
