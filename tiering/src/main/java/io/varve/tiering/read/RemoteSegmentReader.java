package io.varve.tiering.read;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.PartitionId;
import io.varve.metadata.model.ObjectRef;
import io.varve.protocol.storage.EntryFormat;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import io.varve.tiering.api.RemoteSegments;
import io.varve.tiering.api.SealedSegmentSource;
import io.varve.tiering.cache.ObjectCache;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.core.Block;
import io.varve.tiering.core.ObjectFooter;
import io.varve.tiering.core.ObjectFormatException;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.core.ReadAhead;
import io.varve.tiering.core.Sections;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.StoreFailures;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Reads out of objects: a tail and a block answer any offset or time, from the cache where they are there. Reads never block the caller.
 */
public final class RemoteSegmentReader implements RemoteSegments {

    private static final long AHEAD_FIRST_BYTES = 2L * 1024 * 1024;
    private static final int READERS_MAX = 10_000;
    private static final long READER_FORGOTTEN_MS = 30_000;

    private final ObjectStore store;
    private final ReadSettings settings;
    private final Clock clock;
    private final FaultHandler faults;
    private final MeterRegistry registry;
    private final ExecutorService threads;
    private final ObjectCache cache;
    private final BlockFills fills;
    private final ReadAhead readAhead;
    private final Alarms alarms;
    private final ConcurrentHashMap<String, CompletableFuture<ObjectTail>> tailsOnTheirWay = new ConcurrentHashMap<>();

    /**
     * @param store with deadlines and retries around it; closed by its owner
     * @param faults is told of every Error; the reads that it befell fail as well
     */
    public RemoteSegmentReader(
            ObjectStore store, ReadSettings settings, Clock clock, MeterRegistry registry, FaultHandler faults) {
        this.store = store;
        this.settings = settings;
        this.clock = clock;
        this.faults = faults;
        this.registry = registry;
        this.alarms = new Alarms(clock);
        AtomicInteger number = new AtomicInteger();
        this.threads = Executors.newFixedThreadPool(settings.threads(), task -> {
            Thread thread = new Thread(task, "varve-remote-read-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
        this.cache = new ObjectCache(settings.cacheBytes());
        this.fills = new BlockFills(
                store, cache, Lz4FrameCompression.INSTANCE, this::execute, settings.rangeBytes(), faults);
        this.readAhead = new ReadAhead(
                AHEAD_FIRST_BYTES,
                settings.aheadBytesMax(),
                cache.aheadBytesMax() / 2,
                READERS_MAX,
                READER_FORGOTTEN_MS);
        registry.gauge("varve.tiering.cache.bytes", cache, ObjectCache::bytes);
        registry.gauge("varve.tiering.cache.hits", cache, ObjectCache::hits);
        registry.gauge("varve.tiering.cache.misses", cache, ObjectCache::misses);
        registry.gauge("varve.tiering.fill.bytes", fills, BlockFills::bytes);
    }

    @Override
    public CompletableFuture<RemoteEntries> read(
            ObjectRef object, PartitionId partition, long fromOffset, int maxBytes) {
        if (fromOffset < object.startOffset() || fromOffset >= object.endOffset()) {
            return CompletableFuture.failedFuture(new IllegalArgumentException("Offset " + fromOffset + " is not in "
                    + object.key() + ", which holds " + object.startOffset() + " to " + object.endOffset()));
        }
        return told(
                object,
                () -> tail(object, partition).thenCompose(tail -> {
                    int first = tail.index().blockOf(fromOffset);
                    return block(object.key(), tail, first)
                            .thenApply(block -> gather(object, partition, tail, first, block, fromOffset, maxBytes));
                }));
    }

    @Override
    public void expect(PartitionId partition, ObjectRef object, long nextOffset, ObjectRef next) {
        long depthBytes;
        synchronized (readAhead) {
            depthBytes = readAhead.depthBytes(partition, nextOffset);
        }
        Optional<ObjectTail> here = cache.tail(object.key());
        if (depthBytes == 0 || here.isEmpty()) {
            return;
        }
        long left = bytesLeft(here.get(), object, nextOffset);
        if (left >= depthBytes) {
            return;
        }
        tail(next, partition).whenComplete((tail, failure) -> {
            if (failure == null) {
                int end = ReadAhead.firstBlocks(tail.index(), depthBytes, left, settings.rangeBytes());
                if (end > 0) {
                    fills.ahead(next.key(), tail, 0, end);
                }
            } else if (StoreFailures.root(failure) instanceof Error broken) {
                faults.onFault("remote read", broken);
            }
        });
    }

    /** From an offset to the end of its object, in whole blocks. */
    private static long bytesLeft(ObjectTail tail, ObjectRef object, long nextOffset) {
        if (nextOffset >= object.endOffset()) {
            return 0;
        }
        long left = 0;
        for (int block = tail.index().blockOf(nextOffset); block < tail.index().blocks(); block++) {
            left += tail.index().rawBytes(block);
        }
        return left;
    }

    @Override
    public CompletableFuture<Optional<Long>> entryForTimestamp(
            ObjectRef object, PartitionId partition, long timestampMs) {
        return told(
                object,
                () -> tail(object, partition).thenCompose(tail -> {
                    OptionalInt at = tail.index().blockAtTimestamp(timestampMs);
                    if (at.isEmpty()) {
                        return CompletableFuture.completedFuture(Optional.<Long>empty());
                    }
                    return block(object.key(), tail, at.getAsInt())
                            .thenApply(block -> Optional.of(block.entryAtTimestamp(timestampMs)
                                    .orElseThrow(() -> new RemoteReadException(
                                            Kind.CORRUPT,
                                            object.key() + ": the index and a block disagree on time",
                                            null))));
                }));
    }

    @Override
    public CompletableFuture<Optional<SealedSegmentSource.Checkpoint>> checkpoint(
            ObjectRef object, PartitionId partition, long atMostOffset) {
        return told(
                object,
                () -> tail(object, partition).thenCompose(tail -> {
                    Optional<ObjectFooter.Section> section = tail.footer().checkpointAtMost(atMostOffset);
                    if (section.isEmpty()) {
                        return CompletableFuture.completedFuture(Optional.<SealedSegmentSource.Checkpoint>empty());
                    }
                    return store.get(
                                    object.key(),
                                    section.get().position(),
                                    section.get().bytes())
                            .thenApply(state -> Optional.of(checked(object, section.get(), state)));
                }));
    }

    /** Bytes kept and waiting to be read, of the budget. */
    public long cachedBytes() {
        return cache.bytes();
    }

    @Override
    public void close() {
        threads.shutdown();
    }

    /** What comes in after the close is still delivered, on the thread it comes on: nobody is left waiting. */
    private void execute(Runnable task) {
        try {
            threads.execute(task);
        } catch (RejectedExecutionException closed) {
            task.run();
        }
    }

    private static SealedSegmentSource.Checkpoint checked(
            ObjectRef object, ObjectFooter.Section section, ByteBuffer state) {
        try {
            Sections.check(state, section);
        } catch (ObjectFormatException e) {
            throw ObjectReads.malformed(object.key(), e);
        }
        return new SealedSegmentSource.Checkpoint(section.tag(), state.asReadOnlyBuffer());
    }

    private CompletableFuture<Block> block(String key, ObjectTail tail, int block) {
        return cache.block(key, block)
                .map(CompletableFuture::completedFuture)
                .orElseGet(() -> fills.demand(key, tail, block));
    }

    /** Entries of the first block, then of those after it that are already here: nobody waits for a second one. */
    private RemoteEntries gather(
            ObjectRef object,
            PartitionId partition,
            ObjectTail tail,
            int firstBlock,
            Block first,
            long fromOffset,
            int maxBytes) {
        int budget = Math.min(maxBytes, settings.readBytesMax());
        List<ByteBuffer> entries = new ArrayList<>();
        int at = firstBlock;
        Block block = first;
        long nextOffset = fromOffset;
        while (block != null) {
            List<ByteBuffer> more = block.entriesFrom(nextOffset, budget, entries.isEmpty());
            for (ByteBuffer entry : more) {
                budget -= entry.remaining();
                nextOffset = EntryFormat.lastOffset(entry, 0) + 1;
            }
            entries.addAll(more);
            boolean goesOn = nextOffset == block.endOffset()
                    && budget > 0
                    && at + 1 < tail.index().blocks();
            block = goesOn ? cache.block(object.key(), at + 1).orElse(null) : null;
            at = block == null ? at : at + 1;
        }
        planAhead(object, partition, tail, fromOffset, nextOffset, at);
        return new RemoteEntries(entries, nextOffset);
    }

    private void planAhead(
            ObjectRef object, PartitionId partition, ObjectTail tail, long fromOffset, long nextOffset, int lastBlock) {
        ReadAhead.Plan plan;
        synchronized (readAhead) {
            plan = readAhead.onRead(
                    partition,
                    object.key(),
                    tail.index(),
                    fromOffset,
                    nextOffset,
                    lastBlock,
                    clock.nanoTime() / 1_000_000);
        }
        if (!plan.isEmpty()) {
            fills.ahead(object.key(), tail, plan.from(), plan.end());
        }
    }

    private CompletableFuture<ObjectTail> tail(ObjectRef object, PartitionId partition) {
        return cache.tail(object.key())
                .map(CompletableFuture::completedFuture)
                .orElseGet(() -> fetchTail(object))
                .thenApply(tail -> {
                    checkIdentity(object, partition, tail);
                    return tail;
                });
    }

    private CompletableFuture<ObjectTail> fetchTail(ObjectRef object) {
        CompletableFuture<ObjectTail> mine = new CompletableFuture<>();
        CompletableFuture<ObjectTail> other = tailsOnTheirWay.putIfAbsent(object.key(), mine);
        if (other != null) {
            return other.copy();
        }
        ObjectReads.tail(store, object.key(), object.length())
                .whenCompleteAsync(
                        (tail, failure) -> {
                            if (failure == null) {
                                cache.put(object.key(), tail);
                            }
                            tailsOnTheirWay.remove(object.key());
                            if (failure == null) {
                                mine.complete(tail);
                            } else {
                                mine.completeExceptionally(failure);
                            }
                        },
                        this::execute);
        return mine.copy();
    }

    /** An intact object isn't enough: it must be the one that the metadata speaks of. */
    private static void checkIdentity(ObjectRef object, PartitionId partition, ObjectTail tail) {
        ObjectFooter footer = tail.footer();
        boolean same = tail.crc() == object.crc32c()
                && footer.partition().equals(partition)
                && footer.startOffset() == object.startOffset()
                && footer.endOffset() == object.endOffset();
        if (!same) {
            throw new RemoteReadException(
                    Kind.CORRUPT, object.key() + " is another object than the one that was committed", null);
        }
    }

    /** Every failure reaches the caller as a {@link RemoteReadException}, is counted, and, if it should never happen, is an alarm. */
    private <T> CompletableFuture<T> told(ObjectRef object, Supplier<CompletableFuture<T>> read) {
        return read.get().exceptionallyCompose(failure -> {
            if (StoreFailures.root(failure) instanceof Error broken) {
                faults.onFault("remote read", broken);
                return CompletableFuture.failedFuture(broken);
            }
            RemoteReadException trouble = ObjectReads.failed(object.key(), failure);
            registry.counter(
                            "varve.tiering.read.failures",
                            "kind",
                            trouble.kind().name())
                    .increment();
            alarms.raise(object.key(), trouble);
            return CompletableFuture.failedFuture(trouble);
        });
    }
}
