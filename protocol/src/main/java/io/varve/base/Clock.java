package io.varve.base;

/** Where time comes from. Handed in everywhere, so that a test or a simulation can step it. Safe for use by any thread. */
public interface Clock {

    /** Monotonic nanoseconds from an arbitrary origin: for durations and deadlines. Never moves back. */
    long nanoTime();

    /** Milliseconds since 1970-01-01 UTC: for what people and records see. May jump either way; nothing safe depends on it. */
    long wallTimeMs();
}
