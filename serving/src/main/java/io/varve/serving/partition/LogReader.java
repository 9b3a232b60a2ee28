package io.varve.serving.partition;

import io.netty.buffer.ByteBuf;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.cache.TailCache;
import io.varve.serving.core.partition.AbortedTxns;
import io.varve.serving.core.partition.AbortedTxns.Aborted;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.core.partition.TimeIndex;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog.AbortedTxn;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.Offsets;
import io.varve.serving.log.PartitionLog.ReadResult;
import io.varve.serving.log.PartitionLog.TimestampResult;
import io.varve.tiering.api.RemoteSegments.Following;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Reads of one log, from wherever the bytes are: the tail from memory, what bookies hold from the first replica that answers, the rest from object
 * storage. A trouble is never answered as emptiness (I-7). Used on the partition's loop.
 */
final class LogReader {

    private static final Logger LOG = LoggerFactory.getLogger(LogReader.class);
    private static final long QUIET_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long NEVER = Long.MIN_VALUE;

    private final PartitionContext context;
    private final PartitionLoop loop;
    private final ReadableLog log;
    private final SegmentReader segments;
    private final TailCache tail;
    private final ChainLookup chain;
    private final TimeLookup times;
    private final Following following = this::objectAfter;
    private long toldNs = NEVER;

    LogReader(PartitionContext context, PartitionLoop loop, ReadableLog log, SegmentReader segments, TailCache tail) {
        this.context = context;
        this.loop = loop;
        this.log = log;
        this.segments = segments;
        this.tail = tail;
        this.chain = new ChainLookup(context.manifests(), loop, log::partition);
        this.times = new TimeLookup(context.remote(), loop, log, chain, this::readRaw, this::index);
    }

    // ---- batches
    // ----------------------------------------------------------------------------------------------------------------

    void read(
            long fromOffset,
            int maxBytes,
            boolean atLeastOne,
            Isolation isolation,
            CompletableFuture<ReadResult> result) {
        if (!log.isServing()) {
            result.complete(empty(LogError.NOT_OWNER));
            return;
        }
        Offsets at = log.offsets();
        if (fromOffset < at.logStart()) {
            result.complete(empty(LogError.OFFSET_OUT_OF_RANGE));
            return;
        }
        if (fromOffset > at.end()) {
            answerBeyondEnd(fromOffset, result);
            return;
        }
        long bound = log.bound(isolation);
        if (fromOffset >= bound || (maxBytes <= 0 && !atLeastOne)) {
            result.complete(empty(LogError.NONE));
            return;
        }
        SegmentChain before = log.partition().chain();
        readRaw(fromOffset, maxBytes, atLeastOne, bound, (batches, error) -> {
            if (isReplaced(before, fromOffset, batches)) {
                batches.forEach(ByteBuf::release);
                read(fromOffset, maxBytes, atLeastOne, isolation, result);
            } else if (error != LogError.NONE) {
                result.complete(empty(fromOffset < log.offsets().logStart() ? LogError.OFFSET_OUT_OF_RANGE : error));
            } else if (isolation != Isolation.READ_COMMITTED || batches.isEmpty()) {
                result.complete(new ReadResult(LogError.NONE, batches, List.of(), log.offsets()));
            } else {
                addAborted(fromOffset, batches, result, () -> {
                    boolean again = isReplaced(before, fromOffset, batches);
                    if (again) {
                        batches.forEach(ByteBuf::release);
                        read(fromOffset, maxBytes, atLeastOne, isolation, result);
                    }
                    return again;
                });
            }
        });
    }

    /**
     * Whether compaction put another segment in the place of one that was there when a read began, and that it may have read. Then the read begins anew: its segment may be gone, and of what was
     * aborted in it nothing is known any longer.
     */
    private boolean isReplaced(SegmentChain before, long fromOffset, List<ByteBuf> batches) {
        SegmentChain now = log.partition().chain();
        if (now == before) {
            return false;
        }
        long endOffset = batches.isEmpty() ? fromOffset + 1 : endOf(batches);
        for (SegmentDescriptor segment : now.from(fromOffset).values()) {
            if (segment.startOffset() >= endOffset) {
                return false;
            }
            SegmentDescriptor then = segment.isCompacted() ? before.at(segment.startOffset()) : segment;
            if (then == null || !then.id().equals(segment.id())) {
                return true;
            }
        }
        return false;
    }

    /**
     * A reader that asks beyond the end has made a mistake, or has read on from another owner that this one doesn't know of yet. Only in the first case may it be told
     * that its offset is out of range, for that makes it start anew somewhere else (I-15); so the metadata service is asked which it is (I-17).
     */
    private void answerBeyondEnd(long fromOffset, CompletableFuture<ReadResult> result) {
        if (log.ownedEpoch() < 0) {
            result.complete(empty(LogError.OFFSET_OUT_OF_RANGE)); // Sends the reader to the owner.
            return;
        }
        loop.on(context.metadata().linearizable(), (view, failure) -> {
            boolean owned = failure == null && log.isServing() && context.isOwned(view, log.id(), log.ownedEpoch());
            boolean beyond = fromOffset > log.offsets().end();
            result.complete(empty(!owned ? LogError.NOT_OWNER : beyond ? LogError.OFFSET_OUT_OF_RANGE : LogError.NONE));
        });
    }

    private ReadResult empty(LogError error) {
        return new ReadResult(error, List.of(), List.of(), log.offsets());
    }

    /** @param again takes the batches and begins anew if they don't count any more */
    private void addAborted(
            long fromOffset, List<ByteBuf> batches, CompletableFuture<ReadResult> result, BooleanSupplier again) {
        aborted(fromOffset, endOf(batches), (found, error) -> {
            if (again.getAsBoolean()) {
                return;
            }
            if (fromOffset < log.offsets().logStart()) {
                // What was aborted in a segment is told by the segment, and retention has taken that away meanwhile.
                batches.forEach(ByteBuf::release);
                result.complete(empty(LogError.OFFSET_OUT_OF_RANGE));
                return;
            }
            if (error != LogError.NONE) {
                batches.forEach(ByteBuf::release);
                result.complete(empty(error));
                return;
            }
            List<AbortedTxn> toSkip = new ArrayList<>(found.size());
            found.forEach(a -> toSkip.add(new AbortedTxn(a.producerId(), a.firstOffset())));
            result.complete(new ReadResult(LogError.NONE, batches, toSkip, log.offsets()));
        });
    }

    static long endOf(List<ByteBuf> batches) {
        ByteBuffer last = batches.get(batches.size() - 1).nioBuffer();
        return RecordBatchHeader.lastOffset(last, last.position()) + 1;
    }

    /**
     * Whole batches from the one that holds {@code fromOffset}, below {@code boundOffset}.
     *
     * @param answer gets the batches, each with a reference, or why there are none; on the loop
     */
    private void readRaw(
            long fromOffset,
            int maxBytes,
            boolean atLeastOne,
            long boundOffset,
            BiConsumer<List<ByteBuf>, LogError> answer) {
        if (tail.covers(fromOffset)) {
            List<ByteBuf> found = new ArrayList<>();
            tail.read(fromOffset, maxBytes, atLeastOne, boundOffset, found);
            answer.accept(found, LogError.NONE);
            return;
        }
        chain.from(fromOffset, (found, error) -> {
            Optional<SegmentDescriptor> covering = found.filter(segment -> segment.covers(fromOffset));
            if (covering.isPresent()) {
                readRaw(covering.get(), fromOffset, maxBytes, atLeastOne, boundOffset, answer);
                return;
            }
            if (error == LogError.NONE) {
                LOG.warn("event=no_segment partition={} offset={}", log.id(), fromOffset);
            }
            answer.accept(List.of(), LogError.STORAGE_UNAVAILABLE);
        });
    }

    private void readRaw(
            SegmentDescriptor segment,
            long fromOffset,
            int maxBytes,
            boolean atLeastOne,
            long boundOffset,
            BiConsumer<List<ByteBuf>, LogError> answer) {
        int ask = Math.max(1, Math.min(maxBytes, context.options().readBytesMax()));
        loop.on(readSegment(segment, fromOffset, ask), (entries, failure) -> {
            if (failure != null) {
                tell(segment, fromOffset, failure);
                answer.accept(List.of(), LogError.STORAGE_UNAVAILABLE);
                return;
            }
            try {
                cut(entries, segment, fromOffset, maxBytes, atLeastOne, boundOffset, answer);
            } finally {
                entries.release();
            }
        });
    }

    /** Once in a while: readers come back at once, as many as there are. */
    private void tell(SegmentDescriptor segment, long fromOffset, Throwable failure) {
        long nowNs = context.clock().nanoTime();
        boolean isDue = toldNs == NEVER || nowNs - toldNs >= QUIET_NS;
        if (isDue) {
            toldNs = nowNs;
        }
        LOG.atLevel(isDue ? Level.WARN : Level.DEBUG)
                .log(
                        "event=read_failed partition={} segment={} offset={} reason=\"{}\"",
                        log.id(),
                        segment.id(),
                        fromOffset,
                        failure.getMessage());
    }

    private CompletableFuture<ByteBuf> readSegment(SegmentDescriptor segment, long fromOffset, int maxBytes) {
        if (segment.replicas().isEmpty() && segment.isOffloaded()) {
            return segments.readRemote(segment, fromOffset, maxBytes, following);
        }
        boolean isOpen = segment.state() == SegmentDescriptor.State.OPEN;
        int rotation = Long.hashCode(segment.id().value()) + log.id().index();
        return segments.read(
                        segment, fromOffset, maxBytes, isOpen ? ReadPriority.TAIL : ReadPriority.CATCH_UP, rotation)
                .thenCompose(read -> {
                    if (read.status() == BookieStatus.OK) {
                        return CompletableFuture.completedFuture(read.entries());
                    }
                    return segment.isOffloaded()
                            ? segments.readRemote(segment, fromOffset, maxBytes, Following.NOTHING)
                            : CompletableFuture.failedFuture(
                                    new IllegalStateException("no replica answers: " + read.status()));
                });
    }

    /** The next object of the log, if what it holds is nowhere else; whichever of chain and manifest describes it. */
    private CompletableFuture<Optional<ObjectRef>> objectAfter(ObjectRef object) {
        CompletableFuture<Optional<ObjectRef>> answer = new CompletableFuture<>();
        loop.execute(() -> chain.from(
                object.endOffset(),
                (next, error) -> answer.complete(
                        next.filter(segment -> segment.replicas().isEmpty() && segment.covers(object.endOffset()))
                                .flatMap(SegmentDescriptor::object))));
        return answer;
    }

    private void cut(
            ByteBuf entries,
            SegmentDescriptor segment,
            long fromOffset,
            int maxBytes,
            boolean atLeastOne,
            long boundOffset,
            BiConsumer<List<ByteBuf>, LogError> answer) {
        long end = segment.state() == SegmentDescriptor.State.SEALED
                ? Math.min(boundOffset, Math.max(segment.endOffset(), endOfObject(segment)))
                : boundOffset;
        List<ByteBuf> found = new ArrayList<>();
        ByteBuf empty = null;
        int left = maxBytes;
        long expected = -1;
        boolean tooBig = false;
        EntryCursor cursor = new EntryCursor(entries);
        while (!tooBig && cursor.next()) {
            if (cursor.lastOffset() < fromOffset) {
                continue;
            }
            boolean joins = expected < 0 ? cursor.firstOffset() <= fromOffset : cursor.firstOffset() == expected;
            if (!joins || cursor.lastOffset() >= end) {
                break;
            }
            ByteBuf payload = cursor.payload();
            if (isEmpty(payload)) {
                empty = payload;
            } else if (cursor.payloadBytes() <= left || (atLeastOne && found.isEmpty())) {
                found.add(payload.retain());
                left -= cursor.payloadBytes();
            } else {
                tooBig = true;
                continue;
            }
            expected = cursor.lastOffset() + 1;
        }
        if (!found.isEmpty() || empty == null) {
            answer.accept(found, found.isEmpty() && !tooBig ? LogError.STORAGE_UNAVAILABLE : LogError.NONE);
        } else if (tooBig || expected >= boundOffset) {
            answer.accept(alone(empty.retain(), maxBytes, atLeastOne), LogError.NONE);
        } else {
            readBeyond(empty.retain(), expected, maxBytes, atLeastOne, boundOffset, answer);
        }
    }

    /**
     * Batches without records are left out of answers in which anything else is: some clients never get past an answer without a record (docs/adr/0083). So if there was
     * nothing but such, what follows is read too.
     *
     * @param empty the last of them; its reference passes on
     */
    private void readBeyond(
            ByteBuf empty,
            long fromOffset,
            int maxBytes,
            boolean atLeastOne,
            long boundOffset,
            BiConsumer<List<ByteBuf>, LogError> answer) {
        readRaw(fromOffset, maxBytes, atLeastOne, boundOffset, (batches, error) -> {
            if (error == LogError.NONE && !batches.isEmpty()) {
                empty.release();
                answer.accept(batches, error);
            } else {
                answer.accept(alone(empty, maxBytes, atLeastOne), LogError.NONE);
            }
        });
    }

    private static List<ByteBuf> alone(ByteBuf empty, int maxBytes, boolean atLeastOne) {
        if (!atLeastOne && empty.readableBytes() > maxBytes) {
            empty.release();
            return List.of();
        }
        return List.of(empty);
    }

    /** Padding, or what is left of a producer's last batch: a header alone. */
    private static boolean isEmpty(ByteBuf batch) {
        return batch.readableBytes() == RecordBatchHeader.BYTES;
    }

    /** What was read from an object may go on into the next segments that are in it, unless compaction put others in their places. */
    private long endOfObject(SegmentDescriptor segment) {
        if (!segment.replicas().isEmpty() || segment.object().isEmpty()) {
            return 0;
        }
        long end = segment.object().get().endOffset();
        for (SegmentDescriptor next :
                log.partition().chain().from(segment.endOffset()).values()) {
            if (next.startOffset() >= end) {
                break;
            }
            if (next.isCompacted()) {
                return next.startOffset();
            }
        }
        return end;
    }

    // ---- aborted transactions
    // ---------------------------------------------------------------------------------------------------

    /**
     * The transactions that a reader of {@code [fromOffset, toOffset)} must skip. Not those whose markers compaction has looked at: nothing of them is left, and a reader that is told of one would skip what its producer
     * committed afterwards, since the marker may be gone too.
     *
     * @param answer on the loop
     */
    void aborted(long fromOffset, long toOffset, BiConsumer<List<Aborted>, LogError> answer) {
        abortedEver(fromOffset, toOffset, (found, error) -> {
            List<Aborted> left = new ArrayList<>(found);
            left.removeIf(a -> log.partition()
                    .chain()
                    .covering(a.markerOffset())
                    .filter(segment -> segment.isCompactedAt(a.markerOffset()))
                    .isPresent());
            answer.accept(left, error);
        });
    }

    private void abortedEver(long fromOffset, long toOffset, BiConsumer<List<Aborted>, LogError> answer) {
        List<Aborted> found = new ArrayList<>();
        LogState state = log.state();
        if (fromOffset >= state.abortedFrom()) {
            state.aborted().collect(fromOffset, toOffset, found);
            answer.accept(found, LogError.NONE);
            return;
        }
        collect(fromOffset, fromOffset, toOffset, found, answer);
    }

    /**
     * Asks the checkpoints of sealed segments, one after the other, and memory about the rest. Rolls may happen meanwhile: each step looks at the chain as it is then.
     *
     * @param coveredTo the end of the segments whose checkpoints were asked so far
     * @param knownTo up to where those checkpoints go. What a later one still says of what lies below is from before compaction looked at it, if it says more; and whether it did, nobody knows of what is in a manifest or was restored
     */
    private void collect(
            long coveredTo,
            long knownTo,
            long toOffset,
            List<Aborted> found,
            BiConsumer<List<Aborted>, LogError> answer) {
        chain.from(coveredTo, (next, lookup) -> {
            if (lookup != LogError.NONE) {
                answer.accept(List.of(), lookup);
                return;
            }
            SegmentDescriptor segment = next.filter(s -> s.state() == SegmentDescriptor.State.SEALED)
                    .orElse(null);
            if (segment == null) {
                log.state().aborted().collect(knownTo, toOffset, found);
                answer.accept(found, LogError.NONE);
                return;
            }
            index(segment, (index, error) -> {
                if (error != LogError.NONE) {
                    answer.accept(List.of(), error);
                } else if (index.aborted().collect(knownTo, toOffset, found)) {
                    answer.accept(found, LogError.NONE);
                } else {
                    collect(segment.endOffset(), Math.max(knownTo, index.abortedEnd()), toOffset, found, answer);
                }
            });
        });
    }

    /**
     * What the newest checkpoint of a segment says. A sealed segment's is kept.
     *
     * @param answer on the loop
     */
    private void index(SegmentDescriptor segment, BiConsumer<SegmentIndex, LogError> answer) {
        boolean isSealed = segment.state() == SegmentDescriptor.State.SEALED;
        SegmentIndex known = isSealed ? loop.indexes().get(segment.id().value()) : null;
        if (known != null) {
            answer.accept(known, LogError.NONE);
            return;
        }
        long atMostOffset = isSealed ? segment.endOffset() : log.offsets().highWatermark();
        loop.on(segments.checkpoint(segment, atMostOffset), (found, failure) -> {
            if (failure != null || !found.answered()) {
                answer.accept(null, LogError.STORAGE_UNAVAILABLE);
                return;
            }
            SegmentIndex index = found.state()
                    .map(s -> new SegmentIndex(
                            s.aborted(), s.offset(), s.times(), s.offset(), s.segmentStart() == segment.startOffset()))
                    .orElseGet(() ->
                            new SegmentIndex(new AbortedTxns(), 0, new TimeIndex(), segment.startOffset(), false));
            if (isSealed) {
                loop.indexes().put(segment.id().value(), index);
            }
            answer.accept(index, LogError.NONE);
        });
    }

    // ---- times
    // ------------------------------------------------------------------------------------------------------------------

    /** See {@link TimeLookup#latest}. */
    void maxTimestamp(CompletableFuture<TimestampResult> result) {
        times.latest(result);
    }

    /** See {@link TimeLookup#first}. */
    void offsetForTimestamp(long timestampMs, long boundOffset, CompletableFuture<TimestampResult> result) {
        times.first(timestampMs, boundOffset, result);
    }
}
