package io.varve.bookie.repair;

import io.varve.base.BookieId;
import io.varve.base.SegmentId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataException;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the metadata service which replicas can't be vouched for any more, a few at a time, until each report is in. Any thread may add reports; they
 * are kept, one for each segment, while the service can't be reached.
 */
public final class DamageReports {

    private static final Logger LOG = LoggerFactory.getLogger(DamageReports.class);
    private static final int AT_A_TIME = 16;
    private static final long AGAIN_MS = 1_000;

    private final BookieId self;
    private final MetadataClient metadata;
    private final ScheduledExecutorService thread;
    private final Map<SegmentId, String> waiting = new ConcurrentSkipListMap<>();
    private int underWay;

    /** @param thread runs everything here; shared with others */
    public DamageReports(BookieId self, MetadataClient metadata, ScheduledExecutorService thread) {
        this.self = self;
        this.metadata = metadata;
        this.thread = thread;
    }

    /** A replica is lost or damaged. */
    public void report(SegmentId segment, String why) {
        LOG.error("event=replica-damaged segment={} reason=\"{}\"", segment, why);
        waiting.put(segment, why);
        run(thread, this::pump);
    }

    /** All these replicas are lost at once. */
    public void reportAll(Collection<SegmentId> segments, String why) {
        LOG.error("event=replicas-lost count={} reason=\"{}\"", segments.size(), why);
        segments.forEach(segment -> waiting.put(segment, why));
        run(thread, this::pump);
    }

    /** How many reports are not in yet. */
    public int waiting() {
        return waiting.size();
    }

    private void pump() {
        for (Map.Entry<SegmentId, String> next : waiting.entrySet()) {
            if (underWay >= AT_A_TIME) {
                return;
            }
            if (waiting.remove(next.getKey(), next.getValue())) {
                underWay++;
                send(next.getKey(), next.getValue());
            }
        }
    }

    private void send(SegmentId segment, String why) {
        metadata.reportLostReplica(segment, self, why)
                .whenComplete((done, failure) -> run(thread, () -> onAnswer(segment, why, failure)));
    }

    private void onAnswer(SegmentId segment, String why, Throwable failure) {
        underWay--;
        if (failure != null && mayPass(failure)) {
            waiting.putIfAbsent(segment, why);
            try {
                thread.schedule(this::pump, AGAIN_MS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException stopped) {
                LOG.debug("event=damage-reports-stopped");
            }
            return;
        }
        if (failure != null) {
            LOG.warn("event=damage-report-refused segment={} reason=\"{}\"", segment, failure.getMessage());
        }
        pump();
    }

    private static boolean mayPass(Throwable failure) {
        Throwable root =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return root instanceof MetadataException refused
                && (refused.reason() == MetadataException.Reason.UNAVAILABLE
                        || refused.reason() == MetadataException.Reason.UNKNOWN_OUTCOME);
    }

    private static void run(Executor executor, Runnable task) {
        try {
            executor.execute(task);
        } catch (RejectedExecutionException stopped) {
            LOG.debug("event=damage-reports-stopped");
        }
    }
}
