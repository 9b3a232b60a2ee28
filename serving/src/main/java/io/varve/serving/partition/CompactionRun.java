package io.varve.serving.partition;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.base.Invariant;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.api.MetadataClient.Seal;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.protocol.storage.EntryFormat;
import io.varve.serving.core.compaction.BatchFormatException;
import io.varve.serving.core.compaction.CompactionPlan;
import io.varve.serving.core.compaction.CompactionPlan.Group;
import io.varve.serving.core.compaction.Rewriting;
import io.varve.serving.core.compaction.SegmentLook;
import io.varve.serving.core.partition.LogState;
import io.varve.tiering.api.RemoteSegments.Following;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * One pass over one partition, by its owner: reads the dirty part, then goes through the log from its start, group by group. Each group becomes a segment of its own that is written to bookies as any other is and takes
 * the place of its inputs by one compare-and-set, when enough bookies hold it durably (I-1); but a segment by itself that passes have looked at before is first only read, and stays if nothing goes from it. Whatever goes wrong ends the pass at that point: what was exchanged stays, the rest is as it was, and a rewrite that nobody
 * finishes is dropped by the metadata service. On the compaction's loop.
 */
final class CompactionRun {

    private static final int CHUNK_BYTES = 1 << 20;
    private static final long PENDING_BYTES_MAX = 4L << 20;
    /** Bookies that confirm nothing for so long are left. */
    private static final long STALL_NS = 10_000_000_000L;

    /** How it ended. */
    enum Outcome {
        /** All of it. */
        DONE,
        /** Its broker no longer owns the partition, or stops. */
        STOPPED,
        /** Bookies, object storage or the metadata service didn't do as asked: to be tried again. */
        FAILED,
        /** The partition holds what can't be read, or a batch with more keys than there is room for. */
        IMPOSSIBLE
    }

    private final PartitionContext context;
    private final PartitionLoop loop;
    private final CompactableLog log;
    private final PartitionId id;
    private final CompactionPlan plan;
    private final List<SegmentDescriptor> inputs;
    private final Function<CompactionSource, Rewriting> passes;
    private final CompactionMetrics metrics;
    private final ByteRate rate;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final SegmentReader reader;
    /** Were waited for once: one that hangs must not cost every group of the pass as long. */
    private final TreeSet<BookieId> laggards = new TreeSet<>();

    private CompactionSource source;
    private Rewriting pass;
    private Runnable waiting;
    private RewriteStreams streams;
    private LogState state;
    private long rewrittenBytes;
    private long stalledSinceNs;
    private String why = "";

    /**
     * @param inputs the segments of {@code plan}, in order
     * @param passes makes the pass of what the log says
     */
    CompactionRun(
            PartitionContext context,
            PartitionLoop loop,
            CompactableLog log,
            CompactionPlan plan,
            List<SegmentDescriptor> inputs,
            Function<CompactionSource, Rewriting> passes,
            CompactionMetrics metrics,
            ByteRate rate) {
        this.context = context;
        this.loop = loop;
        this.log = log;
        this.id = log.id();
        this.plan = plan;
        this.inputs = inputs;
        this.passes = passes;
        this.metrics = metrics;
        this.rate = rate;
        this.reader = new SegmentReader(context);
    }

    PartitionId id() {
        return id;
    }

    /** Why it ended as it did, for the log. */
    String why() {
        return why;
    }

    /** Begins. Completes on the loop. */
    CompletableFuture<Outcome> start() {
        loop.on(log.forCompaction(plan.dirtyOffset(), plan.endOffset()), (known, failure) -> {
            if (isOver()) {
                return;
            }
            if (failure != null) {
                end(Outcome.FAILED, "the owner's state: " + failure.getMessage());
                return;
            }
            source = known;
            pass = passes.apply(known);
            read(plan.dirtyOffset(), plan.endOffset(), pass::observe, this::rewrite);
        });
        return outcome;
    }

    /** Time has passed: goes on if it waited for that. */
    void tick() {
        if (streams != null && now() - stalledSinceNs > STALL_NS) {
            laggards.addAll(streams.leaveLaggards());
            onStreams();
        }
        resume();
    }

    /** Ends it, wherever it is. */
    void stop() {
        end(Outcome.STOPPED, "the broker stops");
    }

    private void rewrite() {
        List<Group> groups = plan.groupsWithin(pass.observedEnd());
        if (groups.isEmpty()) {
            end(Outcome.IMPOSSIBLE, "the batch at " + plan.dirtyOffset() + " has more keys than there is room for");
        } else {
            rewrite(groups, 0);
        }
    }

    // ---- a group
    // -----------------------------------------------------------------------------------------------------------------

    private void rewrite(List<Group> groups, int index) {
        if (index == groups.size()) {
            end(Outcome.DONE, "");
            return;
        }
        Group group = groups.get(index);
        Runnable next = () -> rewrite(groups, index + 1);
        List<SegmentDescriptor> replaced = stillThere(inputs.subList(group.fromIndex(), group.toIndex()));
        if (replaced.isEmpty()) {
            next.run();
        } else if (plan.isSettled(group) && hasNoSharedObject(replaced.get(0))) {
            look(replaced.get(0), next);
        } else {
            open(
                    replaced,
                    rewrite -> read(
                            rewrite.startOffset(),
                            rewrite.endOffset(),
                            this::rewriteBatch,
                            () -> finish(rewrite, replaced, next)));
        }
    }

    /** Those that retention hasn't taken since the pass began. It takes them from the log's start on, and what a pass makes of the others depends on nothing in them. */
    private List<SegmentDescriptor> stillThere(List<SegmentDescriptor> segments) {
        long logStart = context.metadata()
                .view()
                .partition(id)
                .map(PartitionState::logStartOffset)
                .orElse(0L);
        return segments.stream().filter(s -> s.endOffset() > logStart).toList();
    }

    /**
     * Segments leave an object that several are in from its front: a read of one goes on in the object into the next. Only a topic that wasn't to be compacted for a while has such.
     */
    private static boolean hasNoSharedObject(SegmentDescriptor segment) {
        return segment.object()
                .filter(object ->
                        object.startOffset() != segment.startOffset() || object.endOffset() != segment.endOffset())
                .isEmpty();
    }

    /** Reads a segment that may stay as it is. */
    private void look(SegmentDescriptor segment, Runnable next) {
        SegmentLook look = new SegmentLook(pass, segment.startOffset());
        List<ByteBuffer> changed = new ArrayList<>();
        Predicate<ByteBuffer> each = batch -> {
            boolean stays = look.at(batch);
            if (!stays) {
                look.handedOn().forEach(kept -> changed.add(copyOf(kept)));
            }
            return stays;
        };
        read(segment.startOffset(), segment.endOffset(), each, () -> {
            if (look.changes()) {
                rewriteFrom(segment, look, changed, next);
            } else {
                pass.endSegment(segment.endOffset(), stays -> {});
                metrics.onLeft();
                next.run();
            }
        });
    }

    /** Writes a segment anew of which a part was looked at already. */
    private void rewriteFrom(SegmentDescriptor segment, SegmentLook look, List<ByteBuffer> changed, Runnable next) {
        List<SegmentDescriptor> replaced = List.of(segment);
        open(replaced, rewrite -> {
            Runnable rest = () -> {
                changed.forEach(this::write);
                read(look.nextOffset(), rewrite.endOffset(), this::rewriteBatch, () -> finish(rewrite, replaced, next));
            };
            read(rewrite.startOffset(), look.unchangedEnd(), batch -> copyBelow(look.unchangedEnd(), batch), rest);
        });
    }

    private boolean copyBelow(long endOffset, ByteBuffer batch) {
        boolean isBelow = RecordBatchHeader.baseOffset(batch, batch.position()) < endOffset;
        if (isBelow) {
            write(batch);
        }
        return isBelow;
    }

    /** Makes ready for writing a group. */
    private void open(List<SegmentDescriptor> replaced, Consumer<SegmentDescriptor> opened) {
        long endOffset = replaced.get(replaced.size() - 1).endOffset();
        StateLoader loader = new StateLoader(
                context, loop, reader, context.metadata().view().partition(id).orElse(log.partition()), endOffset);
        loop.on(loader.load(), (loaded, failure) -> {
            if (failure != null) {
                end(Outcome.FAILED, "the state at " + endOffset + ": " + failure.getMessage());
            } else {
                state = loaded;
                state.onRewritten(replaced.get(0).startOffset(), compactedEnd(endOffset), source.aborted());
                allocate(replaced, opened);
            }
        });
    }

    /** Up to where this pass has looked at a group that ends there. */
    private long compactedEnd(long endOffset) {
        return Math.min(endOffset, pass.observedEnd());
    }

    private void allocate(List<SegmentDescriptor> replaced, Consumer<SegmentDescriptor> opened) {
        if (isOver()) {
            return;
        }
        loop.on(context.metadata().allocateRewrite(id, log.epoch(), ids(replaced), laggards), (rewrite, failure) -> {
            if (isOver()) {
                return;
            }
            if (failure != null) {
                end(Outcome.FAILED, "no segment: " + failure.getMessage());
                return;
            }
            streams = new RewriteStreams(context, loop, id, rewrite, this::onStreams);
            rewrittenBytes = 0;
            stalledSinceNs = now();
            onStreams();
            if (!isOver()) {
                opened.accept(rewrite);
            }
        });
    }

    private boolean rewriteBatch(ByteBuffer batch) {
        pass.rewrite(batch, this::write);
        return true;
    }

    /** Batches of compaction are views of what was read, which goes back at once; so each is copied. */
    private void write(ByteBuffer batch) {
        int at = batch.position();
        long first = RecordBatchHeader.baseOffset(batch, at);
        long last = RecordBatchHeader.lastOffset(batch, at);
        Invariant.check(first == streams.sentEnd(), "I-8 a rewrite has no gaps", first, streams.sentEnd());
        int size = EntryFormat.HEADER_BYTES + batch.remaining();
        state.count(first, size, RecordBatchHeader.maxTimestampMs(batch, at));
        if (streams.isAllDurable()) {
            // Until now there was nothing to be confirmed, however long that was.
            stalledSinceNs = now();
        }
        streams.append(first, last, Unpooled.wrappedBuffer(copyOf(batch)));
        rewrittenBytes += size;
        metrics.onWritten(size);
        rate.take(now(), size);
    }

    private static ByteBuffer copyOf(ByteBuffer batch) {
        return ByteBuffer.allocate(batch.remaining()).put(batch.duplicate()).flip();
    }

    private void finish(SegmentDescriptor rewrite, List<SegmentDescriptor> replaced, Runnable next) {
        pass.endSegment(rewrite.endOffset(), this::write);
        Invariant.check(
                streams.sentEnd() == rewrite.endOffset(),
                "I-8 a rewrite ends where its inputs do",
                streams.sentEnd(),
                rewrite.endOffset());
        streams.checkpoint(rewrite.endOffset(), state.encode());
        awaitDurable(() -> commit(rewrite, replaced, next));
    }

    private void awaitDurable(Runnable next) {
        if (isOver()) {
            return;
        }
        if (streams.isAllDurable()) {
            next.run();
        } else {
            waiting = () -> awaitDurable(next);
        }
    }

    private void commit(SegmentDescriptor rewrite, List<SegmentDescriptor> replaced, Runnable next) {
        Seal seal = new Seal(
                rewrite.id(), rewrite.endOffset(), rewrittenBytes, state.segmentMaxTimestampMs(), streams.holders());
        RewriteStreams written = streams;
        streams = null;
        CompletableFuture<PartitionState> exchanged = context.metadata()
                .replaceSegments(id, log.epoch(), seal, ids(replaced), compactedEnd(rewrite.endOffset()));
        loop.on(exchanged, (partition, failure) -> {
            if (failure == null) {
                written.seal();
                metrics.onReplaced(replaced.size());
            }
            written.close();
            if (failure == null) {
                next.run();
            } else {
                // Whether it was done is unknown perhaps (I-17). Nothing hangs on it: the next pass looks at the chain.
                end(Outcome.FAILED, "the exchange: " + failure.getMessage());
            }
        });
    }

    private void onStreams() {
        if (streams == null) {
            return;
        }
        stalledSinceNs = now();
        if (!streams.isEnough()) {
            end(Outcome.FAILED, "too few bookies are left for the rewrite");
        } else {
            resume();
        }
    }

    private static List<SegmentId> ids(List<SegmentDescriptor> segments) {
        return segments.stream().map(SegmentDescriptor::id).toList();
    }

    // ---- reading
    // -----------------------------------------------------------------------------------------------------------------

    /**
     * Goes through the batches of a stretch in order.
     *
     * @param each gets every batch, for the time of the call; false ends the reading
     * @param then runs afterwards, on the loop
     */
    private void read(long fromOffset, long endOffset, Predicate<ByteBuffer> each, Runnable then) {
        if (isOver()) {
            return;
        }
        if (fromOffset >= endOffset) {
            then.run();
            return;
        }
        if (!rate.mayGoOn(now()) || streams != null && streams.pendingBytes() > PENDING_BYTES_MAX) {
            waiting = () -> read(fromOffset, endOffset, each, then);
            return;
        }
        SegmentDescriptor segment = covering(fromOffset);
        loop.on(readSegment(segment, fromOffset), (entries, failure) -> {
            if (failure != null) {
                end(Outcome.FAILED, "segment " + segment.id() + " at " + fromOffset + ": " + failure.getMessage());
                return;
            }
            long next;
            try {
                next = isOver() ? fromOffset : handOn(entries, segment, fromOffset, each);
            } catch (BatchFormatException unreadable) {
                end(
                        Outcome.IMPOSSIBLE,
                        "segment " + segment.id() + " near " + fromOffset + ": " + unreadable.getMessage());
                return;
            } finally {
                entries.release();
            }
            if (outcome.isDone()) {
                return;
            }
            if (next == fromOffset) {
                end(Outcome.FAILED, "segment " + segment.id() + " gives nothing at " + fromOffset);
            } else if (next > fromOffset) {
                read(next, endOffset, each, then);
            } else {
                then.run();
            }
        });
    }

    /** Answers where to go on; -1 if that is to be all. */
    private long handOn(ByteBuf entries, SegmentDescriptor segment, long fromOffset, Predicate<ByteBuffer> each) {
        metrics.onRead(entries.readableBytes());
        rate.take(now(), entries.readableBytes());
        long next = fromOffset;
        EntryCursor cursor = new EntryCursor(entries);
        while (cursor.next()) {
            if (cursor.lastOffset() < next) {
                continue;
            }
            if (cursor.firstOffset() != next || cursor.lastOffset() >= segment.endOffset()) {
                break;
            }
            if (!each.test(cursor.payload().nioBuffer())) {
                return -1;
            }
            next = cursor.lastOffset() + 1;
        }
        return next;
    }

    private CompletableFuture<ByteBuf> readSegment(SegmentDescriptor segment, long fromOffset) {
        if (segment.replicas().isEmpty() && segment.isOffloaded()) {
            return reader.readRemote(segment, fromOffset, CHUNK_BYTES, Following.NOTHING);
        }
        int rotation = Long.hashCode(segment.id().value());
        return reader.read(segment, fromOffset, CHUNK_BYTES, ReadPriority.CATCH_UP, rotation)
                .thenCompose(read -> {
                    if (read.status() == BookieStatus.OK) {
                        return CompletableFuture.completedFuture(read.entries());
                    }
                    return segment.isOffloaded()
                            ? reader.readRemote(segment, fromOffset, CHUNK_BYTES, Following.NOTHING)
                            : CompletableFuture.failedFuture(
                                    new IllegalStateException("no replica answers: " + read.status()));
                });
    }

    /** As it is described now: copies move while a pass runs. */
    private SegmentDescriptor covering(long offset) {
        for (SegmentDescriptor input : inputs) {
            if (input.covers(offset)) {
                return context.metadata().view().segment(input.id()).orElse(input);
            }
        }
        throw new IllegalStateException("no input covers offset " + offset);
    }

    // ---- waiting and ending
    // -----------------------------------------------------------------------------------------------------

    private void resume() {
        Runnable resumed = waiting;
        waiting = null;
        if (resumed != null) {
            resumed.run();
        }
    }

    private boolean isOver() {
        if (!outcome.isDone() && log.isLost()) {
            end(Outcome.STOPPED, "the partition moved to another broker");
        }
        return outcome.isDone();
    }

    private void end(Outcome how, String reason) {
        if (outcome.isDone()) {
            return;
        }
        waiting = null;
        if (streams != null) {
            streams.close();
            streams = null;
        }
        why = reason;
        outcome.complete(how);
    }

    private long now() {
        return context.clock().nanoTime();
    }

    /** The inputs of a plan, in order, of what the chain has. */
    static List<SegmentDescriptor> inputsOf(CompactionPlan plan, Iterable<SegmentDescriptor> chain) {
        List<SegmentDescriptor> inputs = new ArrayList<>();
        for (SegmentDescriptor segment : chain) {
            if (segment.startOffset() >= plan.startOffset()
                    && segment.state() == SegmentDescriptor.State.SEALED
                    && segment.endOffset() <= plan.endOffset()) {
                inputs.add(segment);
            }
        }
        return List.copyOf(inputs);
    }
}
