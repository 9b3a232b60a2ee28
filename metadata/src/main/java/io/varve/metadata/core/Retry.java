package io.varve.metadata.core;

/**
 * When work that failed may be tried again.
 *
 * @param attempts how often it failed in a row
 * @param notBeforeMs wall time of the leader
 */
record Retry(int attempts, long notBeforeMs) {

    private static final long FIRST_WAIT_MS = 1_000;
    private static final long LONGEST_WAIT_MS = 300_000;

    /** After one more failure: each wait is twice the one before, up to five minutes. */
    static Retry after(int attemptsBefore, long nowMs) {
        long wait = FIRST_WAIT_MS << Math.min(attemptsBefore, 20);
        return new Retry(attemptsBefore + 1, nowMs + Math.min(wait, LONGEST_WAIT_MS));
    }
}
