package io.varve.sim;

import io.varve.base.Clock;
import io.varve.base.Timers;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Runs events in the order of a virtual clock. Events due at the same time run in an order drawn from the seed, because code that works only in the
 * order of scheduling is wrong. After every event all invariants are checked; what breaks one is thrown as {@link SimFailure} with the seed
 * and the end of the trace.
 */
public final class SimScheduler implements Clock {

    private static final int TRACE_LINES_MAX = 400;
    private static final long WALL_START_MS = 1_700_000_000_000L;
    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private final long seed;
    private final SimRandomness randomness;
    private final SimRandomness tieBreaks;
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final List<SimInvariant> invariants = new ArrayList<>();
    private final ArrayDeque<String> trace = new ArrayDeque<>();
    private long traceHash = FNV_OFFSET;
    private long nowNanos = 1;
    private long scheduled;
    private long run;

    public SimScheduler(long seed) {
        this.seed = seed;
        this.randomness = new SimRandomness(seed);
        this.tieBreaks = randomness.split();
    }

    /** What reproduces this run. */
    public long seed() {
        return seed;
    }

    /** The run's chance. */
    public SimRandomness randomness() {
        return randomness;
    }

    @Override
    public long nanoTime() {
        return nowNanos;
    }

    @Override
    public long wallTimeMs() {
        return WALL_START_MS + nowNanos / 1_000_000;
    }

    /** Checked after every event from now on. */
    public void watch(SimInvariant invariant) {
        invariants.add(invariant);
    }

    /** Runs {@code task} {@code delayNs} from now; not before this call returns. */
    public Timers.Timer schedule(long delayNs, Runnable task) {
        Event event = new Event(nowNanos + Math.max(0, delayNs), tieBreaks.nextLong(), scheduled++, task);
        events.add(event);
        return () -> event.task = null;
    }

    /** Runs the next event; false if there is none. */
    public boolean step() {
        for (Event next = events.poll(); next != null; next = events.poll()) {
            if (next.task == null) {
                continue;
            }
            nowNanos = Math.max(nowNanos, next.atNanos);
            run++;
            try {
                next.task.run();
                for (SimInvariant invariant : invariants) {
                    invariant.check();
                }
            } catch (SimFailure already) {
                throw already;
            } catch (RuntimeException | Error e) {
                throw failure(e);
            }
            return true;
        }
        return false;
    }

    /** Runs everything that is due within the next {@code nanos}, and leaves the clock there. */
    public void runFor(long nanos) {
        long until = nowNanos + nanos;
        while (!events.isEmpty() && events.peek().atNanos <= until) {
            step();
        }
        nowNanos = Math.max(nowNanos, until);
    }

    /**
     * Runs until {@code done} or until the virtual time is up.
     *
     * @return whether {@code done}
     */
    public boolean runUntil(java.util.function.BooleanSupplier done, long nanosMax) {
        long until = nowNanos + nanosMax;
        while (!done.getAsBoolean()) {
            if (events.isEmpty() || events.peek().atNanos > until) {
                return false;
            }
            step();
        }
        return true;
    }

    /** How many events have run. */
    public long eventsRun() {
        return run;
    }

    /** Notes what happened. Two runs of one seed must note the same. */
    public void trace(String what) {
        String line = nowNanos / 1_000 + "us " + what;
        for (int i = 0; i < line.length(); i++) {
            traceHash = (traceHash ^ line.charAt(i)) * FNV_PRIME;
        }
        trace.addLast(line);
        if (trace.size() > TRACE_LINES_MAX) {
            trace.removeFirst();
        }
    }

    /** A digest of all lines noted so far. */
    public long traceHash() {
        return traceHash;
    }

    /** What to throw when the run went wrong: names the seed, and carries the end of the trace. */
    public SimFailure failure(Throwable cause) {
        return new SimFailure(
                "seed " + seed + ", event " + run + ": " + cause.getMessage() + "\n" + String.join("\n", trace), cause);
    }

    private static final class Event implements Comparable<Event> {
        final long atNanos;
        final long tieBreak;
        final long number;
        Runnable task;

        Event(long atNanos, long tieBreak, long number, Runnable task) {
            this.atNanos = atNanos;
            this.tieBreak = tieBreak;
            this.number = number;
            this.task = task;
        }

        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(atNanos, other.atNanos);
            int byChance = byTime != 0 ? byTime : Long.compare(tieBreak, other.tieBreak);
            return byChance != 0 ? byChance : Long.compare(number, other.number);
        }
    }
}
