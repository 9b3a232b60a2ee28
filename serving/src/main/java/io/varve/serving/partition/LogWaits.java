package io.varve.serving.partition;

import io.varve.serving.core.fetch.WaitingFetches;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.Offsets;
import java.util.concurrent.atomic.AtomicBoolean;

/** Readers that wait for a log to grow, each for the bound that it reads to. Used on the partition's loop, but for {@link #whenReadable}. */
final class LogWaits {

    private final PartitionLoop loop;
    private final OwnedLog log;
    private final WaitingFetches untilAcknowledged = new WaitingFetches();
    private final WaitingFetches untilStable = new WaitingFetches();
    private final WaitingFetches untilAssigned = new WaitingFetches();

    LogWaits(PartitionLoop loop, OwnedLog log) {
        this.loop = loop;
        this.log = log;
    }

    void onHighWatermark(long highWatermark, long lastStable) {
        untilAcknowledged.onBound(highWatermark);
        untilStable.onBound(lastStable);
    }

    void onAssigned(long endOffset) {
        untilAssigned.onBound(endOffset);
    }

    void onLost() {
        untilAcknowledged.onLost();
        untilStable.onLost();
        untilAssigned.onLost();
    }

    /**
     * Calls back once when there is something at {@code offset}, or the log is lost here; at once, on the caller's thread, if that is so already. Any thread.
     *
     * @return cancels the wait; harmless after the call back
     */
    Runnable whenReadable(long offset, Isolation isolation, Runnable callback) {
        if (!log.isServing() || bound(log.offsets(), isolation) > offset) {
            callback.run();
            return () -> {};
        }
        AtomicBoolean done = new AtomicBoolean();
        Runnable once = () -> {
            if (done.compareAndSet(false, true)) {
                callback.run();
            }
        };
        WaitingFetches waiting = switch (isolation) {
            case READ_UNCOMMITTED -> untilAcknowledged;
            case READ_COMMITTED -> untilStable;
            case LOG_END -> untilAssigned;
        };
        WaitingFetches.Waiter[] waiter = new WaitingFetches.Waiter[1];
        loop.run(() -> {
            if (!log.isServing() || log.bound(isolation) > offset) {
                once.run();
            } else if (!done.get()) {
                waiter[0] = waiting.add(offset, once);
            }
        });
        return () -> {
            if (done.compareAndSet(false, true)) {
                loop.run(() -> {
                    if (waiter[0] != null) {
                        waiting.cancel(waiter[0]);
                    }
                });
            }
        };
    }

    private static long bound(Offsets at, Isolation isolation) {
        return switch (isolation) {
            case READ_UNCOMMITTED -> at.highWatermark();
            case READ_COMMITTED -> at.lastStable();
            case LOG_END -> at.end();
        };
    }
}
