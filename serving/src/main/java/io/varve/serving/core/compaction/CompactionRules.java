package io.varve.serving.core.compaction;

import io.varve.serving.core.partition.AbortedTxns.Aborted;
import io.varve.serving.core.partition.ProducerStates.LastBatch;
import java.util.List;

/**
 * What one pass goes by.
 *
 * @param nowMs wall time
 * @param deleteRetentionMs {@code delete.retention.ms}: how long tombstones and markers of transactions of which nothing is left stay
 *     after the first pass that saw them so
 * @param inflatedBytesMax of one batch
 * @param aborted the aborted transactions with records in the stretch, in any order
 * @param lastBatches of the producers that the owner remembers
 */
public record CompactionRules(
        long nowMs, long deleteRetentionMs, int inflatedBytesMax, List<Aborted> aborted, List<LastBatch> lastBatches) {

    /** Copies the lists. */
    public CompactionRules {
        aborted = List.copyOf(aborted);
        lastBatches = List.copyOf(lastBatches);
    }

    /** From when on what is seen now for the first time may go. */
    long deleteHorizonMs() {
        long horizonMs = nowMs + deleteRetentionMs;
        return horizonMs < nowMs ? Long.MAX_VALUE : horizonMs;
    }
}
