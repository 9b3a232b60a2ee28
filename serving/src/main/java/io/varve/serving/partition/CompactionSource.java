package io.varve.serving.partition;

import io.varve.serving.core.partition.AbortedTxns.Aborted;
import io.varve.serving.core.partition.ProducerStates.LastBatch;
import java.util.List;

/**
 * What only a partition's owner knows and a compaction goes by.
 *
 * @param lastBatches of the producers that it remembers
 * @param aborted the aborted transactions with records in the stretch
 */
record CompactionSource(List<LastBatch> lastBatches, List<Aborted> aborted) {}
