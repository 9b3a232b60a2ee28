package io.varve.itest.sim;

import io.varve.base.PartitionId;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLog.AppendOptions;
import io.varve.serving.log.PartitionLog.AppendResult;
import io.varve.serving.log.PartitionLog.Batch;
import io.varve.serving.log.PartitionLogs.Lookup;
import io.varve.sim.SimRandomness;
import io.varve.sim.SimScheduler;
import java.util.ArrayDeque;
import java.util.List;

/**
 * An idempotent producer of one partition, as Kafka's is: up to five batches under way, in order; on trouble it waits for what is under way, finds
 * the owner anew and sends everything unacknowledged again, in order and with its old sequence numbers.
 */
final class SimProducer {

    private static final int IN_FLIGHT_MAX = 5;
    private static final long REQUEST_TIMEOUT_NS = 700_000_000L;
    private static final long RETRY_NS = 20_000_000L;

    private final SimCluster cluster;
    private final SimScheduler scheduler;
    private final SimRandomness randomness;
    private final PartitionId partition;
    private final long producerId;
    private final ArrayDeque<Sent> unacknowledged = new ArrayDeque<>();
    private int nextSequence;
    private long nextArrivalNs;
    private int attempt;
    private boolean troubled;
    private boolean stopped;
    private int gapNsMax = 6_000_000;

    SimProducer(SimCluster cluster, PartitionId partition, long producerId) {
        this.cluster = cluster;
        this.scheduler = cluster.scheduler();
        this.randomness = scheduler.randomness().split();
        this.partition = partition;
        this.producerId = producerId;
    }

    private static final class Sent {
        final long number;
        final int sequence;
        final int records;
        final int fillBytes;
        boolean answered;

        Sent(long number, int sequence, int records, int fillBytes) {
            this.number = number;
            this.sequence = sequence;
            this.records = records;
            this.fillBytes = fillBytes;
        }
    }

    void start() {
        scheduler.schedule(randomness.nextInt(gapNsMax), this::produce);
    }

    /** No new batches; what was sent is still brought home. */
    void stop() {
        stopped = true;
    }

    boolean isDone() {
        return stopped && unacknowledged.isEmpty();
    }

    private void produce() {
        if (stopped) {
            return;
        }
        if (!troubled && unacknowledged.size() < IN_FLIGHT_MAX) {
            Sent sent =
                    new Sent(cluster.nextNumber(), nextSequence, 1 + randomness.nextInt(3), randomness.nextInt(200));
            nextSequence += sent.records;
            unacknowledged.addLast(sent);
            cluster.find(partition).ifPresentOrElse(log -> send(log, sent), this::onTrouble);
        }
        scheduler.schedule(randomness.nextInt(gapNsMax), this::produce);
    }

    private void send(PartitionLog log, Sent sent) {
        int sentIn = attempt;
        scheduler.schedule(REQUEST_TIMEOUT_NS, () -> {
            if (sentIn == attempt && !sent.answered) {
                onTrouble();
            }
        });
        // One connection keeps order: what is sent later arrives later.
        nextArrivalNs = Math.max(nextArrivalNs + 1, scheduler.nanoTime() + randomness.between(20_000, 400_000));
        scheduler.schedule(nextArrivalNs - scheduler.nanoTime(), () -> {
            List<Batch> batch = List.of(SimBatches.batch(
                    sent.number,
                    sent.records,
                    sent.fillBytes,
                    scheduler.wallTimeMs(),
                    producerId,
                    (short) 0,
                    sent.sequence,
                    false));
            cluster.observe(log.append(batch, AppendOptions.CLIENT), result -> onAnswer(sentIn, sent, result));
        });
    }

    private void onAnswer(int sentIn, Sent sent, AppendResult result) {
        if (result.error() == LogError.NONE && !sent.answered) {
            // Also the late answer to an attempt given up: it is true all the same.
            sent.answered = true;
            cluster.history().onMayBeLeftOut(sent.number);
            cluster.history().onAcked(partition, sent.number, result.baseOffset(), result.lastOffset());
            History.require(
                    result.lastOffset() - result.baseOffset() + 1 == sent.records,
                    "an append takes as many offsets as it has records");
            while (!unacknowledged.isEmpty() && unacknowledged.peekFirst().answered) {
                unacknowledged.pollFirst();
            }
        } else if (sentIn == attempt && !sent.answered) {
            boolean first = unacknowledged.peekFirst() == sent;
            History.require(
                    !first || result.error() != LogError.OUT_OF_ORDER_SEQUENCE,
                    "T4 the first batch not acknowledged is never out of order: " + result.message());
            onTrouble();
        }
    }

    private void onTrouble() {
        if (troubled) {
            return;
        }
        troubled = true;
        attempt++;
        scheduler.schedule(RETRY_NS, this::resend);
    }

    private void resend() {
        var log = cluster.find(partition);
        if (log.isEmpty()) {
            scheduler.schedule(RETRY_NS, this::resend);
            return;
        }
        troubled = false;
        attempt++;
        for (Sent sent : unacknowledged) {
            if (!sent.answered) {
                send(log.get(), sent);
            }
        }
    }

    /** For the cluster to tell the lookups apart. */
    static PartitionLog served(Lookup lookup) {
        return lookup instanceof Lookup.Served served ? served.log() : null;
    }
}
