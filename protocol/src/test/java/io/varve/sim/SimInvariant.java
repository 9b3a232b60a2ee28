package io.varve.sim;

/** Something that holds after every event, judged by what the simulation recorded itself and not by the code under test. */
@FunctionalInterface
public interface SimInvariant {

    /** @throws AssertionError if it does not hold, with its number from docs/INVARIANTS.md */
    void check();
}
