package io.varve.serving.partition;

import io.netty.buffer.ByteBuf;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.partition.SegmentReader.Entries;
import io.varve.serving.partition.SegmentReader.Found;
import io.varve.tiering.api.RemoteSegments.Following;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Rebuilds the owner's state as of an offset: the newest checkpoint that is not above it, looked for from the chain's end backwards, and the
 * entries from there on. Each segment has checkpoints every few MiB and begins with one, so this reads little; that a checkpoint is missing
 * costs reading, never truth. A takeover so doesn't wait for object storage: the open segment has a checkpoint, and the chain's last segment, if it is sealed, keeps its copies on bookies.
 * Used on the partition's loop.
 */
final class StateLoader {

    private static final int CHUNK_BYTES = 1 << 20;

    private final PartitionContext context;
    private final PartitionLoop loop;
    private final SegmentReader reader;
    private final PartitionState partition;
    private final long atOffset;
    private final CompletableFuture<LogState> result = new CompletableFuture<>();

    StateLoader(
            PartitionContext context,
            PartitionLoop loop,
            SegmentReader reader,
            PartitionState partition,
            long atOffset) {
        this.context = context;
        this.loop = loop;
        this.reader = reader;
        this.partition = partition;
        this.atOffset = atOffset;
    }

    /** Completes on the loop; fails with {@link StateUnavailableException} if not enough could be read now. */
    CompletableFuture<LogState> load() {
        List<SegmentDescriptor> segments = new ArrayList<>(partition.chain().segments());
        while (!segments.isEmpty() && segments.get(segments.size() - 1).startOffset() > atOffset) {
            // Nothing at or below the offset lies in it.
            segments.remove(segments.size() - 1);
        }
        int last = segments.size() - 1;
        if (last >= 0 && segments.get(last).startOffset() == atOffset) {
            findCheckpointAtStart(segments, last);
        } else {
            findCheckpoint(segments, last);
        }
        return result;
    }

    /**
     * Looks into a segment that begins where the state is wanted. It holds none of the entries below, but mostly a checkpoint right at its start; with that nothing older needs to be read, which may be in object storage by now.
     */
    private void findCheckpointAtStart(List<SegmentDescriptor> segments, int index) {
        loop.on(recoveryCheckpoint(segments.get(index)), (found, failure) -> {
            if (failure == null && isUsable(found)) {
                replay(found.state().get());
            } else {
                // Whether there is none or nobody answers: the segments before know as much.
                segments.remove(index);
                findCheckpoint(segments, index - 1);
            }
        });
    }

    private void findCheckpoint(List<SegmentDescriptor> segments, int index) {
        if (index < 0) {
            findCheckpointBelow(segments.isEmpty() ? atOffset : segments.get(0).startOffset());
        } else {
            findCheckpoint(segments.get(index), () -> findCheckpoint(segments, index - 1));
        }
    }

    /** Goes on in the manifest, if the chain has one: there is no checkpoint at or above {@code offset}. */
    private void findCheckpointBelow(long offset) {
        ManifestRef manifest = partition.chain().manifest().orElse(null);
        if (manifest == null || !manifest.covers(offset - 1)) {
            replay(LogState.empty(offset));
            return;
        }
        loop.on(loop.recoveryReads().call(loop, () -> covering(offset - 1)), (segment, failure) -> {
            if (failure != null) {
                fail("no segment below offset " + offset + " can be looked up: " + failure.getMessage());
            } else {
                findCheckpoint(segment, () -> findCheckpointBelow(segment.startOffset()));
            }
        });
    }

    /** @param otherwise what to do if truthfully there is none */
    private void findCheckpoint(SegmentDescriptor segment, Runnable otherwise) {
        loop.on(recoveryCheckpoint(segment), (found, failure) -> {
            if (failure != null || !found.answered()) {
                fail("no checkpoint of segment " + segment.id() + " can be read");
            } else if (isUsable(found)) {
                replay(found.state().get());
            } else {
                otherwise.run();
            }
        });
    }

    private CompletableFuture<Found> recoveryCheckpoint(SegmentDescriptor segment) {
        return loop.recoveryReads().call(loop, () -> reader.checkpoint(segment, atOffset));
    }

    private boolean isUsable(Found found) {
        return found.state().filter(state -> state.offset() <= atOffset).isPresent();
    }

    /** The segment that covers an offset, from wherever it is described; fails if nothing does. */
    private CompletableFuture<SegmentDescriptor> covering(long offset) {
        Optional<SegmentDescriptor> ofChain = partition.chain().covering(offset);
        Optional<ManifestRef> manifest = partition.chain().manifest().filter(m -> m.covers(offset));
        CompletableFuture<Optional<SegmentDescriptor>> found = ofChain.isPresent() || manifest.isEmpty()
                ? CompletableFuture.completedFuture(ofChain)
                : context.manifests().segmentAt(manifest.get(), partition.id(), offset);
        return found.thenApply(segment ->
                segment.orElseThrow(() -> new StateUnavailableException("no segment covers offset " + offset)));
    }

    private void replay(LogState state) {
        if (state.offset() >= atOffset) {
            finish(state);
            return;
        }
        loop.on(covering(state.offset()), (segment, failure) -> {
            if (failure != null) {
                fail("no segment at offset " + state.offset() + ": " + failure.getMessage());
            } else {
                replay(state, segment);
            }
        });
    }

    private void replay(LogState state, SegmentDescriptor segment) {
        if (state.segmentStart() != segment.startOffset()) {
            state.onSegment(segment.startOffset(), LogState.KEEP_ABORTED);
        }
        loop.on(loop.recoveryReads().call(loop, () -> read(segment, state.offset())), (entries, failure) -> {
            if (failure != null) {
                fail("segment " + segment.id() + " can't be read at " + state.offset() + ": " + failure);
                return;
            }
            try {
                apply(state, entries);
            } catch (StateUnavailableException notNow) {
                result.completeExceptionally(notNow);
                return;
            } finally {
                entries.release();
            }
            replay(state);
        });
    }

    private CompletableFuture<ByteBuf> read(SegmentDescriptor segment, long fromOffset) {
        if (segment.replicas().isEmpty() && segment.isOffloaded()) {
            return reader.readRemote(segment, fromOffset, CHUNK_BYTES, Following.NOTHING);
        }
        return reader.read(segment, fromOffset, CHUNK_BYTES, ReadPriority.RECOVERY, 0)
                .thenCompose(read -> read.status() != BookieStatus.OK && segment.isOffloaded()
                        ? reader.readRemote(segment, fromOffset, CHUNK_BYTES, Following.NOTHING)
                        : CompletableFuture.completedFuture(orThrow(read)));
    }

    private static ByteBuf orThrow(Entries read) {
        if (read.status() != BookieStatus.OK) {
            throw new StateUnavailableException("no replica answers: " + read.status());
        }
        return read.entries();
    }

    private void apply(LogState state, ByteBuf entries) {
        EntryCursor cursor = new EntryCursor(entries);
        long before = state.offset();
        while (state.offset() < atOffset && cursor.next()) {
            if (cursor.lastOffset() < state.offset()) {
                continue; // A read begins with the entry that holds the offset; the checkpoint lies at an entry's
                // start, so this is of another.
            }
            if (cursor.firstOffset() != state.offset() || cursor.lastOffset() >= atOffset) {
                throw new StateUnavailableException("entries don't join at " + state.offset());
            }
            ByteBuffer batch = cursor.payload().nioBuffer();
            state.apply(batch, cursor.sizeBytes(), context.clock().wallTimeMs());
        }
        if (state.offset() == before) {
            throw new StateUnavailableException("nothing was read at " + before);
        }
    }

    private void finish(LogState state) {
        partition
                .chain()
                .open()
                .filter(open -> state.segmentStart() != open.startOffset())
                .ifPresent(open -> state.onSegment(open.startOffset(), LogState.KEEP_ABORTED));
        result.complete(state);
    }

    private void fail(String why) {
        result.completeExceptionally(new StateUnavailableException(why));
    }

    /** Not now. */
    static final class StateUnavailableException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        StateUnavailableException(String why) {
            super(why);
        }
    }
}
