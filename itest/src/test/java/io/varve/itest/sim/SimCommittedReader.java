package io.varve.itest.sim;

import io.netty.buffer.ByteBuf;
import io.varve.base.PartitionId;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLog.AbortedTxn;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.ReadResult;
import io.varve.sim.SimRandomness;
import io.varve.sim.SimScheduler;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** A consumer with {@code isolation.level=read_committed}: skips what the answer's list says was aborted, by the rule that Kafka's clients follow. */
final class SimCommittedReader {

    private static final long PAUSE_NS = 25_000_000L;
    private static final long TIMEOUT_NS = 900_000_000L;

    private final SimCluster cluster;
    private final SimScheduler scheduler;
    private final SimRandomness randomness;
    private final PartitionId partition;
    private final List<SimTransactions> transactions;
    private final TreeMap<Long, Long> delivered = new TreeMap<>();
    private long position;
    private int attempt;

    SimCommittedReader(SimCluster cluster, PartitionId partition, List<SimTransactions> transactions) {
        this.cluster = cluster;
        this.scheduler = cluster.scheduler();
        this.randomness = scheduler.randomness().split();
        this.partition = partition;
        this.transactions = transactions;
    }

    void start() {
        fetch();
    }

    long position() {
        return position;
    }

    /** Every batch of a committed transaction was delivered. */
    void checkDelivered() {
        transactions.forEach(producer -> producer.checkDelivered(delivered));
    }

    private void fetch() {
        int in = ++attempt;
        Optional<PartitionLog> log = cluster.find(partition);
        if (log.isEmpty()) {
            scheduler.schedule(PAUSE_NS, this::fetch);
            return;
        }
        scheduler.schedule(TIMEOUT_NS, () -> {
            if (in == attempt) {
                fetch();
            }
        });
        cluster.observe(
                log.get().read(position, 50 + randomness.nextInt(3_000), true, Isolation.READ_COMMITTED), result -> {
                    if (in == attempt) {
                        onRead(result);
                        int next = ++attempt;
                        scheduler.schedule(result.batches().isEmpty() ? PAUSE_NS : 500_000, () -> {
                            if (next == attempt) {
                                fetch();
                            }
                        });
                    }
                    result.release();
                });
    }

    private void onRead(ReadResult result) {
        History.require(result.error() != LogError.OFFSET_OUT_OF_RANGE, "P8 the position " + position + " is in range");
        List<AbortedTxn> aborted = new ArrayList<>(result.aborted());
        aborted.sort(Comparator.comparingLong(AbortedTxn::firstOffset));
        TreeSet<Long> skipping = new TreeSet<>();
        for (ByteBuf batch : result.batches()) {
            ByteBuffer bytes = batch.nioBuffer();
            int at = bytes.position();
            long last = RecordBatchHeader.lastOffset(bytes, at);
            long producerId = RecordBatchHeader.producerId(bytes, at);
            while (!aborted.isEmpty() && aborted.get(0).firstOffset() <= last) {
                skipping.add(aborted.remove(0).producerId());
            }
            if (RecordBatchHeader.isControl(bytes, at)) {
                if (RecordBatchHeader.controlType(bytes, at).orElse(-1) == 0) {
                    skipping.remove(producerId);
                }
            } else if (SimBatches.isEmpty(bytes)) {
                position = last + 1; // Nothing is left there.
                continue;
            } else if (!RecordBatchHeader.isTransactional(bytes, at) || !skipping.contains(producerId)) {
                deliver(SimBatches.numberOf(bytes), RecordBatchHeader.baseOffset(bytes, at));
            }
            position = last + 1;
        }
    }

    private void deliver(long number, long offset) {
        delivered.put(number, offset);
        for (SimTransactions producer : transactions) {
            if (producer.isOurs(number)) {
                producer.onDelivered(number);
            }
        }
    }
}
