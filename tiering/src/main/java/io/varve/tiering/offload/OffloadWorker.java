package io.varve.tiering.offload;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.ObjectRef;
import io.varve.tiering.api.OffloadFailedException;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.SealedSegmentSource;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.core.BlockCompression;
import io.varve.tiering.core.ObjectBuilder;
import io.varve.tiering.core.ObjectFormatException;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.object.StoreFailures;
import io.varve.tiering.read.ObjectWalk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Offloads by its own threads, a bounded number of segments at a time. An attempt is over only when the object was read back from the
 * store, byte for byte, through the very checks that its readers make (I-10): what a store said when it took the bytes proves nothing.
 */
public final class OffloadWorker implements Offloader {

    private static final Logger log = LoggerFactory.getLogger(OffloadWorker.class);

    private final ObjectStore store;
    private final String clusterId;
    private final UploadSettings settings;
    private final Clock clock;
    private final FaultHandler faults;
    private final OffloadMetrics metrics;
    private final PartBuffers buffers;
    private final ConcurrentLinkedDeque<ObjectBuilder.Memory> memories = new ConcurrentLinkedDeque<>();
    private final UploadRate rate;
    private final BlockCompression compression;
    private final ThreadPoolExecutor threads;

    /**
     * @param store with deadlines and retries around it; closed by its owner
     * @param faults is told of every Error; the attempt that it befell fails as well
     */
    public OffloadWorker(
            ObjectStore store,
            String clusterId,
            UploadSettings settings,
            Clock clock,
            MeterRegistry registry,
            FaultHandler faults) {
        this.store = store;
        this.clusterId = clusterId;
        this.settings = settings;
        this.clock = clock;
        this.faults = faults;
        this.metrics = new OffloadMetrics(clock, registry);
        this.buffers = new PartBuffers(settings.partBytes(), settings.buffers());
        this.rate = new UploadRate(clock, settings.bytesPerSecond(), settings.partBytes());
        this.compression = settings.compress() ? Lz4FrameCompression.INSTANCE : BlockCompression.NONE;
        AtomicInteger number = new AtomicInteger();
        this.threads = new ThreadPoolExecutor(
                settings.uploadsMax(),
                settings.uploadsMax(),
                1,
                TimeUnit.MINUTES,
                new LinkedBlockingQueue<>(settings.queueMax()),
                task -> {
                    Thread thread = new Thread(task, "varve-offload-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
    }

    @Override
    public CompletableFuture<ObjectRef> offload(
            OffloadAttempt attempt, List<SealedSegmentSource> sources, BooleanSupplier wanted) {
        long bytes = sources.stream()
                .mapToLong(s -> Math.max(0, s.segment().bytes()))
                .sum();
        OffloadMetrics.Pending pending = metrics.begin(sources.size(), bytes);
        CompletableFuture<ObjectRef> done = new CompletableFuture<>();
        Attempt job = new Attempt(attempt, sources, wanted, pending, done);
        try {
            threads.execute(job);
        } catch (RejectedExecutionException full) {
            job.giveUp(
                    OffloadMetrics.REJECTED,
                    new IOException(
                            "the offloader takes no more: " + threads.getQueue().size() + " attempts wait"
                                    + (threads.isShutdown() ? ", it is closed" : "")));
        }
        return done;
    }

    @Override
    public CompletableFuture<Boolean> isThere(ObjectRef object) {
        return told(
                "look at an object",
                store.head(object.key())
                        .thenApply(found -> found.filter(stat -> stat.length() == object.length())
                                .isPresent()));
    }

    private <T> CompletableFuture<T> told(String what, CompletableFuture<T> answer) {
        return answer.exceptionallyCompose(failure -> {
            if (StoreFailures.root(failure) instanceof Error broken) {
                faults.onFault(what, broken);
            }
            StoreException trouble = StoreFailures.of(failure);
            return CompletableFuture.failedFuture(
                    new IOException(trouble.kind() + ": " + trouble.getMessage(), trouble));
        });
    }

    @Override
    public CompletableFuture<Void> delete(String key) {
        return told("deletion of an object", store.delete(key).thenCompose(deleted -> store.head(key)))
                .thenCompose(left -> left.isEmpty()
                        ? CompletableFuture.completedFuture(null)
                        : CompletableFuture.failedFuture(new IOException(key + " is still there after its deletion")));
    }

    @Override
    public Status status() {
        return new Status(metrics.pendingSegments(), metrics.pendingBytes(), metrics.oldestMs(), metrics.lastError());
    }

    @Override
    public void close() {
        for (Runnable waiting : threads.shutdownNow()) {
            ((Attempt) waiting).giveUp(StoreException.Kind.CLOSED.name(), new IOException("the offloader is closing"));
        }
    }

    /** As many as there are threads, one after the other; given back when the thread has no more use for it. */
    private ObjectBuilder.Memory takeMemory() throws IOException {
        ObjectBuilder.Memory kept = memories.poll();
        try {
            return kept == null ? new ObjectBuilder.Memory(settings.blockBytes(), ByteBuffer::allocateDirect) : kept;
        } catch (OutOfMemoryError e) {
            throw new IOException("no memory for blocks: " + e.getMessage(), e);
        }
    }

    private final class Attempt implements Runnable {

        private final OffloadAttempt attempt;
        private final List<SealedSegmentSource> sources;
        private final BooleanSupplier wanted;
        private final OffloadMetrics.Pending pending;
        private final CompletableFuture<ObjectRef> done;
        private UploadStream stream;

        Attempt(
                OffloadAttempt attempt,
                List<SealedSegmentSource> sources,
                BooleanSupplier wanted,
                OffloadMetrics.Pending pending,
                CompletableFuture<ObjectRef> done) {
            this.attempt = attempt;
            this.sources = sources;
            this.wanted = wanted;
            this.pending = pending;
            this.done = done;
        }

        @Override
        public void run() {
            try {
                ObjectRef object = carryOut();
                closeSources();
                done.complete(object);
            } catch (RemoteReadException e) {
                giveUp(e.kind().name(), new IOException("read back: " + e.getMessage(), e));
            } catch (WithdrawnException e) {
                giveUp(OffloadMetrics.WITHDRAWN, e);
            } catch (IOException e) {
                giveUp(kindOf(e), e);
            } catch (RuntimeException e) {
                log.error("event=offload_bug attempt={}", attempt.attemptId(), e);
                giveUp(OffloadMetrics.BUG, new IOException(e.toString(), e));
            } catch (Error e) {
                faults.onFault("offload", e);
                giveUp(OffloadMetrics.BUG, new IOException(e.toString(), e));
            }
        }

        void giveUp(String kind, IOException why) {
            closeSources();
            metrics.failed(pending, kind, why.getMessage());
            boolean leftNothing = stream == null || !stream.mayHaveMadeObject();
            done.completeExceptionally(new OffloadFailedException(kind + ": " + why.getMessage(), leftNothing, why));
        }

        private ObjectRef carryOut() throws IOException {
            long startOffset = sources.get(0).segment().startOffset();
            String key = ObjectKeys.segment(clusterId, attempt.partition(), startOffset, attempt.attemptId());
            ObjectBuilder.Written written = upload(key);
            verify(key, written);
            metrics.succeeded(pending, written.rawBytes(), written.length());
            log.info(
                    "event=offloaded partition={} attempt={} start={} end={} segments={} raw_bytes={} object_bytes={}",
                    attempt.partition(),
                    attempt.attemptId(),
                    written.startOffset(),
                    written.endOffset(),
                    sources.size(),
                    written.rawBytes(),
                    written.length());
            return new ObjectRef(
                    key,
                    attempt.attemptId(),
                    written.length(),
                    written.crc(),
                    written.startOffset(),
                    written.endOffset(),
                    written.maxTimestampMs());
        }

        private ObjectBuilder.Written upload(String key) throws IOException {
            stream = new UploadStream(store, key, buffers, settings.partsInFlightMax(), rate, bytesExpected());
            ObjectBuilder.Memory memory = takeMemory();
            try {
                ObjectBuilder<IOException> builder = new ObjectBuilder<>(
                        new ObjectBuilder.Identity(
                                clusterId,
                                attempt.topicName(),
                                attempt.partition(),
                                attempt.attemptId(),
                                clock.wallTimeMs()),
                        settings.blockBytes(),
                        memory,
                        compression,
                        stream);
                for (SealedSegmentSource source : sources) {
                    copy(source, builder);
                }
                ObjectBuilder.Written written = builder.finish();
                checkWanted();
                stream.finish();
                return written;
            } catch (ObjectFormatException e) {
                stream.abort();
                throw new IOException("the local copy can't be offloaded: " + e.getMessage(), e);
            } catch (IOException | RuntimeException | Error e) {
                stream.abort();
                throw e;
            } finally {
                memories.push(memory);
            }
        }

        /** Of the object: no more than its entries, and something for what it says of itself. */
        private long bytesExpected() {
            long sum = 64 * 1024;
            for (SealedSegmentSource source : sources) {
                long bytes = source.segment().bytes();
                if (bytes < 0) {
                    return Long.MAX_VALUE;
                }
                sum += bytes;
            }
            return sum;
        }

        private void copy(SealedSegmentSource source, ObjectBuilder<IOException> builder)
                throws IOException, ObjectFormatException {
            builder.beginSegment(source.segment());
            for (Optional<ByteBuffer> entries = source.next(settings.blockBytes());
                    entries.isPresent();
                    entries = source.next(settings.blockBytes())) {
                checkWanted();
                builder.append(entries.get());
            }
            Optional<SealedSegmentSource.Checkpoint> checkpoint = source.lastCheckpoint();
            builder.endSegment(
                    checkpoint.map(SealedSegmentSource.Checkpoint::offset).orElse(0L),
                    checkpoint.map(SealedSegmentSource.Checkpoint::state).orElse(null));
        }

        private void checkWanted() throws WithdrawnException {
            if (!wanted.getAsBoolean()) {
                throw new WithdrawnException();
            }
        }

        private void verify(String key, ObjectBuilder.Written written) throws IOException {
            ObjectTail tail;
            ObjectBuilder.Memory building = takeMemory();
            try (VerifyMemory memory = new VerifyMemory(buffers, settings.partBytes(), building, written.length())) {
                ObjectWalk walk = new ObjectWalk(store, compression, settings.partBytes(), memory);
                tail = walk.verify(key, written.length(), block -> {});
            } finally {
                memories.push(building);
            }
            if (tail.crc() != written.crc()) {
                throw new IOException("read back: " + key + " is another object than the one written");
            }
        }

        private void closeSources() {
            for (SealedSegmentSource source : sources) {
                try {
                    source.close();
                } catch (IOException e) {
                    log.warn(
                            "event=source_close_failed segment={}",
                            source.segment().id(),
                            e);
                }
            }
        }
    }

    /** Nobody wants the object any longer. */
    private static final class WithdrawnException extends IOException {

        private static final long serialVersionUID = 1L;

        WithdrawnException() {
            super("the order was withdrawn");
        }
    }

    private static String kindOf(IOException e) {
        return e.getCause() instanceof StoreException store
                ? store.kind().name()
                : e.getCause() instanceof ObjectFormatException ? OffloadMetrics.LOCAL_COPY : OffloadMetrics.LOCAL_DISK;
    }
}
