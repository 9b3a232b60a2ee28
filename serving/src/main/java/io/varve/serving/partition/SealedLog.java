package io.varve.serving.partition;

import io.varve.base.PartitionId;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.cache.TailCache;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.log.LogError;
import io.varve.serving.log.ReadOnlyLog;
import java.util.concurrent.CompletableFuture;

/**
 * The sealed part of a log that another broker owns, for readers that are nearer to this one (KIP-392). What is sealed is acknowledged, and never
 * changes; so nobody has to be asked. It ends where the open segment begins, as this broker's metadata has it: that is its high watermark.
 *
 * <p>The last stable offset is that of the state at the seal: a transaction that was open there is open for this reader, whatever has become of it
 * since. Both only rise, from one view of the metadata to the next, and never above the owner's.
 */
final class SealedLog extends ReadOnlyLog implements ReadableLog {

    private final PartitionLoop loop;
    private final PartitionState partition;
    private final LogState state;
    private final long endOffset;
    private final long lastStable;
    private final LogReader reader;

    /** @param state at {@code endOffset}, which is where the chain's last sealed segment ends; never changed */
    SealedLog(PartitionContext context, PartitionLoop loop, PartitionState partition, LogState state, long endOffset) {
        this.loop = loop;
        this.partition = partition;
        this.state = state;
        this.endOffset = endOffset;
        this.lastStable = state.producers().lastStableOffset(endOffset);
        this.reader = new LogReader(context, loop, this, new SegmentReader(context), new TailCache(loop.tailBudget()));
    }

    /** Where the sealed part of a chain ends; its beginning if nothing is sealed. */
    static long endOf(PartitionState partition) {
        long end = partition.logStartOffset();
        for (SegmentDescriptor segment : partition.chain().segments()) {
            if (segment.state() == SegmentDescriptor.State.SEALED) {
                end = Math.max(end, segment.endOffset());
            }
        }
        return end;
    }

    /** Whether it is as {@code now} has it. */
    boolean isOf(PartitionState now) {
        return partition.equals(now);
    }

    @Override
    public PartitionId id() {
        return partition.id();
    }

    @Override
    public int epoch() {
        return partition.epoch();
    }

    @Override
    public int ownedEpoch() {
        return -1;
    }

    @Override
    public Offsets offsets() {
        long localStart = partition.chain().segments().stream()
                .filter(segment -> !segment.replicas().isEmpty())
                .mapToLong(SegmentDescriptor::startOffset)
                .findFirst()
                .orElse(partition.logStartOffset());
        return new Offsets(
                partition.logStartOffset(),
                Math.max(partition.logStartOffset(), localStart),
                lastStable,
                endOffset,
                endOffset);
    }

    @Override
    public boolean isServing() {
        return true;
    }

    @Override
    public PartitionState partition() {
        return partition;
    }

    @Override
    public LogState state() {
        return state;
    }

    @Override
    public long bound(Isolation isolation) {
        return isolation == Isolation.READ_COMMITTED ? lastStable : endOffset;
    }

    @Override
    public CompletableFuture<ReadResult> read(long fromOffset, int maxBytes, boolean atLeastOne, Isolation isolation) {
        CompletableFuture<ReadResult> result = new CompletableFuture<>();
        loop.run(() -> reader.read(fromOffset, maxBytes, atLeastOne, isolation, result));
        return result;
    }

    @Override
    public CompletableFuture<TimestampResult> offsetForTimestamp(long timestampMs, Isolation isolation) {
        CompletableFuture<TimestampResult> result = new CompletableFuture<>();
        loop.run(() -> reader.offsetForTimestamp(timestampMs, bound(isolation), result));
        return result;
    }

    @Override
    public CompletableFuture<EpochEnd> endOffsetForEpoch(int asked) {
        // Only the owner knows where its own epoch ends.
        return CompletableFuture.completedFuture(new EpochEnd(LogError.NOT_OWNER, -1, -1));
    }
}
