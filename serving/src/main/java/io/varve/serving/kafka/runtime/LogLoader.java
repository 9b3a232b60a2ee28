package io.varve.serving.kafka.runtime;

import io.netty.buffer.ByteBuf;
import io.varve.base.Clock;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.ReadResult;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.coordinator.common.runtime.CoordinatorLoader;
import org.apache.kafka.coordinator.common.runtime.CoordinatorPlayback;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.Deserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads a coordinator's state by replaying its partition from the start of the log to its end. What can't be read now is read again until it
 * can or the tenure ends: meanwhile the coordinator says that it is loading, for "unknown" must never become "there is nothing" (I-7).
 */
public final class LogLoader implements CoordinatorLoader<CoordinatorRecord> {

    private static final Logger LOG = LoggerFactory.getLogger(LogLoader.class);
    private static final int READ_BYTES = 4 << 20;
    private static final long RETRY_FIRST_MS = 20;
    private static final long RETRY_LAST_MS = 2_000;

    private final LogWriter writer;
    private final Deserializer<CoordinatorRecord> deserializer;
    private final ScheduledExecutorService threads;
    private final Clock clock;

    /** @param threads where records are replayed; not closed here */
    public LogLoader(
            LogWriter writer,
            Deserializer<CoordinatorRecord> deserializer,
            ScheduledExecutorService threads,
            Clock clock) {
        this.writer = writer;
        this.deserializer = deserializer;
        this.threads = threads;
        this.clock = clock;
    }

    @Override
    public CompletableFuture<LoadSummary> load(
            TopicPartition partition, CoordinatorPlayback<CoordinatorRecord> playback) {
        Tenure tenure = writer.bind(partition.partition());
        CompletableFuture<LoadSummary> loaded = new CompletableFuture<>();
        if (tenure == null) {
            // It was lost since: the resignation is on its way and ends this load.
            return loaded;
        }
        Load load = new Load(tenure, playback, loaded);
        threads.execute(load::readNext);
        return loaded;
    }

    @Override
    public void close() {}

    /** One load. Each step runs on one thread, none at the same time as another. */
    private final class Load {
        private final Tenure tenure;
        private final CompletableFuture<LoadSummary> loaded;
        private final Replay replay;
        private final long endOffset;

        private final long startedMs = clock.wallTimeMs();
        private long position;
        private long retryMs = RETRY_FIRST_MS;

        Load(Tenure tenure, CoordinatorPlayback<CoordinatorRecord> playback, CompletableFuture<LoadSummary> loaded) {
            this.tenure = tenure;
            this.loaded = loaded;
            var offsets = tenure.log().offsets();
            this.position = offsets.logStart();
            this.endOffset = offsets.end();
            this.replay = new Replay(tenure, playback, deserializer, offsets.highWatermark());
        }

        void readNext() {
            if (tenure.retired()) {
                return;
            }
            if (position >= endOffset) {
                finish();
                return;
            }
            tenure.log().read(position, READ_BYTES, true, Isolation.LOG_END).whenCompleteAsync(this::onRead, threads);
        }

        private void onRead(ReadResult result, Throwable thrown) {
            if (thrown != null || result.error() != LogError.NONE) {
                retry(thrown != null ? thrown.toString() : result.error().name());
                return;
            }
            try {
                for (ByteBuf batch : result.batches()) {
                    position = replay.batch(batch.nioBuffer(), position);
                }
                retryMs = RETRY_FIRST_MS;
            } catch (RuntimeException e) {
                LOG.error("event=coordinator_load_failed partition={} offset={}", tenure.name(), position, e);
                tenure.finishLoad(() -> loaded.completeExceptionally(e));
                return;
            } finally {
                result.release();
            }
            readNext();
        }

        private void retry(String cause) {
            LOG.warn(
                    "event=coordinator_load_retry partition={} offset={} cause={} wait_ms={}",
                    tenure.name(),
                    position,
                    cause,
                    retryMs);
            threads.schedule(this::readNext, retryMs, TimeUnit.MILLISECONDS);
            retryMs = Math.min(retryMs * 2, RETRY_LAST_MS);
        }

        private void finish() {
            replay.finish(endOffset);
            LoadSummary summary = new LoadSummary(startedMs, clock.wallTimeMs(), 0, replay.records(), replay.bytes());
            LOG.info(
                    "event=coordinator_loaded partition={} records={} bytes={} took_ms={}",
                    tenure.name(),
                    replay.records(),
                    replay.bytes(),
                    summary.endTimeMs() - startedMs);
            tenure.finishLoad(() -> loaded.complete(summary));
        }
    }
}
