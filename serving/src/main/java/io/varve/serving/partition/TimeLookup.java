package io.varve.serving.partition;

import io.netty.buffer.ByteBuf;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.core.partition.TimeIndex;
import io.varve.serving.kafka.record.RecordTimes;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog.TimestampResult;
import io.varve.serving.log.PartitionLog.TimestampResult.Found;
import io.varve.tiering.api.RemoteSegments;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

/**
 * Finds records by their times, wherever they are. The metadata and manifests say which segments may have them, an object's index or a segment's
 * checkpoint which part of it, and what is read there decides. Trouble is an error, never "there is none" (I-7). Used on the partition's loop.
 */
final class TimeLookup {

    private static final int SCAN_BYTES = 1 << 20;

    private final RemoteSegments remote;
    private final PartitionLoop loop;
    private final ReadableLog log;
    private final ChainLookup chain;
    private final Batches batches;
    private final Indexes indexes;

    /**
     * @param batches reads the log
     * @param indexes knows what a segment's checkpoint says
     */
    TimeLookup(
            RemoteSegments remote,
            PartitionLoop loop,
            ReadableLog log,
            ChainLookup chain,
            Batches batches,
            Indexes indexes) {
        this.remote = remote;
        this.loop = loop;
        this.log = log;
        this.chain = chain;
        this.batches = batches;
        this.indexes = indexes;
    }

    /** Whole batches from the one that holds an offset, below another, each with a reference for the receiver, or why there are none; answers on the loop. */
    interface Batches {
        void read(
                long fromOffset,
                int maxBytes,
                boolean atLeastOne,
                long boundOffset,
                BiConsumer<List<ByteBuf>, LogError> answer);
    }

    /** What the newest checkpoint of a segment says; answers on the loop. */
    interface Indexes {
        void of(SegmentDescriptor segment, BiConsumer<SegmentIndex, LogError> answer);
    }

    /** The first record at or after a time, below an offset. Markers are not looked for. */
    void first(long timestampMs, long boundOffset, CompletableFuture<TimestampResult> result) {
        if (refuse(result)) {
            return;
        }
        new Search(timestampMs, boundOffset, false, result).nextSegment();
    }

    /** The first record with the latest time of all that are acknowledged; a marker may be it, as in Kafka. */
    void latest(CompletableFuture<TimestampResult> result) {
        if (refuse(result)) {
            return;
        }
        chain.timestampMsMost(log.offsets().logStart(), (mostOfSealed, error) -> {
            if (error == LogError.NONE) {
                latest(mostOfSealed, result);
            } else {
                fail(error, result);
            }
        });
    }

    private boolean refuse(CompletableFuture<TimestampResult> result) {
        if (!log.isServing()) {
            fail(LogError.NOT_OWNER, result);
        }
        return result.isDone();
    }

    // ---- the latest
    // -----------------------------------------------------------------------------------------------------------------

    private void latest(long mostOfSealed, CompletableFuture<TimestampResult> result) {
        long bound = log.offsets().highWatermark();
        SegmentDescriptor open = log.partition().chain().open().orElse(null);
        if (open == null || open.startOffset() >= bound) {
            atMost(mostOfSealed, bound, result);
        } else if (isRolling(open)) {
            indexes.of(open, (index, error) -> {
                if (error != LogError.NONE) {
                    fail(error, result);
                } else if (index.ofSegment()) {
                    latestInOpen(index.times(), index.offset(), bound, mostOfSealed, result);
                } else {
                    latestInOpen(new TimeIndex(), open.startOffset(), bound, mostOfSealed, result);
                }
            });
        } else {
            TimeIndex times = log.state().times();
            long last = times.lastStretchBelow(bound);
            latestInOpen(times, Math.max(last, open.startOffset()), bound, mostOfSealed, result);
        }
    }

    /** Whether entries go to the segment after the one that the metadata says is open: the state is about that one then. */
    private boolean isRolling(SegmentDescriptor open) {
        return log.state().segmentStart() > open.startOffset();
    }

    /**
     * The end of the open segment is looked through: the index also counts what is not acknowledged yet, which may have the latest time.
     *
     * @param times knows those below {@code scanFrom} exactly
     */
    private void latestInOpen(
            TimeIndex times, long scanFrom, long bound, long mostOfSealed, CompletableFuture<TimestampResult> result) {
        long most = Math.max(mostOfSealed, times.maxTimestampMsBelow(scanFrom));
        scanForLatest(Math.max(scanFrom, log.offsets().logStart()), bound, most, Optional.empty(), result);
    }

    /** @param mostBefore what is found must be later */
    private void scanForLatest(
            long from, long bound, long mostBefore, Optional<Found> best, CompletableFuture<TimestampResult> result) {
        if (from >= bound) {
            if (best.isPresent()) {
                result.complete(new TimestampResult(LogError.NONE, best));
            } else {
                atMost(mostBefore, bound, result);
            }
            return;
        }
        batches.read(from, SCAN_BYTES, true, bound, (read, error) -> {
            if (error != LogError.NONE) {
                fail(error, result);
                return;
            }
            long end;
            Optional<Found> latest;
            try {
                end = LogReader.endOf(read);
                latest = latestIn(read, mostBefore, best);
            } finally {
                read.forEach(ByteBuf::release);
            }
            scanForLatest(end, bound, mostBefore, latest, result);
        });
    }

    /** What is known to be the latest time has a record: the first that has it. */
    private void atMost(long mostMs, long bound, CompletableFuture<TimestampResult> result) {
        if (mostMs < 0) {
            result.complete(new TimestampResult(LogError.NONE, Optional.empty()));
        } else {
            new Search(mostMs, bound, true, result).nextSegment();
        }
    }

    private static void fail(LogError error, CompletableFuture<TimestampResult> result) {
        result.complete(new TimestampResult(error, Optional.empty()));
    }

    private Optional<Found> latestIn(List<ByteBuf> read, long mostBefore, Optional<Found> best) {
        Optional<Found> latest = best;
        for (ByteBuf batch : read) {
            ByteBuffer bytes = batch.nioBuffer();
            long mostMs = RecordBatchHeader.maxTimestampMs(bytes, bytes.position());
            if (mostMs > latest.map(Found::timestampMs).orElse(mostBefore)) {
                Optional<Found> here = firstIn(bytes, mostMs, true);
                latest = here.isPresent() ? here : latest;
            }
        }
        return latest;
    }

    /** @param withMarkers whether a marker counts */
    private Optional<Found> firstIn(ByteBuffer batch, long timestampMs, boolean withMarkers) {
        long mostMs = RecordBatchHeader.maxTimestampMs(batch, batch.position());
        boolean isMarker = RecordBatchHeader.isControl(batch, batch.position());
        if (mostMs < timestampMs || isMarker && !withMarkers) {
            return Optional.empty();
        }
        // Compaction may write another time into a marker's record; that of its batch stays.
        return RecordTimes.firstAtLeast(batch, timestampMs, log.offsets().logStart())
                .map(found -> isMarker ? new Found(found.offset(), mostMs, found.epoch()) : found);
    }

    // ---- the first
    // ------------------------------------------------------------------------------------------------------------------

    /** Looks through the segments in order for the first record at or after a time. */
    private final class Search {

        private final long timestampMs;
        private final long boundOffset;
        private final boolean withMarkers;
        private final CompletableFuture<TimestampResult> result;
        private long position = log.offsets().logStart();

        private Search(
                long timestampMs, long boundOffset, boolean withMarkers, CompletableFuture<TimestampResult> result) {
            this.timestampMs = timestampMs;
            this.boundOffset = boundOffset;
            this.withMarkers = withMarkers;
            this.result = result;
        }

        private void nextSegment() {
            chain.atTimestamp(timestampMs, position, (next, error) -> {
                if (error != LogError.NONE) {
                    fail(error, result);
                    return;
                }
                SegmentDescriptor segment = next.orElse(null);
                long from = segment == null ? boundOffset : Math.max(position, segment.startOffset());
                if (from >= boundOffset) {
                    finish(Optional.empty());
                } else if (segment.state() == SegmentDescriptor.State.SEALED) {
                    position = segment.endOffset();
                    lookInSealed(segment, from);
                } else {
                    lookInOpen(segment, from);
                }
            });
        }

        private void lookInOpen(SegmentDescriptor segment, long from) {
            LogState state = log.state();
            if (isRolling(segment) && from < state.segmentStart()) {
                position = state.segmentStart();
                lookByCheckpoint(segment, from, position);
                return;
            }
            position = boundOffset;
            long start = state.times().firstAtLeast(timestampMs, from);
            if (start < 0) {
                finish(Optional.empty());
            } else {
                scan(start, boundOffset);
            }
        }

        private void lookInSealed(SegmentDescriptor segment, long from) {
            if (!segment.replicas().isEmpty() || !segment.isOffloaded()) {
                lookByCheckpoint(segment, from, segment.endOffset());
                return;
            }
            loop.on(
                    remote.entryForTimestamp(segment.object().orElseThrow(), segment.partition(), timestampMs),
                    (entry, failure) -> {
                        if (failure != null) {
                            fail(LogError.STORAGE_UNAVAILABLE, result);
                        } else if (entry.isEmpty() || entry.get() >= segment.endOffset()) {
                            nextSegment();
                        } else {
                            scan(Math.max(from, entry.get()), segment.endOffset());
                        }
                    });
        }

        private void lookByCheckpoint(SegmentDescriptor segment, long from, long endOffset) {
            indexes.of(segment, (index, error) -> {
                if (error != LogError.NONE) {
                    fail(error, result);
                    return;
                }
                long start = index.ofSegment() ? index.times().firstAtLeast(timestampMs, from) : from;
                scan(start >= 0 ? start : Math.max(from, index.offset()), endOffset);
            });
        }

        private void scan(long from, long endOffset) {
            long end = Math.min(endOffset, boundOffset);
            if (from >= end) {
                nextSegment();
                return;
            }
            batches.read(from, SCAN_BYTES, true, end, (read, error) -> {
                if (error != LogError.NONE) {
                    fail(error, result);
                    return;
                }
                try {
                    Optional<Found> found = search(read);
                    if (found.isPresent()) {
                        finish(found);
                    } else {
                        scan(LogReader.endOf(read), endOffset);
                    }
                } finally {
                    read.forEach(ByteBuf::release);
                }
            });
        }

        private Optional<Found> search(List<ByteBuf> read) {
            for (ByteBuf batch : read) {
                Optional<Found> found = firstIn(batch.nioBuffer(), timestampMs, withMarkers);
                if (found.isPresent()) {
                    return found;
                }
            }
            return Optional.empty();
        }

        private void finish(Optional<Found> found) {
            result.complete(new TimestampResult(LogError.NONE, found));
        }
    }
}
