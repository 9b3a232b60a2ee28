package io.varve.tiering.read;

import io.micrometer.core.instrument.MeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.PartitionId;
import io.varve.metadata.model.ObjectRef;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import io.varve.tiering.api.RemoteSegments;
import io.varve.tiering.api.SealedSegmentSource;
import io.varve.tiering.cache.BlockMemory;
import io.varve.tiering.cache.CachedBlock;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Reads out of objects: a tail and a block answer any offset or time, from the cache where they are there. Reads never block the caller.
 */
public final class RemoteSegmentReader implements RemoteSegments {

    /** Requests to begin with, of a sequential reader. */
    private static final int AHEAD_FIRST_RANGES = 2;

    /** However small they are: looking one up costs something too. */
    private static final int OBJECTS_AHEAD_MAX = 16;

    /** What is asked of objects. */
    private static final String ENTRIES = "entries";

    private static final String TIME = "time";
    private static final String CHECKPOINT = "checkpoint";

    private static final int READERS_MAX = 10_000;
    private static final long READER_FORGOTTEN_MS = 30_000;

    private final ObjectStore store;
    private final ReadSettings settings;
    private final Clock clock;
    private final FaultHandler faults;
    private final ExecutorService threads;
    private final ObjectCache cache;
    private final BlockFills fills;
    private final ReadAhead readAhead;
    private final Alarms alarms;
    private final ReadOutcomes outcomes;
    private final ConcurrentHashMap<String, CompletableFuture<ObjectTail>> tailsOnTheirWay = new ConcurrentHashMap<>();

    /**
     * @param store with deadlines and retries around it; closed by its owner
     * @param isNamed whether readers may still come to an object: what nobody can is no alarm any more
     * @param faults is told of every Error; the reads that it befell fail as well
     */
    public RemoteSegmentReader(
            ObjectStore store,
            ReadSettings settings,
            Clock clock,
            MeterRegistry registry,
            Predicate<Alarms.Place> isNamed,
            FaultHandler faults) {
        this.store = store;
        this.settings = settings;
        this.clock = clock;
        this.faults = faults;
        this.alarms = new Alarms(clock, registry, "varve.tiering.unreadable.objects", isNamed);
        this.outcomes = new ReadOutcomes(
                "remote read", new TroubleCounters(registry, "varve.tiering.read.failures"), alarms, faults);
        AtomicInteger number = new AtomicInteger();
        this.threads = Executors.newFixedThreadPool(settings.threads(), task -> {
            Thread thread = new Thread(task, "varve-remote-read-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
        this.cache = new ObjectCache(settings.cacheBytes());
        BlockMemory memory = new BlockMemory();
        this.fills = new BlockFills(
                store,
                cache,
                memory,
                Lz4FrameCompression.INSTANCE,
                settings.callsMax(),
                settings.aheadCallsMax(),
                new ReadRate(
                        settings.bytesPerSecond(),
                        settings.rangeBytes(),
                        clock,
                        this::later,
                        registry.counter("varve.tiering.read.held.back.seconds")),
                this::execute,
                faults);
        this.readAhead = new ReadAhead(
                (long) AHEAD_FIRST_RANGES * settings.rangeBytes(),
                settings.aheadBytesMax(),
                cache.aheadBytesMax() / 2,
                settings.rangeBytes(),
                READERS_MAX,
                READER_FORGOTTEN_MS);
        registry.gauge("varve.tiering.cache.bytes", cache, ObjectCache::bytes);
        registry.gauge("varve.tiering.cache.hits", cache, ObjectCache::hits);
        registry.gauge("varve.tiering.cache.misses", cache, ObjectCache::misses);
        registry.gauge("varve.tiering.fill.bytes", cache, ObjectCache::comingBytes);
        registry.gauge("varve.tiering.cache.reserved.bytes", memory, BlockMemory::reservedBytes);
    }

    @Override
    public CompletableFuture<RemoteEntries> read(
            ObjectRef object, PartitionId partition, long fromOffset, int maxBytes, Following following) {
        if (fromOffset < object.startOffset() || fromOffset >= object.endOffset()) {
            return CompletableFuture.failedFuture(new IllegalArgumentException("Offset " + fromOffset + " is not in "
                    + object.key() + ", which holds " + object.startOffset() + " to " + object.endOffset()));
        }
        CompletableFuture<RemoteEntries> answer = new CompletableFuture<>();
        told(
                        object,
                        partition,
                        new Alarms.Question(ENTRIES, fromOffset),
                        () -> tail(object, partition).thenCompose(tail -> {
                            int first = tail.index().blockOf(fromOffset);
                            Optional<CachedBlock> here = cache.block(object.key(), first);
                            CompletableFuture<CachedBlock> block = here.map(CompletableFuture::completedFuture)
                                    .orElseGet(() -> fills.demand(partition, object.key(), tail, first));
                            return block.thenApply(held -> {
                                RemoteEntries entries = gather(object.key(), tail, first, held, fromOffset, maxBytes);
                                onRead(partition, fromOffset, entries.nextOffset(), here.isEmpty());
                                execute(() -> readAhead(partition, entries.nextOffset(), object, tail, following));
                                return entries;
                            });
                        }))
                .whenComplete((entries, failure) -> {
                    if (failure != null) {
                        answer.completeExceptionally(failure);
                        return;
                    }
                    alarms.settle(object.key(), ENTRIES, fromOffset, entries.nextOffset());
                    if (!answer.complete(entries)) {
                        entries.entries().release(); // Nobody waits any longer.
                    }
                });
        return answer;
    }

    @Override
    public CompletableFuture<Optional<Long>> entryForTimestamp(
            ObjectRef object, PartitionId partition, long timestampMs) {
        return told(
                object,
                partition,
                new Alarms.Question(TIME, timestampMs),
                () -> tail(object, partition).thenCompose(tail -> {
                    OptionalInt at = tail.index().blockAtTimestamp(timestampMs);
                    if (at.isEmpty()) {
                        return CompletableFuture.completedFuture(Optional.<Long>empty());
                    }
                    return block(partition, object.key(), tail, at.getAsInt())
                            .thenApply(block -> Optional.of(entryAtTimestamp(object, block, timestampMs)));
                }));
    }

    @Override
    public CompletableFuture<Optional<SealedSegmentSource.Checkpoint>> checkpoint(
            ObjectRef object, PartitionId partition, long atMostOffset) {
        return told(
                object,
                partition,
                new Alarms.Question(CHECKPOINT, atMostOffset),
                () -> tail(object, partition).thenCompose(tail -> {
                    Optional<ObjectFooter.Section> section = tail.footer().checkpointAtMost(atMostOffset);
                    if (section.isEmpty()) {
                        return CompletableFuture.completedFuture(Optional.<SealedSegmentSource.Checkpoint>empty());
                    }
                    return CompletableFuture.supplyAsync(
                                    () -> store.get(
                                            object.key(),
                                            section.get().position(),
                                            section.get().bytes()),
                                    this::execute)
                            .thenCompose(fetched -> fetched)
                            .thenApply(state -> Optional.of(checked(object, section.get(), state)));
                }));
    }

    /** Bytes kept and waiting to be read, of the budget. */
    public long cachedBytes() {
        return cache.bytes();
    }

    @Override
    public void close() {
        fills.close();
        threads.shutdown();
        cache.close();
    }

    /** What comes in after the close is still delivered, on the thread it comes on: nobody is left waiting. */
    private void execute(Runnable task) {
        try {
            threads.execute(task);
        } catch (RejectedExecutionException closed) {
            task.run();
        }
    }

    private void later(long delayNs, Runnable task) {
        CompletableFuture.delayedExecutor(delayNs, TimeUnit.NANOSECONDS, this::execute)
                .execute(task);
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

    /** A block that the receiver holds. */
    private CompletableFuture<CachedBlock> block(PartitionId partition, String key, ObjectTail tail, int block) {
        return cache.block(key, block)
                .map(CompletableFuture::completedFuture)
                .orElseGet(() -> fills.demand(partition, key, tail, block));
    }

    /** @param held let go of here */
    private static long entryAtTimestamp(ObjectRef object, CachedBlock held, long timestampMs) {
        try {
            return held.block()
                    .entryAtTimestamp(timestampMs)
                    .orElseThrow(() -> new RemoteReadException(
                            Kind.CORRUPT, object.key() + ": the index and a block disagree on time", null));
        } finally {
            held.release();
        }
    }

    /**
     * Entries of the first block, then of those after it that are already here: nobody waits for a second one.
     *
     * @param held let go of here
     */
    private RemoteEntries gather(
            String key, ObjectTail tail, int firstBlock, CachedBlock held, long fromOffset, int maxBytes) {
        int budget = Math.min(maxBytes, settings.readBytesMax());
        List<ByteBuf> parts = new ArrayList<>();
        long nextOffset = fromOffset;
        CachedBlock block = held;
        for (int next = firstBlock + 1; block != null; next++) {
            boolean goesOn;
            try {
                Block.Stretch stretch = block.block().stretchFrom(nextOffset, budget, parts.isEmpty());
                if (stretch.bytes() > 0) {
                    parts.add(block.slice(stretch.at(), stretch.bytes()));
                }
                budget -= stretch.bytes();
                nextOffset = stretch.nextOffset();
                goesOn = nextOffset == block.block().endOffset()
                        && budget > 0
                        && next < tail.index().blocks();
            } finally {
                block.release();
            }
            block = goesOn ? cache.block(key, next).orElse(null) : null;
        }
        return new RemoteEntries(
                Unpooled.wrappedBuffer(Math.max(1, parts.size()), parts.toArray(ByteBuf[]::new)), nextOffset);
    }

    private void onRead(PartitionId partition, long fromOffset, long nextOffset, boolean waited) {
        synchronized (readAhead) {
            readAhead.onRead(partition, fromOffset, nextOffset, waited, clock.nanoTime() / 1_000_000);
        }
    }

    /** Nobody waits for this: what breaks in it is told to nobody else. */
    private void readAhead(
            PartitionId partition, long nextOffset, ObjectRef object, ObjectTail tail, Following following) {
        try {
            readAhead(partition, nextOffset, List.of(object), List.of(tail), following);
        } catch (RuntimeException | Error fault) {
            faults.onFault("read-ahead", fault);
        }
    }

    /**
     * Fetches what a reader will ask for next, in this object and in those that follow it.
     *
     * @param objects in which its log goes on, as far as they are known
     * @param tails theirs
     */
    private void readAhead(
            PartitionId partition,
            long nextOffset,
            List<ObjectRef> objects,
            List<ObjectTail> tails,
            Following following) {
        ReadAhead.Plan plan;
        synchronized (readAhead) {
            plan = readAhead.plan(partition, nextOffset, tails);
        }
        for (ReadAhead.Run run : plan.runs()) {
            fills.ahead(partition, objects.get(run.object()).key(), tails.get(run.object()), run.from(), run.end());
        }
        if (plan.runs().isEmpty()) {
            fills.startWhatCan();
        }
        if (plan.wantsMore() && objects.size() < OBJECTS_AHEAD_MAX) {
            CompletableFuture.completedFuture(objects.get(objects.size() - 1))
                    .thenCompose(following::after)
                    .thenCompose(next -> next.isEmpty()
                            ? CompletableFuture.completedFuture(null)
                            : tail(next.get(), partition).thenAccept(tail -> {
                                List<ObjectRef> more = new ArrayList<>(objects);
                                more.add(next.get());
                                List<ObjectTail> moreTails = new ArrayList<>(tails);
                                moreTails.add(tail);
                                readAhead(partition, nextOffset, more, moreTails, following);
                            }))
                    .whenComplete((done, failure) -> {
                        // Other trouble is told to the reader, when it gets there.
                        if (failure != null && StoreFailures.root(failure) instanceof Error broken) {
                            faults.onFault("read-ahead", broken);
                        }
                    });
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
        CompletableFuture.supplyAsync(() -> ObjectReads.tail(store, object.key(), object.length()), this::execute)
                .thenCompose(fetched -> fetched)
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

    private <T> CompletableFuture<T> told(
            ObjectRef object, PartitionId partition, Alarms.Question question, Supplier<CompletableFuture<T>> read) {
        return outcomes.told(new Alarms.Place(partition, object.key(), Optional.of(object)), question, read.get());
    }
}
