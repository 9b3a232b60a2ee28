package io.varve.bookie.store;

import io.varve.base.Clock;
import io.varve.bookie.core.DiskPace;
import java.util.concurrent.TimeUnit;

/** Counts and times what a directory's groups do, and notices when its disk becomes slow. Belongs to the journal's thread, but for {@link #isSlow}. */
final class GroupMeter {

    private final StoreMetrics metrics;
    private final Clock clock;
    private final DiskPace pace = new DiskPace();
    private volatile boolean slow;
    private long appendedEntries;
    private long appendedBytes;
    private long firstSubmittedNs;

    GroupMeter(StoreMetrics metrics, Clock clock) {
        this.metrics = metrics;
        this.clock = clock;
    }

    /** Whether the disk is slow, by what its fsyncs took. Any thread. */
    boolean isSlow() {
        return slow;
    }

    /** An entry of the group that is being completed is durable. */
    void onAppended(int entryBytes, long submittedNs) {
        appendedEntries++;
        appendedBytes += entryBytes;
        if (firstSubmittedNs == 0) {
            firstSubmittedNs = submittedNs;
        }
    }

    /** A group is complete. Answers whether {@link #isSlow} has changed. */
    boolean onGroupDone(int ops, int bytes, long flushNs) {
        boolean changed = false;
        if (bytes > 0) {
            metrics.fsyncLatency.record(flushNs, TimeUnit.NANOSECONDS);
            metrics.groupOps.record(ops);
            metrics.groupBytes.record(bytes);
            changed = pace.onFlush(flushNs);
            slow = pace.isSlow();
        }
        if (appendedEntries > 0) {
            metrics.appendedEntries.increment(appendedEntries);
            metrics.appendedBytes.increment(appendedBytes);
            metrics.appendLatency.record(clock.nanoTime() - firstSubmittedNs, TimeUnit.NANOSECONDS);
            appendedEntries = 0;
            appendedBytes = 0;
            firstSubmittedNs = 0;
        }
        return changed;
    }
}
