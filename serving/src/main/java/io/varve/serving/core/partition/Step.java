package io.varve.serving.core.partition;

/** One thing that a leader has asked for, at most one at a time, with pauses between failed tries. */
final class Step {

    private static final int DOUBLINGS_MAX = 5;
    private static final long NOT_DUE = Long.MAX_VALUE;

    private final long retryNs;
    private int ticket;
    private long dueNs = NOT_DUE;
    private int failures;

    Step(long retryNs) {
        this.retryNs = retryNs;
    }

    /** Begins a try under a ticket that nothing else has. */
    int begin(int newTicket) {
        ticket = newTicket;
        dueNs = NOT_DUE;
        return newTicket;
    }

    /** Whether an answer is to the try under way. */
    boolean isCurrent(int answered) {
        return answered == ticket && ticket != 0;
    }

    boolean isUnderWay() {
        return ticket != 0;
    }

    /** Whether the last try failed, and none has succeeded since. */
    boolean isFailing() {
        return failures > 0;
    }

    /** It succeeded. */
    void done() {
        ticket = 0;
        failures = 0;
        dueNs = NOT_DUE;
    }

    /** It failed: due again after a pause. */
    void failed(long nowNs) {
        ticket = 0;
        dueNs = nowNs + (retryNs << Math.min(failures, DOUBLINGS_MAX));
        failures++;
    }

    /** Nobody wants it any more; an answer that still comes is ignored. */
    void giveUp() {
        ticket = 0;
        dueNs = NOT_DUE;
    }

    boolean isDue(long nowNs) {
        return nowNs >= dueNs && dueNs != NOT_DUE;
    }

    /** Whether it may be begun: not under way, and not in a pause. */
    boolean isFree(long nowNs) {
        return ticket == 0 && (dueNs == NOT_DUE || nowNs >= dueNs);
    }
}
