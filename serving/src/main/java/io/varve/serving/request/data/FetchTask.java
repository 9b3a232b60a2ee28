package io.varve.serving.request.data;

import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog.EpochEnd;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.ReadResult;
import io.varve.serving.request.Deadlines;
import io.varve.serving.request.LogErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.protocol.Errors;

/**
 * One Fetch under way. In rounds: read what is there, partition by partition in order and as far as the bytes go; if that is less than the
 * client wants and its time isn't over, wait until any of the partitions has more, and go on from there. What was read is kept from round to
 * round, so that nothing is read twice.
 *
 * <p>Partitions that fit the bytes together are read at the same time; the first of them gives at least one batch however large (P18 of the user
 * reports). An error ends the wait. A read that is still under way when the time is over is given a little more: dropping it would leave a
 * client with a short wait without progress for ever (S13).
 *
 * <p>Reads complete on the loops of different partitions: this object's monitor serializes them. Nothing is called out to while it is held
 * but the log's own non-blocking calls.
 */
final class FetchTask {

    private static final long READ_GRACE_MS = 5_000;

    private final List<FetchPart> parts;
    private final Isolation isolation;
    private final int minBytes;
    private final int maxBytes;
    private final FetchMemory memory;
    private final Deadlines deadlines;
    private final CompletableFuture<FetchTask> done = new CompletableFuture<>();
    private final List<Runnable> waits = new ArrayList<>();

    private int bytes;
    private long reserved;
    private int outstanding;
    private boolean expired;
    private boolean failed;
    private Runnable cancelDeadline = () -> {};

    FetchTask(
            List<FetchPart> parts,
            Isolation isolation,
            int minBytes,
            int maxBytes,
            FetchMemory memory,
            Deadlines deadlines) {
        this.parts = parts;
        this.isolation = isolation;
        this.minBytes = minBytes;
        this.maxBytes = maxBytes;
        this.memory = memory;
        this.deadlines = deadlines;
    }

    /**
     * Begins.
     *
     * @param waitMs how long the client waits for its bytes
     * @return this, when there is an answer in {@link #parts()}
     */
    CompletableFuture<FetchTask> start(long waitMs) {
        synchronized (this) {
            expired = waitMs <= 0;
            checkDivergence();
        }
        if (!done.isDone() && waitMs > 0) {
            Runnable cancel = deadlines.after(waitMs, this::onDeadline);
            synchronized (this) {
                cancelDeadline = cancel;
            }
            if (done.isDone()) {
                cancel.run();
            }
        }
        return done;
    }

    List<FetchPart> parts() {
        return parts;
    }

    /** What was taken of {@link FetchMemory}, to be given back when the answer is gone. */
    synchronized long reserved() {
        return reserved;
    }

    // ---- divergence (KIP-595): who says which epoch it read last is told where that epoch ended

    private void checkDivergence() {
        List<FetchPart> asking = new ArrayList<>();
        for (FetchPart part : parts) {
            if (part.error() == Errors.NONE && part.wanted().lastFetchedEpoch() >= 0) {
                asking.add(part);
            }
        }
        if (asking.isEmpty()) {
            round();
            return;
        }
        outstanding = asking.size();
        for (FetchPart part : asking) {
            part.log().endOffsetForEpoch(part.wanted().lastFetchedEpoch()).thenAccept(end -> onEpochEnd(part, end));
        }
    }

    private synchronized void onEpochEnd(FetchPart part, EpochEnd end) {
        if (end.error() != LogError.NONE) {
            part.fail(LogErrors.toKafka(end.error()));
        } else if (end.epoch() < part.wanted().lastFetchedEpoch()
                || end.endOffset() < part.wanted().fetchOffset()) {
            part.diverge(end);
        }
        if (--outstanding == 0) {
            round();
        }
    }

    // ---- rounds

    private void round() {
        List<FetchPart> reading = new ArrayList<>();
        int left = maxBytes - bytes;
        for (FetchPart part : parts) {
            failed |= part.error() != Errors.NONE || part.isDiverging() || part.isElsewhere();
            if (part.isBeyondEnd()) {
                reading.add(part);
            } else if (left > 0 && part.isReady(isolation)) {
                int share = Math.min(part.bytesLeft(), left);
                left -= share;
                reading.add(part);
            }
        }
        if (reading.isEmpty()) {
            finishOrWait();
            return;
        }
        read(reading);
    }

    private void read(List<FetchPart> reading) {
        int granted = memory.take(Math.min(maxBytes - bytes, sharesOf(reading)));
        reserved += granted;
        // One more than there are reads, for this loop: those that complete at once must not take the round for over.
        outstanding = reading.size() + 1;
        int left = granted;
        boolean atLeastOne = bytes == 0;
        for (FetchPart part : reading) {
            boolean beyond = part.isBeyondEnd();
            int share = beyond ? 0 : Math.min(part.bytesLeft(), left);
            left -= share;
            if (share == 0 && !atLeastOne && !beyond) {
                outstanding--;
                continue;
            }
            boolean first = atLeastOne && !beyond;
            atLeastOne &= beyond;
            part.log()
                    .read(part.nextOffset(), share, first, isolation)
                    .whenComplete((result, failure) -> onRead(part, first, result, failure));
        }
        if (--outstanding == 0) {
            finishOrWait();
        }
    }

    private int sharesOf(List<FetchPart> reading) {
        long sum = 0;
        for (FetchPart part : reading) {
            sum += part.isBeyondEnd() ? 0 : part.bytesLeft();
        }
        return (int) Math.min(Integer.MAX_VALUE, sum);
    }

    private synchronized void onRead(FetchPart part, boolean first, ReadResult result, Throwable failure) {
        if (done.isDone()) {
            if (result != null) {
                result.release();
            }
            return;
        }
        if (failure != null) {
            part.fail(Errors.forException(failure));
        } else if (result.error() != LogError.NONE) {
            part.fail(LogErrors.toKafka(result.error()));
            result.release();
        } else {
            int before = part.bytes();
            part.add(result);
            bytes += part.bytes() - before;
            if (part.bytes() == before && (first || bytes > 0)) {
                // Its next batch is larger than what is left: it would be readable, and not fit, again and again.
                part.exhaust();
            }
        }
        failed |= part.error() != Errors.NONE;
        if (--outstanding == 0) {
            finishOrWait();
        }
    }

    private void finishOrWait() {
        if (reserved > bytes) {
            memory.give(reserved - bytes);
            reserved = bytes;
        }
        if (failed || expired || parts.isEmpty() || bytes >= Math.min(minBytes, maxBytes)) {
            finish();
        } else {
            await();
        }
    }

    // ---- the wait

    private void await() {
        AtomicBoolean woken = new AtomicBoolean();
        for (FetchPart part : parts) {
            if (part.mayGiveMore()) {
                waits.add(part.log().whenReadable(part.nextOffset(), isolation, () -> {
                    if (woken.compareAndSet(false, true)) {
                        onWake(part);
                    }
                }));
            }
            if (woken.get()) {
                return;
            }
        }
    }

    private synchronized void onWake(FetchPart woken) {
        cancelWaits();
        if (done.isDone() || outstanding > 0) {
            return;
        }
        woken.wake();
        for (FetchPart part : parts) {
            part.look();
        }
        round();
    }

    private void cancelWaits() {
        waits.forEach(Runnable::run);
        waits.clear();
    }

    private synchronized void onDeadline() {
        expired = true;
        if (done.isDone()) {
            return;
        }
        if (outstanding == 0) {
            finish();
        } else {
            cancelDeadline = deadlines.after(READ_GRACE_MS, this::onGraceOver);
        }
    }

    private synchronized void onGraceOver() {
        if (!done.isDone()) {
            memory.give(reserved - bytes);
            reserved = bytes;
            finish();
        }
    }

    private void finish() {
        cancelWaits();
        cancelDeadline.run();
        done.complete(this);
    }
}
