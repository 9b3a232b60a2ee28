package io.varve.bookie.repair;

import io.netty.buffer.ByteBuf;
import io.varve.base.Clock;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieClient;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.store.SegmentImport;
import io.varve.bookie.store.SegmentStore;
import io.varve.bookie.task.TaskOutcome;
import io.varve.bookie.task.TaskWork;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.storage.EntryFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies a sealed segment from other bookies, with the newest checkpoint of its owner: every entry is verified on the way, the copy is durable before it is
 * reported, and what an earlier attempt copied is gone on with. A source that fails is left for the next one.
 */
public final class CopyReplicaWork implements TaskWork<BookieTask.CopyReplica> {

    private static final Logger LOG = LoggerFactory.getLogger(CopyReplicaWork.class);

    private final SegmentStore store;
    private final BookieClient client;
    private final Executor blocking;
    private final Clock clock;
    private final CopyPace pace;
    private final int chunkBytes;
    private final long readMsMax;

    /**
     * @param blocking for writing, which waits for the disk
     * @param pace shared by all copies of this bookie
     * @param chunkBytes how much is read at a time
     * @param readMsMax how long one read may take
     */
    public CopyReplicaWork(
            SegmentStore store,
            BookieClient client,
            Executor blocking,
            Clock clock,
            CopyPace pace,
            int chunkBytes,
            long readMsMax) {
        this.store = store;
        this.client = client;
        this.blocking = blocking;
        this.clock = clock;
        this.pace = pace;
        this.chunkBytes = chunkBytes;
        this.readMsMax = readMsMax;
    }

    @Override
    public boolean isIrreversible() {
        return false;
    }

    @Override
    public CompletableFuture<TaskOutcome> start(
            BookieTask.CopyReplica task, MetadataView view, BooleanSupplier wanted) {
        Optional<SegmentDescriptor> segment = view.segment(task.segment());
        if (segment.isEmpty() || segment.get().state() != SegmentDescriptor.State.SEALED) {
            return CompletableFuture.completedFuture(new TaskOutcome.Failed("it is not a sealed segment any more"));
        }
        List<BookieAddress> sources = sources(task, view);
        return CompletableFuture.supplyAsync(() -> begin(task, segment.get(), sources, wanted), blocking)
                .thenCompose(copied -> copied)
                .exceptionally(failure -> new TaskOutcome.Failed(lineOf(failure)));
    }

    private CompletableFuture<TaskOutcome> begin(
            BookieTask.CopyReplica task,
            SegmentDescriptor segment,
            List<BookieAddress> sources,
            BooleanSupplier wanted) {
        FenceReply held = store.describe(segment.id(), task.incarnation());
        if (held.status() == BookieStatus.OK && held.end() >= segment.endOffset()) {
            return store.seal(segment.id(), Integer.MAX_VALUE, segment.endOffset())
                    .thenApply(status -> status == BookieStatus.OK
                            ? new TaskOutcome.Done()
                            : new TaskOutcome.Failed("sealing what is here answered " + status));
        }
        if (sources.isEmpty()) {
            return CompletableFuture.completedFuture(new TaskOutcome.Failed("no source is alive"));
        }
        try {
            Copy copy = new Copy(segment, sources, store.importSegment(segment, task.incarnation()), wanted);
            copy.next();
            return copy.outcome;
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }

    private static List<BookieAddress> sources(BookieTask.CopyReplica task, MetadataView view) {
        List<BookieAddress> sources = new ArrayList<>();
        for (Replica replica : task.sources()) {
            view.bookie(replica.bookie())
                    .filter(b -> b.state() != BookieInfo.State.GONE)
                    .filter(b -> !b.id().equals(task.bookie()))
                    .ifPresent(b -> sources.add(new BookieAddress(b.id(), b.host(), b.port())));
        }
        return sources;
    }

    /** Where whole entries end. */
    private static long endOf(ByteBuffer entries) {
        long end = -1;
        for (int at = 0; at < entries.limit(); ) {
            end = EntryFormat.lastOffset(entries, at) + 1;
            at += EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(entries, at);
        }
        return end;
    }

    private static String lineOf(Throwable failure) {
        Throwable root =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return String.valueOf(root.getMessage());
    }

    /**
     * One copy under way: one step at a time, each on a thread for blocking work. While a chunk is written the next one is on its way here, so that a copy waits for the slower of network and disk and not for both; it
     * holds two chunks at the most.
     */
    private final class Copy {
        private final SegmentDescriptor segment;
        private final List<BookieAddress> sources;
        private final SegmentImport target;
        private final BooleanSupplier wanted;
        private final CompletableFuture<TaskOutcome> outcome = new CompletableFuture<>();
        /** The chunk that comes next, from the present source; null if it was not asked for yet. */
        private CompletableFuture<ReadReply> ahead;

        private int source;
        private int checkpointSource;
        private boolean hasCheckpoint;
        private String trouble = "";

        Copy(SegmentDescriptor segment, List<BookieAddress> sources, SegmentImport target, BooleanSupplier wanted) {
            this.segment = segment;
            this.sources = sources;
            this.target = target;
            this.wanted = wanted;
        }

        void next() {
            try {
                step();
            } catch (RuntimeException e) {
                end(new TaskOutcome.Failed(lineOf(e)));
            }
        }

        private void step() {
            if (!wanted.getAsBoolean()) {
                giveUp("it is not wanted any more");
                return;
            }
            if (target.nextOffset() >= segment.endOffset()) {
                if (hasCheckpoint || checkpointSource >= sources.size()) {
                    complete();
                } else {
                    readCheckpoint(sources.get(checkpointSource));
                }
                return;
            }
            if (source >= sources.size()) {
                end(new TaskOutcome.Failed("no source could be read:" + trouble));
                return;
            }
            BookieAddress from = sources.get(source);
            CompletableFuture<ReadReply> chunk = ahead == null ? read(from, target.nextOffset()) : ahead;
            ahead = null;
            chunk.thenAcceptAsync(reply -> onRead(from, reply), blocking).exceptionally(failure -> {
                end(new TaskOutcome.Failed(lineOf(failure)));
                return null;
            });
        }

        private CompletableFuture<ReadReply> read(BookieAddress from, long fromOffset) {
            return client.read(from, segment.id(), fromOffset, chunkBytes, ReadPriority.CATCH_UP, readMsMax);
        }

        private void onRead(BookieAddress from, ReadReply reply) {
            ByteBuf entries = reply.entries();
            try {
                if (reply.status() != BookieStatus.OK) {
                    trouble += " bookie " + from.id() + " answered " + reply.status() + ";";
                    source++;
                    next();
                    return;
                }
                int bytes = entries.readableBytes();
                long next = endOf(entries.nioBuffer());
                if (next < segment.endOffset()) {
                    ahead = read(from, next);
                }
                target.write(entries.nioBuffer());
                long waitNanos = pace.afterNanos(bytes, clock.nanoTime());
                CompletableFuture.delayedExecutor(waitNanos, TimeUnit.NANOSECONDS, blocking)
                        .execute(this::next);
            } catch (IOException e) {
                giveUp(e.getMessage());
            } finally {
                entries.release();
            }
        }

        /**
         * The owner's newest checkpoint is part of what a replica owes to its readers. If no source has it, or can give it, the entries still count: readers then go
         * further back.
         */
        private void readCheckpoint(BookieAddress from) {
            client.readCheckpoint(from, segment.id(), segment.endOffset(), readMsMax)
                    .thenAcceptAsync(reply -> onCheckpoint(from, reply), blocking)
                    .exceptionally(failure -> {
                        end(new TaskOutcome.Failed(lineOf(failure)));
                        return null;
                    });
        }

        private void onCheckpoint(BookieAddress from, CheckpointReply reply) {
            try {
                if (reply.status() == BookieStatus.OK && reply.offset() >= segment.startOffset()) {
                    target.checkpoint(reply.offset(), reply.state().nioBuffer());
                    hasCheckpoint = true;
                } else {
                    if (reply.status() != BookieStatus.BEYOND_END) {
                        LOG.warn(
                                "copy=checkpoint-unreadable segment={} source={} status={}",
                                segment.id(),
                                from.id(),
                                reply.status());
                    }
                    checkpointSource++;
                }
                next();
            } catch (IOException e) {
                giveUp(e.getMessage());
            } finally {
                reply.state().release();
            }
        }

        private void complete() {
            try {
                target.complete();
                end(new TaskOutcome.Done());
            } catch (IOException e) {
                giveUp(e.getMessage());
            }
        }

        private void giveUp(String reason) {
            try {
                target.abort();
            } catch (IOException e) {
                end(new TaskOutcome.Failed(reason + "; and throwing away the copy failed: " + e.getMessage()));
                return;
            }
            end(new TaskOutcome.Failed(reason));
        }

        private void end(TaskOutcome how) {
            if (ahead != null) {
                ahead.thenAccept(unwanted -> unwanted.entries().release());
                ahead = null;
            }
            target.close();
            outcome.complete(how);
        }
    }
}
