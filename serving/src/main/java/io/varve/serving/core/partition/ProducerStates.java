package io.varve.serving.core.partition;

import io.varve.base.Invariant;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The producers of one partition by Kafka's rules (KIP-98, KIP-360, KIP-890): sequence numbers without gaps, repeats of the last five
 * batches answered with their first offsets, old epochs refused, and transactions up to their markers.
 *
 * <p>It runs ahead of the acknowledgements: what has been given an offset counts. Checking and changing are apart, so that replaying the log
 * goes through the same changes as appending to it.
 */
public final class ProducerStates {

    /** What becomes of a batch or a marker. */
    public enum Verdict {
        /** Append it. */
        ACCEPT,
        /** A repeat: its offsets stand in {@link #duplicateFirstOffset()} and the like until the next check. */
        DUPLICATE,
        /** A sequence number is missing in between, or it is older than what is remembered: that it was appended can't be known. */
        OUT_OF_ORDER,
        /** A newer process has the producer id. */
        STALE_EPOCH,
        /** Not as the transaction's state allows. */
        INVALID_TXN_STATE,
        /** A marker of a coordinator that was replaced. */
        STALE_COORDINATOR,
        /** The marker's transaction was ended by this very marker already. */
        ALREADY_ENDED
    }

    /**
     * How many producers are remembered at most, but for those with an open transaction. A program that is started a million times is a million
     * producers, and nobody says when one is gone: over the bound the one that has written nothing for the longest is forgotten.
     */
    static final int PRODUCERS_MAX = 10_000;

    /** How many with an open transaction are passed over for one that is to be forgotten: what a batch may cost is bounded. */
    private static final int PASSED_OVER_MAX = 8;

    private static final long NOTHING_FORGOTTEN = -1;

    private final LongMap<ProducerState> producers = new LongMap<>();
    private ProducersByAge byAge = new ProducersByAge();
    /** Open transactions by the offset of their first record. */
    private final TreeMap<Long, ProducerState> open = new TreeMap<>();
    /** Ended transactions whose marker isn't acknowledged yet: first record's offset to marker's offset. */
    private final TreeMap<Long, Long> undecided = new TreeMap<>();

    /** No producer with an id above this was ever forgotten here. */
    private long forgottenIdMax = NOTHING_FORGOTTEN;

    private long duplicateFirstOffset;
    private long duplicateLastOffset;
    private long duplicateTimestampMs;

    /** Of a log whose past is gone: any producer may have written there. */
    static ProducerStates ofUnknownPast() {
        ProducerStates states = new ProducerStates();
        states.forgottenIdMax = Long.MAX_VALUE;
        return states;
    }

    // ---- data
    // -------------------------------------------------------------------------------------------------------------------

    /**
     * What becomes of a client's batch of a producer with an id.
     *
     * @param verified whether the coordinator said that the transaction is open with this partition in it
     */
    public Verdict checkClient(
            long producerId, short epoch, int firstSequence, int records, boolean transactional, boolean verified) {
        ProducerState state = producers.get(producerId);
        int lastSequence = advance(firstSequence, records - 1);
        if (state != null) {
            if (epoch < state.epoch) {
                return Verdict.STALE_EPOCH;
            }
            if (epoch == state.epoch) {
                int found = state.find(firstSequence, lastSequence);
                if (found >= 0) {
                    duplicateFirstOffset = state.firstOffset(found);
                    duplicateLastOffset = state.lastOffset(found);
                    duplicateTimestampMs = state.timestampMs(found);
                    return Verdict.DUPLICATE;
                }
            }
            if (!isInSequence(state, epoch, firstSequence)) {
                return Verdict.OUT_OF_ORDER;
            }
        } else if (firstSequence > 0 && producerId > forgottenIdMax) {
            // It never wrote here, so its first batch is still under way: refused, perhaps, by the owner before. Taking
            // a later
            // one first would shut that one out for good.
            return Verdict.OUT_OF_ORDER;
        }
        // Of a producer that may have been forgotten any sequence number is right (T1, KIP-360).
        return checkTransaction(state, epoch, transactional, verified);
    }

    private static boolean isInSequence(ProducerState state, short epoch, int firstSequence) {
        return epoch != state.epoch
                ? firstSequence == 0 || state.epoch == ProducerState.NO_EPOCH
                : firstSequence == advance(state.lastSequence(), 1);
    }

    private static Verdict checkTransaction(ProducerState state, short epoch, boolean transactional, boolean verified) {
        boolean inTransaction = state != null && state.isInTransaction();
        if (inTransaction && !transactional && epoch == state.epoch) {
            return Verdict.INVALID_TXN_STATE;
        }
        return transactional && !inTransaction && !verified ? Verdict.INVALID_TXN_STATE : Verdict.ACCEPT;
    }

    /** What becomes of a coordinator's own batch: sequence numbers are not its business, epochs are. */
    public Verdict checkCoordinator(long producerId, short epoch) {
        ProducerState state = producers.get(producerId);
        return state != null && epoch < state.epoch ? Verdict.STALE_EPOCH : Verdict.ACCEPT;
    }

    /** Whether this producer has a transaction open here under this epoch. */
    public boolean isInTransaction(long producerId, short epoch) {
        ProducerState state = producers.get(producerId);
        return state != null && state.epoch == epoch && state.isInTransaction();
    }

    /** A batch has its offsets. */
    public void onBatch(
            long producerId,
            short epoch,
            int firstSequence,
            long firstOffset,
            long lastOffset,
            long maxTimestampMs,
            boolean transactional,
            long nowMs) {
        ProducerState state = writing(producerId);
        state.toEpoch(epoch);
        state.lastUpdateMs = nowMs;
        if (firstSequence >= 0) {
            int lastSequence = advance(firstSequence, (int) (lastOffset - firstOffset));
            state.add(firstSequence, lastSequence, firstOffset, lastOffset, maxTimestampMs);
        }
        if (transactional && !state.isInTransaction()) {
            state.txnFirstOffset = firstOffset;
            open.put(firstOffset, state);
        }
    }

    // ---- markers
    // ----------------------------------------------------------------------------------------------------------------

    /** What becomes of a marker. From transaction version 2 on each carries an epoch that no record of its transaction has (KIP-890). */
    public Verdict checkMarker(long producerId, short epoch, int coordinatorEpoch, int transactionVersion) {
        ProducerState state = producers.get(producerId);
        if (state == null) {
            return Verdict.ACCEPT;
        }
        if (coordinatorEpoch < state.coordinatorEpoch) {
            return Verdict.STALE_COORDINATOR;
        }
        if (epoch < state.epoch) {
            return Verdict.STALE_EPOCH;
        }
        if (transactionVersion >= 2 && epoch == state.epoch) {
            // It was given this epoch by the marker itself, whose answer got lost, or else the marker is wrong.
            return state.isInTransaction() || state.lastSequence() != ProducerState.NO_SEQUENCE
                    ? Verdict.STALE_EPOCH
                    : Verdict.ALREADY_ENDED;
        }
        return Verdict.ACCEPT;
    }

    /** A marker has its offset; what it aborts goes into {@code aborted}. */
    public void onMarker(
            long producerId,
            short epoch,
            int coordinatorEpoch,
            boolean commit,
            long markerOffset,
            long nowMs,
            AbortedTxns aborted) {
        ProducerState state = writing(producerId);
        state.toEpoch(epoch);
        state.coordinatorEpoch = Math.max(state.coordinatorEpoch, coordinatorEpoch);
        state.lastUpdateMs = nowMs;
        if (!state.isInTransaction()) {
            return;
        }
        long firstOffset = state.txnFirstOffset;
        Invariant.check(open.remove(firstOffset) == state, "an open transaction is known by its start", firstOffset);
        state.txnFirstOffset = ProducerState.NO_TXN;
        undecided.put(firstOffset, markerOffset);
        if (!commit) {
            long stable = open.isEmpty() ? markerOffset + 1 : open.firstKey();
            aborted.add(new AbortedTxns.Aborted(producerId, firstOffset, markerOffset, stable));
        }
    }

    // ---- stability, age
    // ---------------------------------------------------------------------------------------------------------

    /** The first offset at which a transaction is not known to be decided, at most the high watermark. Called as that rises. */
    public long lastStableOffset(long highWatermark) {
        // Their order by first record and by marker may differ, so all have to be looked at; there are few.
        undecided.values().removeIf(markerOffset -> markerOffset < highWatermark);
        long stable = highWatermark;
        if (!open.isEmpty()) {
            stable = Math.min(stable, open.firstKey());
        }
        if (!undecided.isEmpty()) {
            stable = Math.min(stable, undecided.firstKey());
        }
        return stable;
    }

    /** Forgets producers that were idle for so long, unless a transaction of theirs is open. Retention has nothing to do with it (T1). */
    public void expire(long nowMs, long idleMs) {
        producers.removeIf(state -> {
            boolean forgotten = !state.isInTransaction() && nowMs - state.lastUpdateMs > idleMs;
            if (forgotten) {
                onForgotten(state);
            }
            return forgotten;
        });
    }

    /** How many are known. */
    public int size() {
        return producers.size();
    }

    /** All of them, in order of id. */
    public List<Info> all() {
        List<Info> all = new ArrayList<>(producers.size());
        Consumer<ProducerState> add = s -> all.add(new Info(
                s.producerId, s.epoch, s.lastSequence(), s.lastUpdateMs, s.coordinatorEpoch, s.txnFirstOffset));
        producers.forEach(add);
        return all;
    }

    /** @param txnFirstOffset -1 without a transaction */
    public record Info(
            long producerId,
            short epoch,
            int lastSequence,
            long lastUpdateMs,
            int coordinatorEpoch,
            long txnFirstOffset) {}

    /** Each producer's last batch, in order of id: what a compaction must leave of it, so that its sequence goes on. */
    public List<LastBatch> lastBatches() {
        List<LastBatch> all = new ArrayList<>(producers.size());
        Consumer<ProducerState> add = s -> all.add(new LastBatch(s.producerId, s.epoch, s.newestOffset()));
        producers.forEach(add);
        return all;
    }

    /**
     * @param epoch the producer's
     * @param lastOffset of its last batch under that epoch, -1 if there is none: then its marker alone tells of the epoch
     */
    public record LastBatch(long producerId, short epoch, long lastOffset) {
        /** Without a batch. */
        public static final long NO_BATCH = -1;
    }

    /** Of the batch that was found to be a repeat. */
    public long duplicateFirstOffset() {
        return duplicateFirstOffset;
    }

    /** Inclusive. */
    public long duplicateLastOffset() {
        return duplicateLastOffset;
    }

    /** The largest time of its records. */
    public long duplicateTimestampMs() {
        return duplicateTimestampMs;
    }

    private ProducerState writing(long producerId) {
        ProducerState state = producers.get(producerId);
        if (state == null) {
            state = new ProducerState(producerId);
            producers.put(producerId, state);
            byAge.onWrite(state);
            forgetOverBound();
        } else {
            byAge.onWrite(state);
        }
        return state;
    }

    private void forgetOverBound() {
        for (int look = 0; look < PASSED_OVER_MAX && producers.size() > PRODUCERS_MAX; look++) {
            ProducerState oldest = byAge.oldest();
            if (oldest.isInTransaction()) {
                byAge.onWrite(oldest);
            } else {
                producers.remove(oldest.producerId);
                onForgotten(oldest);
            }
        }
    }

    private void onForgotten(ProducerState state) {
        byAge.remove(state);
        forgottenIdMax = Math.max(forgottenIdMax, state.producerId);
    }

    /** Sequence numbers wrap round to 0 after 2^31 - 1. */
    private static int advance(int sequence, int by) {
        return (int) ((long) sequence + by & Integer.MAX_VALUE);
    }

    // ---- form
    // -------------------------------------------------------------------------------------------------------------------

    int encodedBytes() {
        int[] bytes = {Integer.BYTES};
        producers.forEach(state -> bytes[0] += state.encodedBytes());
        return Long.BYTES + bytes[0] + Integer.BYTES + undecided.size() * 2 * Long.BYTES;
    }

    void encode(ByteBuffer to) {
        to.putLong(forgottenIdMax);
        to.putInt(producers.size());
        producers.forEach(state -> state.encode(to));
        to.putInt(undecided.size());
        for (Map.Entry<Long, Long> entry : undecided.entrySet()) {
            to.putLong(entry.getKey()).putLong(entry.getValue());
        }
    }

    static ProducerStates decode(ByteBuffer from) {
        ProducerStates states = new ProducerStates();
        states.forgottenIdMax = from.getLong();
        int count = LogState.count(from, ProducerState.encodedBytesMin());
        for (int i = 0; i < count; i++) {
            ProducerState state = ProducerState.decode(from);
            states.producers.put(state.producerId, state);
            if (state.isInTransaction()) {
                states.open.put(state.txnFirstOffset, state);
            }
        }
        states.byAge = ProducersByAge.of(states.producers);
        int ended = LogState.count(from, 2 * Long.BYTES);
        for (int i = 0; i < ended; i++) {
            states.undecided.put(from.getLong(), from.getLong());
        }
        return states;
    }
}
