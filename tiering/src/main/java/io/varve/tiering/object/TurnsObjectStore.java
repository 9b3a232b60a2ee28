package io.varve.tiering.object;

import io.varve.tiering.object.StoreException.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * As many calls at a time as there are connections; others wait for their turn in the order they came, no more than so many and none longer than the
 * call itself may take. Who gets no turn is told so: that we ask for too much says nothing of the store. To be put around the
 * {@link DeadlineObjectStore}, so that a call's deadline runs from its turn on. Reads have turns of their own, as they have connections of their own.
 */
public final class TurnsObjectStore extends WrappedObjectStore {

    private final int waitingMax;
    private final long callMs;
    private final long bytesPerSecondMin;
    private final Lane reads;
    private final Lane others;
    private final AtomicLong refused = new AtomicLong();

    /**
     * @param callsMax reads at a time, and as many other calls
     * @param waitingMax of either; more are refused at once
     * @param callMs a call waits so long for its turn
     * @param bytesPerSecondMin and as much longer as this rate takes for its bytes
     */
    public TurnsObjectStore(ObjectStore inner, int callsMax, int waitingMax, long callMs, long bytesPerSecondMin) {
        super(inner);
        this.waitingMax = waitingMax;
        this.callMs = callMs;
        this.bytesPerSecondMin = bytesPerSecondMin;
        this.reads = new Lane(callsMax);
        this.others = new Lane(callsMax);
    }

    /** How many calls wait for their turn. */
    public int waiting() {
        return reads.waiting() + others.waiting();
    }

    /** How many calls got no turn so far. */
    public long refused() {
        return refused.get();
    }

    @Override
    protected <T> CompletableFuture<T> around(Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
        Lane lane = verb == Verb.GET ? reads : others;
        return lane.take(new Turn<>(verb + " " + key, call), callMs + bytes * 1000 / bytesPerSecondMin);
    }

    /** Calls that wait are told so. */
    @Override
    public void close() {
        reads.close();
        others.close();
        super.close();
    }

    private StoreException saturated(Turn<?> turn, String why) {
        refused.incrementAndGet();
        return new StoreException(Kind.SATURATED, turn.what + ": the store is saturated, " + why);
    }

    /** Calls that share connections. */
    private final class Lane {

        private final int callsMax;
        private final ArrayDeque<Turn<?>> waiting = new ArrayDeque<>();
        private int underWay;

        Lane(int callsMax) {
            this.callsMax = callsMax;
        }

        synchronized int waiting() {
            return waiting.size();
        }

        <T> CompletableFuture<T> take(Turn<T> turn, long waitMs) {
            boolean hasTurn;
            synchronized (this) {
                hasTurn = underWay < callsMax;
                if (!hasTurn && waiting.size() == waitingMax) {
                    return CompletableFuture.failedFuture(
                            saturated(turn, callsMax + " calls are under way and " + waitingMax + " wait"));
                }
                if (hasTurn) {
                    underWay++;
                } else {
                    waiting.add(turn);
                }
            }
            if (hasTurn) {
                run(turn);
                turn.throwWhatTheCallThrew();
            } else {
                turn.came.orTimeout(waitMs, TimeUnit.MILLISECONDS).whenComplete((came, late) -> {
                    if (late != null && leave(turn)) {
                        turn.answer.completeExceptionally(saturated(turn, "no turn within " + waitMs + " ms"));
                    }
                });
            }
            return turn.answer;
        }

        private synchronized boolean leave(Turn<?> turn) {
            return waiting.remove(turn);
        }

        /** Runs a call whose turn it is, and those after it whose turn comes because one is over at once: in a loop, for there may be many. */
        private void run(Turn<?> first) {
            Turn<?> turn = first;
            while (turn != null && turn.isOverAtOnce(() -> run(next()))) {
                turn = next();
            }
        }

        /** A turn is over: the next one's, if any. */
        private Turn<?> next() {
            Turn<?> next;
            synchronized (this) {
                next = waiting.poll();
                underWay -= next == null ? 1 : 0;
            }
            if (next != null) {
                next.came.complete(null);
            }
            return next;
        }

        void close() {
            List<Turn<?>> leaving;
            synchronized (this) {
                leaving = new ArrayList<>(waiting);
                waiting.clear();
            }
            for (Turn<?> turn : leaving) {
                turn.came.complete(null);
                turn.answer.completeExceptionally(
                        new StoreException(Kind.CLOSED, turn.what + ": the store was closed"));
            }
        }
    }

    /** A call that has its turn or waits for it; whoever takes it out of the queue says what becomes of it. */
    private static final class Turn<T> {

        private final String what;
        private final Supplier<CompletableFuture<T>> call;
        private final CompletableFuture<Void> came = new CompletableFuture<>();
        private final CompletableFuture<T> answer = new CompletableFuture<>();
        private RuntimeException thrown;

        Turn(String what, Supplier<CompletableFuture<T>> call) {
            this.what = what;
            this.call = call;
        }

        /**
         * Makes the call.
         *
         * @param over run when the turn is over, unless it is already when this returns
         */
        boolean isOverAtOnce(Runnable over) {
            CompletableFuture<T> sent;
            try {
                sent = call.get();
            } catch (RuntimeException e) {
                thrown = e;
                answer.completeExceptionally(e);
                return true;
            } catch (Error e) {
                answer.completeExceptionally(e);
                return true;
            }
            AtomicBoolean isFirst = new AtomicBoolean(true);
            sent.whenComplete((got, failure) -> {
                if (!isFirst.getAndSet(false)) {
                    over.run();
                }
                if (failure == null) {
                    answer.complete(got);
                } else {
                    answer.completeExceptionally(failure);
                }
            });
            return !isFirst.getAndSet(false);
        }

        /** To be called by the one who made the call, if that is its caller. */
        void throwWhatTheCallThrew() {
            if (thrown != null) {
                throw thrown;
            }
        }
    }
}
