package io.varve.serving.partition;

import io.varve.serving.core.partition.AbortedTxns;
import io.varve.serving.core.partition.TimeIndex;

/**
 * What the last checkpoint of a sealed segment says that helps to read the segment.
 *
 * @param aborted transactions whose markers lie in it, up to the checkpoint
 * @param abortedEnd up to where {@code aborted} knows of markers, exclusive; 0 without a checkpoint: who knows nothing of a segment knows nothing of those before it
 * @param times of its entries, up to the checkpoint
 * @param offset the checkpoint's
 * @param ofSegment whether {@code times} is about this very segment
 */
record SegmentIndex(AbortedTxns aborted, long abortedEnd, TimeIndex times, long offset, boolean ofSegment) {}
