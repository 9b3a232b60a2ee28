package io.varve.itest.sim;

import io.netty.buffer.ByteBuf;
import io.varve.base.PartitionId;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.ReadResult;
import io.varve.sim.SimRandomness;
import io.varve.sim.SimScheduler;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.TreeMap;

/** A consumer that reads a partition from its start on, from whoever owns it, and never accepts an offset twice or one left out. */
final class SimReader {

    private static final long PAUSE_NS = 15_000_000L;
    private static final long TIMEOUT_NS = 700_000_000L;

    private final SimCluster cluster;
    private final SimScheduler scheduler;
    private final SimRandomness randomness;
    private final PartitionId partition;
    private final TreeMap<Long, Long> read = new TreeMap<>();
    private long position;
    private int attempt;

    SimReader(SimCluster cluster, PartitionId partition) {
        this.cluster = cluster;
        this.scheduler = cluster.scheduler();
        this.randomness = scheduler.randomness().split();
        this.partition = partition;
    }

    void start() {
        fetch();
    }

    long position() {
        return position;
    }

    /** First offsets and numbers of all batches read. */
    TreeMap<Long, Long> read() {
        return read;
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
        int maxBytes = 50 + randomness.nextInt(4_000);
        PartitionLog from = log.get();
        cluster.history()
                .onHighWatermark(partition, from.epoch(), from.offsets().highWatermark());
        cluster.observe(from.read(position, maxBytes, true, Isolation.READ_UNCOMMITTED), result -> {
            if (in == attempt) {
                onRead(from, result);
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

    private void onRead(PartitionLog log, ReadResult result) {
        History.require(
                result.error() != LogError.OFFSET_OUT_OF_RANGE,
                "P8 the position " + position + " of a reader of " + partition + " is never out of range, epoch "
                        + log.epoch() + " " + result.offsets());
        for (ByteBuf batch : result.batches()) {
            ByteBuffer bytes = batch.nioBuffer();
            long first = RecordBatchHeader.baseOffset(bytes, bytes.position());
            long last = RecordBatchHeader.lastOffset(bytes, bytes.position());
            History.require(
                    first == position || first > position && cluster.history().mayBeLeftOut(partition, position, first),
                    "a reader at " + position + " of " + partition + " is given " + first);
            History.require(
                    last < result.offsets().highWatermark(), "a reader sees below the high watermark only: " + last);
            position = last + 1;
            if (SimBatches.isEmpty(bytes)) {
                continue;
            }
            // A marker is told by its place.
            long number =
                    RecordBatchHeader.isControl(bytes, bytes.position()) ? -1 - first : SimBatches.numberOf(bytes);
            cluster.history().onShown(partition, first, number);
            read.put(first, number);
        }
    }
}
