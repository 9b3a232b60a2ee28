package io.varve.base;

/**
 * Something that must never be true was found to be true. An {@code Error}, because going on with wrong state turns a crash into
 * lost data: it reaches the process's {@link FaultHandler} and stops the node.
 */
public final class InvariantViolation extends Error {

    private static final long serialVersionUID = 1L;

    /** @param what the invariant by its number where it has one ({@code docs/INVARIANTS.md}), and the values that broke it */
    public InvariantViolation(String what) {
        super(what);
    }
}
