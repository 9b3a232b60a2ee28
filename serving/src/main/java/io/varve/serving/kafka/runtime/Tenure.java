package io.varve.serving.kafka.runtime;

import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLog.ProgressListener;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.coordinator.common.runtime.PartitionWriter;

/**
 * One stretch of time in which this broker coordinates one partition, over one tenure of its log. Everything that the runtime does with the
 * log is done in the name of a tenure, and a tenure that was retired does nothing any more:
 *
 * <ul>
 *   <li>it accepts no write, so that state loaded in an earlier tenure can't decide what is written in a later one;
 *   <li>its listeners hear of no high watermark, so that an acknowledgement of the next tenure can't commit a write lost in this one;
 *   <li>its load never completes, for the runtime would take that for the completion of the next tenure's load.
 * </ul>
 *
 * Safe for any thread.
 */
final class Tenure {

    private final PartitionLog log;
    private final int number;
    private final TopicPartition name;
    private final Map<PartitionWriter.Listener, ProgressListener> listeners = new ConcurrentHashMap<>();

    /** Producers with a transaction open on this partition, as far as written. */
    private final Map<Long, Short> openTransactions = new ConcurrentHashMap<>();

    private final VerificationGuards guards = new VerificationGuards();

    /** The end of what the coordinator has loaded and written. One thread at a time. */
    private volatile long writtenEnd;

    private boolean retired;
    private int unsettled;
    private Runnable whenSettled;

    Tenure(PartitionLog log, int number, TopicPartition name) {
        this.log = log;
        this.number = number;
        this.name = name;
    }

    PartitionLog log() {
        return log;
    }

    int number() {
        return number;
    }

    TopicPartition name() {
        return name;
    }

    synchronized boolean retired() {
        return retired;
    }

    /** Ends it. Nothing of it is heard of after this returns. */
    synchronized void retire() {
        retired = true;
        listeners.values().forEach(log::removeProgressListener);
        listeners.clear();
    }

    /** Completes a load, unless retired. */
    synchronized void finishLoad(Runnable completion) {
        if (!retired) {
            completion.run();
        }
    }

    /** Tells {@code listener} of the high watermark, the present one first. */
    void register(PartitionWriter.Listener listener) {
        ProgressListener onProgress = (highWatermark, lastStable) -> notifyOf(listener, highWatermark);
        synchronized (this) {
            if (retired) {
                return;
            }
            listeners.put(listener, onProgress);
            log.addProgressListener(onProgress);
        }
        notifyOf(listener, log.offsets().highWatermark());
    }

    private synchronized void notifyOf(PartitionWriter.Listener listener, long highWatermark) {
        if (!retired) {
            listener.onHighWatermarkUpdated(name, highWatermark);
        }
    }

    void deregister(PartitionWriter.Listener listener) {
        ProgressListener onProgress = listeners.remove(listener);
        if (onProgress != null) {
            log.removeProgressListener(onProgress);
        }
    }

    /**
     * A write has its offsets and waits for its quorum.
     *
     * @param onLost hears if it doesn't get it
     */
    void await(CompletableFuture<PartitionLog.AppendResult> acknowledged, Consumer<LogError> onLost) {
        synchronized (this) {
            unsettled++;
        }
        acknowledged.whenComplete((result, thrown) -> {
            LogError error = thrown == null ? result.error() : LogError.NOT_OWNER;
            // A write that is only late stays in the log in its place: the high watermark will pass it, or the log be
            // lost.
            if (error != LogError.NONE && error != LogError.TIMED_OUT) {
                onLost.accept(error);
            }
            settle();
        });
    }

    /** Runs {@code then} once all writes of this tenure have been answered. */
    void whenSettled(Runnable then) {
        synchronized (this) {
            if (unsettled > 0) {
                whenSettled = then;
                return;
            }
        }
        then.run();
    }

    private void settle() {
        Runnable then;
        synchronized (this) {
            if (--unsettled > 0 || whenSettled == null) {
                return;
            }
            then = whenSettled;
            whenSettled = null;
        }
        then.run();
    }

    /** The coordinator's state includes everything below {@code endOffset}. @return whether that is news */
    boolean onWritten(long endOffset) {
        if (endOffset <= writtenEnd) {
            return false;
        }
        writtenEnd = endOffset;
        return true;
    }

    /** What guards the verifications of this tenure's transactional writes. */
    VerificationGuards guards() {
        return guards;
    }

    void onTransactionalWrite(long producerId, short producerEpoch) {
        openTransactions.put(producerId, producerEpoch);
        guards.end(producerId);
    }

    void onMarker(long producerId) {
        openTransactions.remove(producerId);
        guards.end(producerId);
    }

    /** Whether that producer's transaction already has a write here, so that it needs no verification. */
    boolean inTransaction(long producerId, short producerEpoch) {
        Short epoch = openTransactions.get(producerId);
        return epoch != null && epoch == producerEpoch;
    }

    @Override
    public String toString() {
        return name + " tenure=" + number + " epoch=" + log.epoch();
    }
}
