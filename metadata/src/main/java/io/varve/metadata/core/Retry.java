package io.varve.metadata.core;

/**
 * When work that failed may be tried again.
 *
 * @param attempts how often it failed in a row
 * @param notBeforeMs wall time of the leader
 * @param reason what went wrong last, in a line; empty if nothing did
 */
record Retry(int attempts, long notBeforeMs, String reason) {

    /** Longer reasons are cut: they stand in the state of every node. */
    static final int REASON_LENGTH_MAX = 200;

    private static final long FIRST_WAIT_MS = 1_000;

    /** What failed because a store or a bookie was away is to go on soon after it is back (C15 of the user reports). */
    private static final long LONGEST_WAIT_MS = 30_000;

    /** Nobody waits for a deletion; and there may be thousands of them, all tried again and again as long as a store is away. */
    private static final long LONGEST_WAIT_UNHURRIED_MS = 300_000;

    Retry {
        reason = reason.length() <= REASON_LENGTH_MAX ? reason : reason.substring(0, REASON_LENGTH_MAX);
    }

    /** For what no reason is kept of. */
    Retry(int attempts, long notBeforeMs) {
        this(attempts, notBeforeMs, "");
    }

    /** After one more failure: each wait is twice the one before, up to half a minute. */
    static Retry after(int attemptsBefore, long nowMs, String reason) {
        return after(attemptsBefore, nowMs, LONGEST_WAIT_MS, reason);
    }

    /** The same, up to five minutes, of what nobody waits for. */
    static Retry afterUnhurried(int attemptsBefore, long nowMs, String reason) {
        return after(attemptsBefore, nowMs, LONGEST_WAIT_UNHURRIED_MS, reason);
    }

    private static Retry after(int attemptsBefore, long nowMs, long longestWaitMs, String reason) {
        long wait = FIRST_WAIT_MS << Math.min(attemptsBefore, 20);
        return new Retry(attemptsBefore + 1, nowMs + Math.min(wait, longestWaitMs), reason);
    }
}
