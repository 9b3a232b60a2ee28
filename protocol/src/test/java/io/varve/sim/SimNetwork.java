package io.varve.sim;

import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Carries tasks from one node to another: late, not at all, twice, or out of order, as its faults say; and not at all across a cut. A cut also
 * swallows what is under way.
 */
public final class SimNetwork {

    private final SimScheduler scheduler;
    private final SimRandomness randomness;
    private final TreeMap<String, Long> lastArrivalNanos = new TreeMap<>();
    private final TreeSet<String> cuts = new TreeSet<>();
    private Faults faults = Faults.NONE;

    public SimNetwork(SimScheduler scheduler) {
        this.scheduler = scheduler;
        this.randomness = scheduler.randomness().split();
    }

    /**
     * What goes wrong.
     *
     * @param delayNsMin the shortest way
     * @param delayNsMax the longest
     * @param lostPercent messages that never arrive
     * @param doubledPercent messages that arrive twice
     * @param slowPercent messages that take ten times as long
     */
    public record Faults(
            long delayNsMin, long delayNsMax, double lostPercent, double doubledPercent, double slowPercent) {
        /** A good network: 50 to 500 microseconds. */
        public static final Faults NONE = new Faults(50_000, 500_000, 0, 0, 0);

        /** A bad one. */
        public static final Faults BAD = new Faults(50_000, 5_000_000, 2, 2, 5);
    }

    /** From now on. */
    public void setFaults(Faults changed) {
        faults = changed;
    }

    /** Nothing passes between the two any more, in either direction. */
    public void cut(String one, String other) {
        if (cuts.add(edge(one, other)) & cuts.add(edge(other, one))) {
            scheduler.trace("cut " + one + " | " + other);
        }
    }

    /** Nothing passes from the one to the other any more; the way back stays open. */
    public void cutOneWay(String from, String to) {
        if (cuts.add(edge(from, to))) {
            scheduler.trace("cut " + from + " > " + to);
        }
    }

    /** Mends what was cut between the two. */
    public void mend(String one, String other) {
        cuts.remove(edge(one, other));
        cuts.remove(edge(other, one));
    }

    /** Mends everything and stops all faults. */
    public void heal() {
        scheduler.trace("network healed");
        cuts.clear();
        faults = Faults.NONE;
    }

    /** Whether messages pass this way. */
    public boolean isCut(String from, String to) {
        return cuts.contains(edge(from, to));
    }

    /** A datagram: may be lost, doubled and overtaken. */
    public void send(String from, String to, Runnable atReceiver) {
        if (randomness.percent(faults.lostPercent)) {
            return;
        }
        carry(from, to, delay(), atReceiver);
        if (randomness.percent(faults.doubledPercent)) {
            carry(from, to, delay(), atReceiver);
        }
    }

    /**
     * A message of a connection: never doubled, and never overtaken by what the same {@code from} sends to the same {@code to} later.
     * If it is lost {@code onBroken} runs instead, for the connection is broken then and the caller must carry nothing further on it.
     */
    public void sendOrdered(String from, String to, Runnable atReceiver, Runnable onBroken) {
        long delay = delay();
        if (randomness.percent(faults.lostPercent)) {
            scheduler.schedule(delay, onBroken);
            return;
        }
        String edge = edge(from, to);
        long arrival = Math.max(scheduler.nanoTime() + delay, lastArrivalNanos.getOrDefault(edge, 0L) + 1);
        lastArrivalNanos.put(edge, arrival);
        scheduler.schedule(arrival - scheduler.nanoTime(), () -> {
            if (cuts.contains(edge)) {
                onBroken.run();
            } else {
                atReceiver.run();
            }
        });
    }

    private void carry(String from, String to, long delay, Runnable atReceiver) {
        String edge = edge(from, to);
        scheduler.schedule(delay, () -> {
            if (!cuts.contains(edge)) {
                atReceiver.run();
            }
        });
    }

    private long delay() {
        long delay = randomness.between(faults.delayNsMin, faults.delayNsMax);
        return randomness.percent(faults.slowPercent) ? delay * 10 : delay;
    }

    private static String edge(String from, String to) {
        return from + ">" + to;
    }
}
