package io.varve.bookie.offload;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.BookieId;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.client.MetadataCopy;
import io.varve.metadata.model.BookieInfo;
import io.varve.tiering.api.MetadataBackups;
import io.varve.tiering.api.MetadataBackups.Backup;
import io.varve.tiering.api.UploadSweep;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does what one bookie does for the whole bucket: puts a copy of the cluster's metadata into it now and then, and deletes the oldest ones; drops what uploads in parts left
 * behind whose bookie was killed. Of the bookies that live, the one with the lowest number does it; two that
 * both think so do it twice, which does no harm. One that can't, for it may be the only one that doesn't reach the store, is stood in for by the next one an interval later, and so on. The decision is in docs/adr/0042.
 */
public final class BucketKeeper implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(BucketKeeper.class);
    private static final long LOOKS_PER_INTERVAL = 10;
    private static final long LOOK_MS_MIN = 100;
    private static final long LOOK_MS_MAX = 60_000;

    /** How often uploads are looked through. */
    static final long SWEEP_MS = 6 * 3_600_000L;

    /** An upload that takes longer was given up by its bookie, or its bookie is gone. */
    static final long STALE_MS = 24 * 3_600_000L;

    private static final long METADATA_MS_MAX = 30_000;
    private static final long CLOSE_MS_MAX = 2_000;

    private final BookieId self;
    private final MetadataClient metadata;
    private final MetadataBackups backups;
    private final UploadSweep uploads;
    private final long intervalMs;
    private final int keep;
    private final Clock clock;
    private final FaultHandler faults;
    private final Counter failures;
    private final ScheduledExecutorService thread;

    /** Wall time; of what is in the bucket as far as is known here. */
    private volatile long newestMs = -1;

    /** Wall time of the last look through uploads that succeeded here. */
    private volatile long sweptMs = -1;

    private long dueMs = Long.MIN_VALUE;
    private long sweptNs;

    /** How many living bookies have lower numbers, at the last look; -1 if this one wasn't among the living. */
    private int before = -1;

    /** Wall time since when so many have. */
    private long beforeSinceMs;

    /**
     * @param intervalMs of backups; 0 for none
     * @param keep how many stay
     */
    public BucketKeeper(
            BookieId self,
            MetadataClient metadata,
            MetadataBackups backups,
            UploadSweep uploads,
            long intervalMs,
            int keep,
            Clock clock,
            FaultHandler faults,
            MeterRegistry registry) {
        this.self = self;
        this.metadata = metadata;
        this.backups = backups;
        this.uploads = uploads;
        this.intervalMs = intervalMs;
        this.keep = keep;
        this.clock = clock;
        this.sweptNs = clock.nanoTime() - TimeUnit.MILLISECONDS.toNanos(SWEEP_MS);
        this.faults = faults;
        this.failures = registry.counter("varve_bookie_metadata_backup_failures");
        Gauge.builder(
                        "varve_bookie_metadata_backup_age_ms",
                        this,
                        keeper -> keeper.newestMs < 0 ? -1 : clock.wallTimeMs() - keeper.newestMs)
                .description("Age of the newest copy of the metadata in the bucket; -1 on a bookie that takes none")
                .register(registry);
        Gauge.builder(
                        "varve_bookie_uploads_swept_age_ms",
                        this,
                        keeper -> keeper.sweptMs < 0 ? -1 : clock.wallTimeMs() - keeper.sweptMs)
                .description("Since uploads that nobody completed were looked through and dropped; -1 on a bookie that"
                        + " has not done it")
                .register(registry);
        this.thread = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread made = new Thread(task, "bookie-" + self + "-backup");
            made.setDaemon(true);
            return made;
        });
    }

    /** Begins. */
    public void start() {
        long lookMs = intervalMs == 0
                ? LOOK_MS_MAX
                : Math.min(LOOK_MS_MAX, Math.max(LOOK_MS_MIN, intervalMs / LOOKS_PER_INTERVAL));
        thread.scheduleWithFixedDelay(this::guarded, lookMs, lookMs, TimeUnit.MILLISECONDS);
    }

    /** Gives up what is under way. */
    @Override
    public void close() {
        thread.shutdownNow();
        try {
            thread.awaitTermination(CLOSE_MS_MAX, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void guarded() {
        try {
            look();
        } catch (RuntimeException | Error e) {
            faults.onFault("metadata backup", e);
        }
    }

    /** Does what is due if it is this bookie's turn. Waits for the store. */
    void look() {
        long nowMs = clock.wallTimeMs();
        int beforeNow = livingBefore(metadata.view());
        if (beforeNow != before) {
            before = beforeNow;
            beforeSinceMs = nowMs;
            newestMs = -1;
            dueMs = Long.MIN_VALUE;
        }
        if (before < 0) {
            return;
        }
        boolean isEarly = nowMs < dueMs && nowMs + patienceMs() >= dueMs;
        if (intervalMs > 0 && !isEarly) {
            try {
                take(nowMs);
            } catch (IOException e) {
                failures.increment();
                LOG.warn("event=metadata-backup-failed reason=\"{}\"", e.getMessage());
            }
        }
        boolean isInCharge = before == 0 || newestMs >= 0;
        if (isInCharge && clock.nanoTime() - sweptNs >= TimeUnit.MILLISECONDS.toNanos(SWEEP_MS)) {
            sweep();
        }
    }

    private void sweep() {
        try {
            int dropped = uploads.drop(STALE_MS);
            sweptNs = clock.nanoTime();
            sweptMs = clock.wallTimeMs();
            LOG.info("event=stale-uploads-dropped count={}", dropped);
        } catch (IOException e) {
            LOG.warn("event=stale-uploads-not-dropped reason=\"{}\"", e.getMessage());
        }
    }

    /** How old the newest backup gets before this bookie takes one: those before it have their turns first. */
    private long patienceMs() {
        return intervalMs * (1 + before);
    }

    private void take(long nowMs) throws IOException {
        List<Backup> there = backups.list();
        Backup newest = there.isEmpty() ? null : there.get(there.size() - 1);
        long standsInFromMs =
                before == 0 ? Long.MIN_VALUE : (newest == null ? beforeSinceMs : newest.takenMs()) + patienceMs();
        if (nowMs < standsInFromMs) {
            newestMs = -1;
            dueMs = standsInFromMs;
            return;
        }
        if (newest != null) {
            newestMs = newest.takenMs();
            if (nowMs >= newestMs && nowMs - newestMs < intervalMs) {
                dueMs = newestMs + intervalMs;
                return;
            }
        }
        MetadataView view = linearizable();
        // The order of keys is that of age, also where clocks are not quite alike.
        long takenMs = newest == null ? nowMs : Math.max(nowMs, newest.takenMs() + 1);
        Backup taken = backups.save(takenMs, view.version(), out -> MetadataCopy.write(view, out));
        newestMs = takenMs;
        dueMs = nowMs + patienceMs();
        LOG.info("event=metadata-backup key={} version={} bytes={}", taken.key(), taken.version(), taken.bytes());
        int deleted = backups.prune(keep);
        LOG.debug("event=metadata-backups-pruned deleted={}", deleted);
    }

    private MetadataView linearizable() throws IOException {
        try {
            return metadata.linearizable().get(METADATA_MS_MAX, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("the metadata service does not answer: " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** How many living bookies have lower numbers than this one; -1 if it isn't among the living. */
    private int livingBefore(MetadataView view) {
        List<BookieId> living = view.bookies().stream()
                .filter(bookie -> bookie.state() != BookieInfo.State.GONE)
                .map(BookieInfo::id)
                .sorted()
                .toList();
        return living.indexOf(self);
    }
}
