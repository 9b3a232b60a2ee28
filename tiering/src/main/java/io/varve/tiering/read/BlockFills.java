package io.varve.tiering.read;

import io.varve.base.FaultHandler;
import io.varve.base.Invariant;
import io.varve.tiering.cache.ObjectCache;
import io.varve.tiering.core.Block;
import io.varve.tiering.core.BlockCompression;
import io.varve.tiering.core.BlockIndex;
import io.varve.tiering.core.ObjectFormatException;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.StoreFailures;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Brings blocks from the store into the cache: each at most once at a time, whoever asks; those that a reader waits for in the order they
 * were asked for, before those fetched ahead; all within a bound of bytes on their way. A fill belongs to the cache, not to the one who
 * asked: it goes on when nobody waits any longer, and the next to ask finds it done. Safe for any thread.
 */
final class BlockFills {

    private static final int AHEAD_QUEUE_MAX = 1024;

    private final ObjectStore store;
    private final ObjectCache cache;
    private final BlockCompression compression;
    private final Executor executor;
    private final int rangeBytes;
    private final FaultHandler faults;
    private final long bytesMax;

    private final Map<BlockId, CompletableFuture<Block>> onTheirWay = new HashMap<>();
    private final ArrayDeque<Run> waitedFor = new ArrayDeque<>();
    private final ArrayDeque<Run> ahead = new ArrayDeque<>();
    private long bytes;

    /**
     * @param executor unpacks blocks and completes futures
     * @param faults is told of every Error, also of those in what nobody waits for
     */
    BlockFills(
            ObjectStore store,
            ObjectCache cache,
            BlockCompression compression,
            Executor executor,
            int rangeBytes,
            FaultHandler faults) {
        this.store = store;
        this.cache = cache;
        this.compression = compression;
        this.executor = executor;
        this.rangeBytes = rangeBytes;
        this.faults = faults;
        this.bytesMax = cache.aheadBytesMax();
    }

    private record BlockId(String object, int block) {}

    /** Neighbouring blocks that come in one GET. */
    private record Run(String object, ObjectTail tail, int from, int end, boolean isAhead) {

        long position() {
            return tail.index().position(from);
        }

        int storedBytes() {
            return (int) (tail.index().position(end - 1) + tail.index().storedBytes(end - 1) - position());
        }

        /** In memory until it is in the cache: as stored, and unpacked. */
        long bytes() {
            long sum = storedBytes();
            for (int block = from; block < end; block++) {
                sum += tail.index().rawBytes(block);
            }
            return sum;
        }
    }

    /** A block that a reader waits for. Cancelling the future does nothing to the fill. */
    CompletableFuture<Block> demand(String object, ObjectTail tail, int block) {
        CompletableFuture<Block> coming;
        List<Run> starting;
        synchronized (this) {
            BlockId id = new BlockId(object, block);
            coming = onTheirWay.get(id);
            if (coming != null) {
                return coming.copy();
            }
            coming = new CompletableFuture<>();
            onTheirWay.put(id, coming);
            waitedFor.add(new Run(object, tail, block, block + 1, false));
            starting = startable();
        }
        starting.forEach(this::start);
        return coming.copy();
    }

    /** Blocks that a reader will probably ask for. Dropped when there is too much of it. */
    void ahead(String object, ObjectTail tail, int from, int end) {
        List<Run> starting;
        synchronized (this) {
            for (Run run : runs(object, tail, from, end)) {
                if (ahead.size() < AHEAD_QUEUE_MAX) {
                    ahead.add(run);
                }
            }
            starting = startable();
        }
        starting.forEach(this::start);
    }

    /** Bytes on their way. */
    synchronized long bytes() {
        return bytes;
    }

    private List<Run> runs(String object, ObjectTail tail, int from, int end) {
        List<Run> runs = new ArrayList<>();
        BlockIndex index = tail.index();
        int runFrom = from;
        while (runFrom < end) {
            int runEnd = runFrom + 1;
            long size = index.storedBytes(runFrom);
            while (runEnd < end && size + index.storedBytes(runEnd) <= rangeBytes) {
                size += index.storedBytes(runEnd);
                runEnd++;
            }
            runs.add(new Run(object, tail, runFrom, runEnd, true));
            runFrom = runEnd;
        }
        return runs;
    }

    /** Takes from the queues what there is room for; called under the lock, started outside it. */
    private List<Run> startable() {
        List<Run> starting = new ArrayList<>();
        while (!waitedFor.isEmpty() && (bytes == 0 || bytes + waitedFor.peek().bytes() <= bytesMax)) {
            Run run = waitedFor.poll();
            bytes += run.bytes();
            starting.add(run);
        }
        // Fetching ahead leaves half of the room to those who wait.
        while (waitedFor.isEmpty() && !ahead.isEmpty() && bytes + ahead.peek().bytes() <= bytesMax / 2) {
            for (Run run : missing(ahead.poll())) {
                for (int block = run.from(); block < run.end(); block++) {
                    onTheirWay.put(new BlockId(run.object(), block), new CompletableFuture<>());
                }
                bytes += run.bytes();
                starting.add(run);
            }
        }
        return starting;
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
                parts.add(new Run(run.object(), run.tail(), from, block, true));
                from = -1;
            }
        }
        return parts;
    }

    private void start(Run run) {
        store.get(run.object(), run.position(), run.storedBytes())
                .whenCompleteAsync((stored, failure) -> guarded(run, stored, failure), executor);
    }

    private void guarded(Run run, ByteBuffer stored, Throwable failure) {
        try {
            arrived(run, stored, failure);
        } catch (Error e) {
            faults.onFault("blocks from object storage", e);
        }
    }

    private void arrived(Run run, ByteBuffer stored, Throwable failure) {
        for (int block = run.from(); block < run.end(); block++) {
            Block opened = null;
            Throwable trouble = failure == null ? null : troubleOf(run, failure);
            if (trouble == null) {
                try {
                    opened = open(run, stored, block);
                } catch (ObjectFormatException e) {
                    trouble = ObjectReads.malformed(run.object(), e);
                } catch (RuntimeException e) {
                    trouble = e;
                } catch (Error e) {
                    faults.onFault("a block from object storage", e);
                    trouble = e;
                }
            }
            deliver(run, block, opened, trouble);
        }
        List<Run> starting;
        synchronized (this) {
            bytes -= run.bytes();
            Invariant.check(bytes >= 0, "bytes on their way are given back once", bytes);
            starting = startable();
        }
        starting.forEach(this::start);
    }

    private Throwable troubleOf(Run run, Throwable failure) {
        if (StoreFailures.root(failure) instanceof Error broken) {
            faults.onFault("blocks from object storage", broken);
            return broken;
        }
        return ObjectReads.failed(run.object(), failure);
    }

    private Block open(Run run, ByteBuffer stored, int block) throws ObjectFormatException {
        BlockIndex index = run.tail().index();
        int at = (int) (index.position(block) - run.position());
        ByteBuffer one = stored.slice(at, index.storedBytes(block));
        if (run.end() - run.from() > 1 && index.codec(block) == BlockIndex.CODEC_RAW) {
            // A cached block must not keep its neighbours' memory alive: the budget counts each by itself.
            one = ByteBuffer.allocate(one.remaining()).put(one).flip();
        }
        return Block.open(one, run.tail(), block, compression);
    }

    private void deliver(Run run, int block, Block opened, Throwable trouble) {
        if (opened != null && run.isAhead()) {
            cache.putAhead(run.object(), block, opened);
        } else if (opened != null) {
            cache.putRead(run.object(), block, opened);
        }
        CompletableFuture<Block> waiting;
        synchronized (this) {
            waiting = onTheirWay.remove(new BlockId(run.object(), block));
        }
        if (trouble == null) {
            waiting.complete(opened);
        } else {
            waiting.completeExceptionally(trouble);
        }
    }
}
