package io.varve.tiering.read;

import io.netty.buffer.ByteBuf;
import io.varve.base.FaultHandler;
import io.varve.base.Invariant;
import io.varve.base.PartitionId;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.cache.BlockMemory;
import io.varve.tiering.cache.CachedBlock;
import io.varve.tiering.cache.ObjectCache;
import io.varve.tiering.core.Block;
import io.varve.tiering.core.BlockCompression;
import io.varve.tiering.core.BlockIndex;
import io.varve.tiering.core.ObjectFormatException;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.core.RoundRobin;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.RangeTarget;
import io.varve.tiering.object.StoreFailures;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Brings blocks from the store into the cache: each at most once at a time, whoever asks; those that a reader waits for before those fetched ahead,
 * of both one for each partition in turn; all within the room that the cache has for what is on its way, within the rate, and no more at a time than the store has
 * connections: what it has been asked for can't be overtaken any more. A fill belongs to the cache, not to
 * the one who asked: it goes on when nobody waits any longer, and the next to ask finds it done. Safe for any thread.
 */
final class BlockFills {

    private static final int AHEAD_QUEUE_MAX = 1024;

    private final ObjectStore store;
    private final ObjectCache cache;
    private final BlockMemory memory;
    private final BlockCompression compression;
    private final Executor executor;
    private final FaultHandler faults;

    /** Who waits for a block that is on its way. */
    private final Map<BlockId, List<CompletableFuture<CachedBlock>>> onTheirWay = new HashMap<>();

    private final RoundRobin<PartitionId, Run> waitedFor = new RoundRobin<>();
    private final RoundRobin<PartitionId, Run> ahead = new RoundRobin<>();
    private final int callsMax;
    private final int aheadCallsMax;
    private final ReadRate rate;
    private int underWay;
    private boolean closed;

    /**
     * @param callsMax reads of the store at a time
     * @param aheadCallsMax when there are so many, no more are begun for what nobody waits for yet
     * @param rate of all of them together
     * @param executor talks to the store, unpacks blocks and completes futures
     * @param faults is told of every Error, also of those in what nobody waits for
     */
    BlockFills(
            ObjectStore store,
            ObjectCache cache,
            BlockMemory memory,
            BlockCompression compression,
            int callsMax,
            int aheadCallsMax,
            ReadRate rate,
            Executor executor,
            FaultHandler faults) {
        this.store = store;
        this.cache = cache;
        this.memory = memory;
        this.compression = compression;
        this.callsMax = callsMax;
        this.aheadCallsMax = aheadCallsMax;
        this.rate = rate;
        this.executor = executor;
        this.faults = faults;
    }

    private record BlockId(String object, int block) {}

    /** Neighbouring blocks that come in one GET. */
    private record Run(String object, ObjectTail tail, int from, int end) {

        long position() {
            return tail.index().position(from);
        }

        boolean isRaw(int block) {
            return tail.index().codec(block) == BlockIndex.CODEC_RAW;
        }

        /** What the store sends. */
        long storedBytes() {
            long sum = 0;
            for (int block = from; block < end; block++) {
                sum += tail.index().storedBytes(block);
            }
            return sum;
        }

        /** Memory of a block until it is in the cache: as stored, and unpacked if that is something else. */
        long bytes(int block) {
            int stored = tail.index().storedBytes(block);
            return isRaw(block) ? stored : (long) stored + tail.index().rawBytes(block);
        }

        long bytes() {
            long sum = 0;
            for (int block = from; block < end; block++) {
                sum += bytes(block);
            }
            return sum;
        }
    }

    /** A block that a reader waits for, who holds it when it comes. Cancelling the future does nothing to the fill. */
    CompletableFuture<CachedBlock> demand(PartitionId partition, String object, ObjectTail tail, int block) {
        CompletableFuture<CachedBlock> waiter = new CompletableFuture<>();
        List<Run> starting;
        synchronized (this) {
            if (closed) {
                return CompletableFuture.failedFuture(closed(object));
            }
            BlockId id = new BlockId(object, block);
            List<CompletableFuture<CachedBlock>> waiting = onTheirWay.get(id);
            if (waiting != null) {
                waiting.add(waiter);
                return waiter;
            }
            onTheirWay.put(id, new ArrayList<>(List.of(waiter)));
            waitedFor.add(partition, new Run(object, tail, block, block + 1));
            starting = startable();
        }
        starting.forEach(this::start);
        return waiter;
    }

    /** Blocks that a reader will probably ask for, in one GET. Dropped when there is too much of it. */
    void ahead(PartitionId partition, String object, ObjectTail tail, int from, int end) {
        synchronized (this) {
            if (!closed && ahead.size() < AHEAD_QUEUE_MAX) {
                ahead.add(partition, new Run(object, tail, from, end));
            }
        }
        startWhatCan();
    }

    /** From now on nothing is begun, and who waits for what wasn't is told so. What is on its way still comes. */
    void close() {
        List<CompletableFuture<CachedBlock>> waiting = new ArrayList<>();
        synchronized (this) {
            closed = true;
            ahead.drain();
            for (Run run : waitedFor.drain()) {
                waiting.addAll(onTheirWay.remove(new BlockId(run.object(), run.from())));
            }
        }
        waiting.forEach(waiter -> waiter.completeExceptionally(closed("blocks")));
    }

    private static RemoteReadException closed(String what) {
        return new RemoteReadException(
                RemoteReadException.Kind.UNAVAILABLE, what + " can't be read: the reader is closed", null);
    }

    /** Begins what there is room for by now. */
    void startWhatCan() {
        List<Run> starting;
        synchronized (this) {
            starting = startable();
        }
        starting.forEach(this::start);
    }

    /** Takes from the queues what there is room for; called under the lock, started outside it. */
    private List<Run> startable() {
        List<Run> starting = new ArrayList<>();
        while (underWay < callsMax
                && !waitedFor.isEmpty()
                && rate.mayGoOn(this::startWhatCan)
                && cache.tryExpect(waitedFor.peek().bytes(), false)) {
            begin(waitedFor.poll(), starting);
        }
        while (underWay < aheadCallsMax
                && waitedFor.isEmpty()
                && !ahead.isEmpty()
                && rate.mayGoOn(this::startWhatCan)) {
            List<Run> parts = missing(ahead.peek());
            if (!cache.tryExpect(parts.stream().mapToLong(Run::bytes).sum(), true)) {
                break;
            }
            ahead.poll();
            for (Run run : parts) {
                for (int block = run.from(); block < run.end(); block++) {
                    onTheirWay.put(new BlockId(run.object(), block), new ArrayList<>());
                }
                begin(run, starting);
            }
        }
        return starting;
    }

    private void begin(Run run, List<Run> starting) {
        starting.add(run);
        underWay++;
        rate.take(run.storedBytes());
    }

    /** The parts of a run that are neither here nor on their way. */
    private List<Run> missing(Run run) {
        List<Run> parts = new ArrayList<>();
        int from = -1;
        for (int block = run.from(); block <= run.end(); block++) {
            boolean wanted = block < run.end()
                    && !onTheirWay.containsKey(new BlockId(run.object(), block))
                    && !cache.holds(run.object(), block);
            if (wanted && from < 0) {
                from = block;
            } else if (!wanted && from >= 0) {
                parts.add(new Run(run.object(), run.tail(), from, block));
                from = -1;
            }
        }
        return parts;
    }

    /** Elsewhere: to put a request together takes as long as a good many appends, and whoever asks may be a loop that has them to do. */
    private void start(Run run) {
        executor.execute(() -> fetch(run));
    }

    private void fetch(Run run) {
        List<ByteBuf> stored = new ArrayList<>();
        CompletableFuture<Void> filled;
        RangeTarget target;
        try {
            for (int block = run.from(); block < run.end(); block++) {
                stored.add(memory.take(run.tail().index().storedBytes(block)));
            }
            target = new RangeTarget(stored.stream()
                    .map(piece -> piece.nioBuffer(0, piece.capacity()))
                    .toList());
            filled = store.fill(run.object(), run.position(), target);
        } catch (RuntimeException | Error e) {
            stored.forEach(ByteBuf::release);
            callEnded();
            guarded(run, List.of(), e instanceof OutOfMemoryError ? noMemory(run, e) : e);
            return;
        }
        // Not when the blocks are unpacked: meanwhile the connection brings the next ones.
        filled.whenComplete((done, failure) -> callEnded());
        filled.whenCompleteAsync(
                (done, failure) -> {
                    target.close();
                    guarded(run, stored, failure);
                },
                executor);
    }

    /** Direct memory is bounded for the whole process, and others may have it: that passes. */
    private static RemoteReadException noMemory(Run run, Throwable e) {
        return new RemoteReadException(
                RemoteReadException.Kind.UNAVAILABLE, run.object() + ": no memory for blocks: " + e.getMessage(), e);
    }

    private void guarded(Run run, List<ByteBuf> stored, Throwable failure) {
        try {
            arrived(run, stored, failure);
        } catch (Error e) {
            faults.onFault("blocks from object storage", e);
        }
    }

    /** @param stored the blocks in order; none if there is a failure and no memory was had */
    private void arrived(Run run, List<ByteBuf> stored, Throwable failure) {
        if (failure != null) {
            stored.forEach(ByteBuf::release);
            Throwable trouble = troubleOf(run, failure);
            for (int block = run.from(); block < run.end(); block++) {
                deliver(run, block, null, trouble);
            }
        } else {
            for (int block = run.from(); block < run.end(); block++) {
                arrived(run, block, stored.get(block - run.from()));
            }
        }
        startWhatCan();
    }

    private void arrived(Run run, int block, ByteBuf stored) {
        CachedBlock opened = null;
        Throwable trouble = null;
        try {
            opened = open(run, stored, block);
        } catch (ObjectFormatException e) {
            trouble = ObjectReads.malformed(run.object(), e);
        } catch (RuntimeException e) {
            trouble = e;
        } catch (OutOfMemoryError e) {
            trouble = noMemory(run, e);
        } catch (Error e) {
            faults.onFault("a block from object storage", e);
            trouble = e;
        }
        if (opened == null) {
            stored.release();
        }
        deliver(run, block, opened, trouble);
    }

    private void callEnded() {
        synchronized (this) {
            underWay--;
            Invariant.check(underWay >= 0, "a call ends once", underWay);
        }
        startWhatCan();
    }

    private Throwable troubleOf(Run run, Throwable failure) {
        if (StoreFailures.root(failure) instanceof Error broken) {
            faults.onFault("blocks from object storage", broken);
            return broken;
        }
        return ObjectReads.failed(run.object(), failure);
    }

    /** @param stored its reference is taken over if this doesn't throw */
    private CachedBlock open(Run run, ByteBuf stored, int block) throws ObjectFormatException {
        ByteBuffer bytes = stored.nioBuffer(0, stored.capacity());
        if (run.isRaw(block)) {
            return new CachedBlock(Block.open(bytes, run.tail(), block, compression), stored);
        }
        ByteBuf raw = memory.take(run.tail().index().rawBytes(block));
        CachedBlock opened = null;
        try {
            Block unpacked = Block.open(bytes, run.tail(), block, compression, size -> raw.nioBuffer(0, size));
            opened = new CachedBlock(unpacked, raw);
        } finally {
            (opened == null ? raw : stored).release();
        }
        return opened;
    }

    private void deliver(Run run, int block, CachedBlock opened, Throwable trouble) {
        BlockId id = new BlockId(run.object(), block);
        cache.arrived(run.bytes(block));
        if (opened != null) {
            opened.hold();
            // In the cache before it is no longer on its way: or somebody might find it in neither place and ask for it
            // again.
            if (isAwaited(id)) {
                cache.putRead(run.object(), block, opened);
            } else {
                cache.putAhead(run.object(), block, opened);
            }
        }
        List<CompletableFuture<CachedBlock>> waiting;
        synchronized (this) {
            waiting = onTheirWay.remove(id);
        }
        for (CompletableFuture<CachedBlock> waiter : waiting) {
            if (opened != null) {
                hand(opened, waiter);
            } else {
                waiter.completeExceptionally(trouble);
            }
        }
        if (opened != null) {
            opened.release();
        }
    }

    private synchronized boolean isAwaited(BlockId id) {
        return !onTheirWay.get(id).isEmpty();
    }

    /** Each waiter gets a hold of its own, if it still waits. */
    private static void hand(CachedBlock block, CompletableFuture<CachedBlock> waiter) {
        block.hold();
        if (!waiter.complete(block)) {
            block.release();
        }
    }
}
