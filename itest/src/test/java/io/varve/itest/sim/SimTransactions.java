package io.varve.itest.sim;

import io.varve.base.PartitionId;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLog.AppendOptions;
import io.varve.serving.log.PartitionLog.AppendResult;
import io.varve.serving.log.PartitionLog.Marker;
import io.varve.sim.SimRandomness;
import io.varve.sim.SimScheduler;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A transactional producer and its coordinator in one: writes some batches, one after the other, decides, and sends the marker until it is acknowledged.
 * Under transaction version 2 the marker raises the epoch (KIP-890), under version 1 it doesn't.
 */
final class SimTransactions {

    private static final long REQUEST_TIMEOUT_NS = 700_000_000L;
    private static final long RETRY_NS = 20_000_000L;

    /** What was decided of a transaction's batches, by their numbers; false is abort. What isn't in here is open. */
    private final TreeMap<Long, Boolean> decided = new TreeMap<>();

    private final TreeMap<Long, Boolean> acknowledged = new TreeMap<>();
    private final TreeMap<Long, Boolean> underWay = new TreeMap<>();
    private final SimCluster cluster;
    private final SimScheduler scheduler;
    private final SimRandomness randomness;
    private final PartitionId partition;
    private final long producerId;
    private final short version;
    private short epoch;
    private int sequence;
    private int batchesLeft;
    private int attempt;
    private boolean stopped;
    private boolean idle;

    SimTransactions(SimCluster cluster, PartitionId partition, long producerId) {
        this.cluster = cluster;
        this.scheduler = cluster.scheduler();
        this.randomness = scheduler.randomness().split();
        this.partition = partition;
        this.producerId = producerId;
        this.version = (short) (1 + randomness.nextInt(2));
    }

    void start() {
        scheduler.schedule(randomness.nextInt(30_000_000), this::begin);
    }

    void stop() {
        stopped = true;
    }

    boolean isDone() {
        return stopped && idle;
    }

    /** Whether the batch of that number is one of a transaction of this producer. */
    boolean isOurs(long number) {
        return acknowledged.containsKey(number) || underWay.containsKey(number);
    }

    /** A reader of committed data was given this batch. */
    void onDelivered(long number) {
        History.require(decided.containsKey(number), "C7 batch " + number + " of an open transaction was delivered");
        History.require(decided.get(number), "C7 batch " + number + " of an aborted transaction was delivered");
    }

    /** Every batch of a committed transaction must have been delivered. */
    void checkDelivered(TreeMap<Long, Long> readByNumber) {
        decided.forEach((number, commit) -> History.require(
                !commit || readByNumber.containsKey(number),
                "C7 batch " + number + " of a committed transaction was not delivered"));
    }

    private void begin() {
        idle = stopped;
        if (!stopped) {
            underWay.clear();
            batchesLeft = 1 + randomness.nextInt(4);
            writeNext();
        }
    }

    private void writeNext() {
        if (batchesLeft-- > 0) {
            long number = cluster.nextNumber();
            underWay.put(number, true);
            int at = sequence;
            sequence++;
            untilAcknowledged(
                    log -> log.append(
                            List.of(SimBatches.batch(
                                    number,
                                    1,
                                    randomness.nextInt(100),
                                    scheduler.wallTimeMs(),
                                    producerId,
                                    epoch,
                                    at,
                                    true)),
                            AppendOptions.verifiedAt(Long.MAX_VALUE)),
                    result -> {
                        acknowledged.put(number, true);
                        cluster.history().onAcked(partition, number, result.baseOffset(), result.lastOffset());
                        scheduler.schedule(randomness.nextInt(20_000_000), this::writeNext);
                    });
        } else {
            decide();
        }
    }

    private void decide() {
        boolean commit = randomness.percent(50);
        underWay.keySet().forEach(number -> decided.put(number, commit));
        if (!commit) {
            underWay.keySet().forEach(cluster.history()::onAborted);
        }
        scheduler.trace("producer " + producerId + (commit ? " commits " : " aborts ") + underWay.keySet());
        short markerEpoch = version == 2 ? (short) (epoch + 1) : epoch;
        untilAcknowledged(log -> log.appendMarker(new Marker(producerId, markerEpoch, 1, commit, version)), result -> {
            scheduler.trace("producer " + producerId + " ended at " + result.baseOffset());
            if (version == 2) {
                epoch++;
                sequence = 0;
            }
            scheduler.schedule(randomness.nextInt(40_000_000), this::begin);
        });
    }

    private void untilAcknowledged(
            Function<PartitionLog, CompletableFuture<AppendResult>> call,
            java.util.function.Consumer<AppendResult> then) {
        int in = ++attempt;
        Optional<PartitionLog> log = cluster.find(partition);
        if (log.isEmpty()) {
            scheduler.schedule(RETRY_NS, () -> untilAcknowledged(call, then));
            return;
        }
        scheduler.schedule(REQUEST_TIMEOUT_NS, () -> {
            if (in == attempt) {
                untilAcknowledged(call, then);
            }
        });
        cluster.observe(call.apply(log.get()), result -> {
            if (in != attempt) {
                return;
            }
            attempt++;
            if (result.error() == LogError.NONE) {
                then.accept(result);
            } else {
                History.require(
                        result.error() != LogError.INVALID_TXN_STATE
                                && result.error() != LogError.INVALID_PRODUCER_EPOCH
                                && result.error() != LogError.OUT_OF_ORDER_SEQUENCE,
                        "a transaction is refused without reason: " + result);
                scheduler.schedule(RETRY_NS, () -> untilAcknowledged(call, then));
            }
        });
    }
}
