package io.varve.itest.sim;

import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.core.compaction.CompactionRules;
import io.varve.serving.core.compaction.Rewriting;
import io.varve.serving.core.partition.AbortedTxns.Aborted;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * A compaction whose rule anybody can check: batches with some numbers go, whole, and so does what was aborted; all others stay, to the byte. Some numbers fill its memory, so that it looks at a part of a segment only.
 * What keys have to do with it is the business of another simulation.
 */
class SimRewriting implements Rewriting {

    private final TreeSet<Long> lastOffsets = new TreeSet<>();
    private final List<Aborted> aborted;
    private final long dirtyOffset;
    private long observedEnd;
    private long paddingFrom = -1;
    private int paddingEpoch;

    SimRewriting(CompactionRules rules, long dirtyOffset) {
        this.dirtyOffset = dirtyOffset;
        observedEnd = dirtyOffset;
        aborted = rules.aborted();
        rules.lastBatches().forEach(last -> lastOffsets.add(last.lastOffset()));
    }

    @Override
    public boolean observe(ByteBuffer batch) {
        boolean isData = !RecordBatchHeader.isControl(batch, batch.position()) && !SimBatches.isEmpty(batch);
        if (isData && observedEnd > dirtyOffset && SimBatches.fillsMemory(SimBatches.numberOf(batch))) {
            return false;
        }
        observedEnd = RecordBatchHeader.lastOffset(batch, batch.position()) + 1;
        return true;
    }

    @Override
    public long observedEnd() {
        return observedEnd;
    }

    @Override
    public boolean rewrite(ByteBuffer batch, Consumer<ByteBuffer> sink) {
        int at = batch.position();
        long base = RecordBatchHeader.baseOffset(batch, at);
        int epoch = RecordBatchHeader.leaderEpoch(batch, at);
        boolean isLast = lastOffsets.contains(RecordBatchHeader.lastOffset(batch, at));
        if (base >= observedEnd || !goes(batch, at)) {
            endSegment(base, sink);
            sink.accept(batch.duplicate());
            return false;
        }
        if (isLast) {
            endSegment(base, sink);
            sink.accept(RecordBatchHeader.emptied(batch, at));
        } else if (paddingFrom < 0 || epoch != paddingEpoch) {
            endSegment(base, sink);
            paddingFrom = base;
            paddingEpoch = epoch;
        }
        return !SimBatches.isEmpty(batch);
    }

    private boolean goes(ByteBuffer batch, int at) {
        if (RecordBatchHeader.isControl(batch, at)) {
            return false;
        }
        return SimBatches.isEmpty(batch)
                || (RecordBatchHeader.isTransactional(batch, at)
                        ? isAborted(batch, at)
                        : isLeftOut(SimBatches.numberOf(batch)));
    }

    /** Whether a batch of no transaction goes. */
    boolean isLeftOut(long number) {
        return SimBatches.mayBeLeftOut(number);
    }

    private boolean isAborted(ByteBuffer batch, int at) {
        long base = RecordBatchHeader.baseOffset(batch, at);
        return aborted.stream()
                .anyMatch(txn -> txn.producerId() == RecordBatchHeader.producerId(batch, at)
                        && txn.firstOffset() <= base
                        && base < txn.markerOffset());
    }

    @Override
    public void endSegment(long endOffset, Consumer<ByteBuffer> sink) {
        if (paddingFrom >= 0) {
            sink.accept(RecordBatchHeader.padding(paddingFrom, endOffset - 1, paddingEpoch));
            paddingFrom = -1;
        }
    }
}
