package io.varve.serving.kafka.txn;

import io.varve.serving.core.txn.Txn;
import io.varve.serving.core.txn.TxnDecision;
import io.varve.serving.core.txn.TxnRules;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.common.runtime.CoordinatorShard;
import org.apache.kafka.coordinator.transaction.generated.TransactionLogKey;
import org.apache.kafka.coordinator.transaction.generated.TransactionLogValue;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.apache.kafka.timeline.TimelineHashMap;

/**
 * The transactional ids of one partition of {@code __transaction_state}. Decides by {@link TxnRules} on what is written, durable or not, and
 * changes only in {@link #replay}. The runtime gives it one event at a time and answers when the decision is durable.
 */
final class TxnShard implements CoordinatorShard<CoordinatorRecord> {

    /** How many transactions one look for late or forgotten ones ends at most: it holds up everybody else. */
    private static final int SWEEP_MAX = 200;

    private final TimelineHashMap<String, Txn> txns;
    private final IntSupplier coordinatorEpoch;
    private final Runnable onLoaded;

    /**
     * @param coordinatorEpoch of the log that this was loaded from
     * @param onLoaded called once, when it is loaded
     */
    TxnShard(SnapshotRegistry snapshots, IntSupplier coordinatorEpoch, Runnable onLoaded) {
        this.txns = new TimelineHashMap<>(snapshots, 0);
        this.coordinatorEpoch = coordinatorEpoch;
        this.onLoaded = onLoaded;
    }

    /** The present state of an id, durable or not. */
    Optional<Txn> get(String id) {
        return Optional.ofNullable(txns.get(id));
    }

    /** The durable state of an id as of {@code committedOffset}. */
    Optional<Txn> get(String id, long committedOffset) {
        return Optional.ofNullable(txns.get(id, committedOffset));
    }

    /** All durable states as of {@code committedOffset}. */
    Collection<Txn> all(long committedOffset) {
        return txns.values(committedOffset);
    }

    /** Decides, and writes what changes. */
    CoordinatorResult<Decided, CoordinatorRecord> decide(String id, Function<Optional<Txn>, TxnDecision> rule) {
        TxnDecision decision = rule.apply(get(id));
        return new CoordinatorResult<>(
                decision.changed().map(TxnRecords::record).map(List::of).orElse(List.of()),
                new Decided(decision, coordinatorEpoch.getAsInt()));
    }

    /** @param coordinatorEpoch in which it was decided */
    record Decided(TxnDecision decision, int coordinatorEpoch) {}

    /** @param coordinatorEpoch in which these are to be ended */
    record Prepared(List<Txn> txns, int coordinatorEpoch) {}

    /** All markers of {@code prepared} are written. Answers whether that was still to be said. */
    CoordinatorResult<Boolean, CoordinatorRecord> complete(Txn prepared, long nowMs) {
        Optional<Txn> next = TxnRules.complete(get(prepared.id()), prepared.producerId(), prepared.epoch(), nowMs);
        return new CoordinatorResult<>(
                next.map(TxnRecords::record).map(List::of).orElse(List.of()), next.isPresent());
    }

    /** The transactions whose markers are to be written. */
    CoordinatorResult<Prepared, CoordinatorRecord> prepared() {
        List<Txn> prepared = new ArrayList<>();
        for (Txn txn : txns.values()) {
            if (txn.status().prepared()) {
                prepared.add(txn);
            }
        }
        return new CoordinatorResult<>(List.of(), new Prepared(prepared, coordinatorEpoch.getAsInt()));
    }

    /** Aborts transactions that are open for too long; answers those that it prepared to abort. */
    CoordinatorResult<Prepared, CoordinatorRecord> timeOut(long nowMs) {
        List<CoordinatorRecord> records = new ArrayList<>();
        List<Txn> aborted = new ArrayList<>();
        for (Txn txn : txns.values()) {
            Optional<Txn> next = TxnRules.timeOut(txn, nowMs).changed();
            if (next.isPresent() && aborted.size() < SWEEP_MAX) {
                records.add(TxnRecords.record(next.get()));
                aborted.add(next.get());
            }
        }
        return new CoordinatorResult<>(records, new Prepared(aborted, coordinatorEpoch.getAsInt()));
    }

    /** Forgets ids that nothing has happened to for {@code retentionMs}; answers how many. */
    CoordinatorResult<Integer, CoordinatorRecord> expire(long retentionMs, long nowMs) {
        List<CoordinatorRecord> records = new ArrayList<>();
        for (Txn txn : txns.values()) {
            if (records.size() < SWEEP_MAX && TxnRules.expired(txn, retentionMs, nowMs)) {
                records.add(TxnRecords.tombstone(txn.id()));
            }
        }
        return new CoordinatorResult<>(records, records.size());
    }

    @Override
    public void replay(long offset, long producerId, short producerEpoch, CoordinatorRecord record) {
        if (!(record.key() instanceof TransactionLogKey key)) {
            throw new IllegalStateException("not a record of a transaction log: " + record.key());
        }
        if (record.value() == null) {
            txns.remove(key.transactionalId());
        } else {
            TransactionLogValue value = (TransactionLogValue) record.value().message();
            txns.put(key.transactionalId(), TxnRecords.read(key.transactionalId(), value));
        }
    }

    @Override
    public void onLoaded(CoordinatorMetadataImage image) {
        onLoaded.run();
    }
}
