package io.varve.serving.core.compaction;

import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.core.partition.AbortedTxns.Aborted;
import io.varve.serving.core.partition.ProducerStates.LastBatch;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;

/** What a pass knows of producers and of the transactions in its stretch, all of which are decided. One thread. */
final class FateOfTxns {

    /** By producer, then by the offset of their first record. */
    private final TreeMap<Long, TreeMap<Long, Aborted>> aborted = new TreeMap<>();

    private final TreeMap<Long, LastBatch> lastBatches = new TreeMap<>();

    /** Producers of which something of the transaction at hand was kept. */
    private final TreeSet<Long> kept = new TreeSet<>();

    FateOfTxns(List<Aborted> aborted, List<LastBatch> lastBatches) {
        for (Aborted a : aborted) {
            this.aborted.computeIfAbsent(a.producerId(), id -> new TreeMap<>()).put(a.firstOffset(), a);
        }
        for (LastBatch last : lastBatches) {
            this.lastBatches.put(last.producerId(), last);
        }
    }

    /** Whether the batch belongs to a transaction that was aborted. */
    boolean isAborted(ByteBuffer batch, int at) {
        if (!RecordBatchHeader.isTransactional(batch, at)) {
            return false;
        }
        TreeMap<Long, Aborted> ofProducer = aborted.get(RecordBatchHeader.producerId(batch, at));
        if (ofProducer == null) {
            return false;
        }
        long base = RecordBatchHeader.baseOffset(batch, at);
        var last = ofProducer.floorEntry(base);
        return last != null && base < last.getValue().markerOffset();
    }

    /** Whether the sequence of a producer that is remembered goes on from this batch of data. */
    boolean isLastOfProducer(ByteBuffer batch, int at) {
        LastBatch last = lastBatches.get(RecordBatchHeader.producerId(batch, at));
        return last != null && last.lastOffset() == RecordBatchHeader.lastOffset(batch, at);
    }

    /** A batch of data is kept, if only to say that it was there. */
    void onKept(ByteBuffer batch, int at) {
        if (RecordBatchHeader.isTransactional(batch, at)) {
            kept.add(RecordBatchHeader.producerId(batch, at));
        }
    }

    /** A marker ends its transaction. Returns whether it is needed: by what was kept, or as the only word of its producer's epoch. */
    boolean isNeeded(ByteBuffer marker, int at) {
        long producerId = RecordBatchHeader.producerId(marker, at);
        boolean dataKept = kept.remove(producerId);
        LastBatch last = lastBatches.get(producerId);
        boolean onlyWord = last != null
                && last.lastOffset() == LastBatch.NO_BATCH
                && last.epoch() == RecordBatchHeader.producerEpoch(marker, at);
        return dataKept || onlyWord;
    }
}
