package io.varve.serving.request.share;

import io.netty.buffer.ByteBuf;
import io.varve.serving.core.share.Acquired;
import io.varve.serving.request.Deadlines;
import io.varve.serving.request.data.FetchMemory;
import io.varve.serving.request.share.SharePartition.Got;
import io.varve.serving.request.share.SharePartition.Wish;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.protocol.Errors;

/**
 * One ShareFetch under way. In rounds: acquire from partition after partition, in the session's order, until there are as many records or bytes
 * as the member wants. A round that brings anything, or an error, is the last; after one that brings nothing any partition's news begins the next,
 * until the member's time is over.
 *
 * <p>One step is under way at a time; the monitor hands the state from one to the next.
 */
final class ShareFetchTask {

    private final String member;
    private final boolean exactly;
    private final List<Part> parts;
    private final FetchMemory memory;
    private final Deadlines deadlines;
    private final CompletableFuture<ShareFetchTask> done = new CompletableFuture<>();
    private final List<Runnable> waits = new ArrayList<>();

    private int recordsLeft;
    private int bytesLeft;
    private int bytes;
    private int round;
    private boolean waiting;
    private boolean again;
    private boolean failed;
    private boolean expired;
    private Runnable cancelDeadline = () -> {};

    /**
     * @param recordsMax how many records the member wants
     * @param exactly whether it may be no more
     * @param bytesMax how many bytes
     * @param memory charged for what is read; the bytes of what was acquired are to be given back by whoever gets it
     */
    ShareFetchTask(
            String member,
            List<Part> parts,
            int recordsMax,
            boolean exactly,
            int bytesMax,
            FetchMemory memory,
            Deadlines deadlines) {
        this.member = member;
        this.parts = parts;
        this.recordsLeft = recordsMax;
        this.exactly = exactly;
        this.bytesLeft = bytesMax;
        this.memory = memory;
        this.deadlines = deadlines;
    }

    /** One partition of it. Written by the task, read when that is done. */
    static final class Part {
        private final ShareRequests.Key key;
        private final Optional<SharePartition> partition;
        private final List<ByteBuf> batches = new ArrayList<>();
        private final List<Acquired> acquired = new ArrayList<>();
        private Errors error;

        /** @param partition empty with an error */
        Part(ShareRequests.Key key, Optional<SharePartition> partition, Errors error) {
            this.key = key;
            this.partition = partition;
            this.error = error;
        }

        ShareRequests.Key key() {
            return key;
        }

        /** If there is no error. */
        SharePartition partition() {
            return partition.orElseThrow();
        }

        Errors error() {
            return error;
        }

        List<ByteBuf> batches() {
            return batches;
        }

        List<Acquired> acquired() {
            return acquired;
        }

        private boolean isOpen() {
            return error == Errors.NONE;
        }
    }

    List<Part> parts() {
        return parts;
    }

    /** Bytes of records in all parts. */
    synchronized int bytes() {
        return bytes;
    }

    /** Begins. Completes within {@code waitMs} and what a read takes. */
    CompletableFuture<ShareFetchTask> start(long waitMs) {
        synchronized (this) {
            expired = waitMs <= 0;
            failed = parts.stream().anyMatch(part -> !part.isOpen());
            if (!expired) {
                cancelDeadline = deadlines.after(waitMs, this::onDeadline);
            }
        }
        step(0);
        return done;
    }

    /** Goes on from a partition on; returns when something is waited for, or all is done. */
    private void step(int from) {
        for (int index = from; index < parts.size(); index++) {
            Part part = parts.get(index);
            if (!part.isOpen() || isFull()) {
                continue;
            }
            Wish wish = wish();
            CompletableFuture<Got> asked = part.partition().acquire(wish);
            int next = index + 1;
            if (!asked.isDone() || asked.isCompletedExceptionally()) {
                asked.whenComplete((got, failure) -> {
                    if (take(part, wish, got, failure)) {
                        step(next);
                    }
                });
                return;
            }
            if (!take(part, wish, asked.getNow(null), null)) {
                return;
            }
        }
        endOfRound();
    }

    private synchronized boolean isFull() {
        return recordsLeft <= 0 || bytesLeft <= 0;
    }

    private synchronized Wish wish() {
        return new Wish(member, recordsLeft, exactly, memory.take(bytesLeft));
    }

    /** Takes over what was acquired. Answers whether to go on: not after a defect. */
    private boolean take(Part part, Wish wish, Got got, Throwable failure) {
        if (failure != null) {
            memory.give(wish.bytesMax());
            done.completeExceptionally(failure);
            return false;
        }
        memory.give(wish.bytesMax() - got.bytes());
        synchronized (this) {
            part.error = got.error();
            part.batches.addAll(got.batches());
            part.acquired.addAll(got.acquired());
            failed |= got.error() != Errors.NONE;
            again |= got.again();
            recordsLeft -= (int) Math.min(recordsLeft, got.records());
            bytesLeft -= Math.min(bytesLeft, got.bytes());
            bytes += got.bytes();
        }
        return true;
    }

    private void endOfRound() {
        boolean more;
        synchronized (this) {
            more = again && bytes == 0 && !failed;
            again = false;
            if (!more && (bytes > 0 || failed || expired || parts.isEmpty())) {
                cancelDeadline.run();
                done.complete(this);
                return;
            }
            waiting = !more;
            round++;
        }
        if (more) {
            step(0);
        } else {
            await();
        }
    }

    private void await() {
        int ofRound;
        synchronized (this) {
            ofRound = round;
        }
        for (Part part : parts) {
            Runnable cancel = part.partition().whenReady(() -> onWake(ofRound));
            synchronized (this) {
                if (!waiting || round != ofRound) {
                    cancel.run();
                    return;
                }
                waits.add(cancel);
            }
        }
    }

    private void onWake(int ofRound) {
        synchronized (this) {
            if (!waiting || round != ofRound) {
                return;
            }
            waiting = false;
            cancelWaits();
        }
        step(0);
    }

    private void onDeadline() {
        synchronized (this) {
            expired = true;
            if (!waiting) {
                // What is under way ends the round, and that is the last.
                return;
            }
            waiting = false;
            cancelWaits();
        }
        done.complete(this);
    }

    private void cancelWaits() {
        List<Runnable> all = List.copyOf(waits);
        waits.clear();
        all.forEach(Runnable::run);
    }
}
