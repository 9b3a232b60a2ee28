package io.varve.metadata.model;

import io.varve.base.Invariant;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * One segment: a run of entries of one partition with consecutive offsets, written under one epoch onto one fixed set of replicas.
 *
 * @param id never reused
 * @param partition whose it is
 * @param epoch the owner's epoch when the segment was allocated
 * @param state see {@link State}
 * @param startOffset the first offset it may hold; of a pending one a first guess, which the roll replaces by the seal's end
 * @param endOffset exclusive; {@link #UNSEALED} until it is sealed
 * @param acks A as the topic had it when the segment was allocated: a takeover must know how many replicas each of its entries was
 *     acknowledged by (I-5), whatever the topic says now
 * @param replicas the copies on bookies that may be read, in a fixed order; empty once all were ordered to be deleted. Of a sealed
 *     segment: those known to hold all of it durably
 * @param unconfirmed of a sealed segment: replicas that were written to but not known to reach the end when it was sealed. They are not
 *     read. Each becomes a replica again when it is confirmed to hold everything below the end (being a prefix by one writer, it then
 *     holds the same bytes, I-3), and is repaired when it isn't confirmed in time
 * @param bytes payload and entry headers, known from the seal on; {@code -1} before
 * @param maxTimestampMs the largest record time in it, {@code -1} if unknown or without records
 * @param createdMs wall time of its allocation: nothing in it was written before. Of what compaction has looked at in part, that of the first segment of which something is in the rest, for {@code max.compaction.lag.ms}
 * @param sealedMs wall time of its seal, for retention and offload; {@code -1} before
 * @param object where object storage holds it, once that was verified and committed (I-10)
 * @param compactedEnd exclusive: what lies below was looked at by compaction, and holds what that left; {@link #NEVER_COMPACTED} if it holds all that its owner was sent. A pending one
 *     with this set is a rewrite: it has an end from the beginning, and is never rolled in
 */
public record SegmentDescriptor(
        SegmentId id,
        PartitionId partition,
        int epoch,
        State state,
        long startOffset,
        long endOffset,
        int acks,
        List<Replica> replicas,
        List<Replica> unconfirmed,
        long bytes,
        long maxTimestampMs,
        long createdMs,
        long sealedMs,
        Optional<ObjectRef> object,
        long compactedEnd) {

    /** The end of a segment that has none yet. */
    public static final long UNSEALED = -1;

    /** The {@link #compactedEnd} of a segment that no compaction wrote. */
    public static final long NEVER_COMPACTED = -1;

    /** How far a segment has come. Only forward. */
    public enum State {
        /** Allocated, but no roll has put it into a chain: nothing in it counts (I-6). */
        PENDING,
        /** The last of its chain. */
        OPEN,
        /** Closed at its end offset for ever. */
        SEALED
    }

    public SegmentDescriptor {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(state, "state");
        Objects.requireNonNull(object, "object");
        replicas = List.copyOf(replicas);
        unconfirmed = List.copyOf(unconfirmed);
        Invariant.check(acks >= 1, "entries are acknowledged by at least one replica", acks);
        Invariant.check(startOffset >= 0, "a segment's start is not negative", startOffset);
        Invariant.check(
                (state == State.SEALED || state == State.PENDING && compactedEnd != NEVER_COMPACTED)
                        == (endOffset != UNSEALED),
                "a segment has an end when it is sealed, and a rewrite from the beginning",
                endOffset);
        Invariant.check(
                endOffset == UNSEALED || endOffset >= startOffset,
                "a segment ends after its start",
                startOffset,
                endOffset);
        Invariant.check(
                compactedEnd == NEVER_COMPACTED || compactedEnd > startOffset && compactedEnd <= endOffset,
                "what compaction has looked at lies in the segment",
                compactedEnd);
    }

    /** One that no compaction wrote. */
    public SegmentDescriptor(
            SegmentId id,
            PartitionId partition,
            int epoch,
            State state,
            long startOffset,
            long endOffset,
            int acks,
            List<Replica> replicas,
            List<Replica> unconfirmed,
            long bytes,
            long maxTimestampMs,
            long createdMs,
            long sealedMs,
            Optional<ObjectRef> object) {
        this(
                id,
                partition,
                epoch,
                state,
                startOffset,
                endOffset,
                acks,
                replicas,
                unconfirmed,
                bytes,
                maxTimestampMs,
                createdMs,
                sealedMs,
                object,
                NEVER_COMPACTED);
    }

    /** Whether it is a rewrite that isn't in a chain yet. */
    public boolean isRewrite() {
        return state == State.PENDING && isCompacted();
    }

    /** Whether compaction wrote it, or is to. */
    public boolean isCompacted() {
        return compactedEnd != NEVER_COMPACTED;
    }

    /** Whether compaction has looked at what is at {@code offset}. */
    public boolean isCompactedAt(long offset) {
        return offset < compactedEnd;
    }

    /** Whether {@code offset} lies in it; an open one holds everything from its start on. */
    public boolean covers(long offset) {
        return offset >= startOffset && (endOffset == UNSEALED || offset < endOffset);
    }

    /** Whether it was sealed without an entry. */
    public boolean isEmpty() {
        return state == State.SEALED && endOffset == startOffset;
    }

    /**
     * The time by which a sealed segment's age is told: its newest record's, unless that lies in the future of its seal (a producer's clock is no reason to keep data
     * for ever) or isn't known.
     */
    public long ageStampMs() {
        return maxTimestampMs < 0 || maxTimestampMs > sealedMs ? sealedMs : maxTimestampMs;
    }

    /** Whether the metadata service has committed a verified copy in object storage. */
    public boolean isOffloaded() {
        return object.isPresent();
    }
}
