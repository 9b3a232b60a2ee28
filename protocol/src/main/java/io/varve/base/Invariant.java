package io.varve.base;

/**
 * Checks that are on in production. A check costs a comparison; its message is given in pieces so that nothing is built while it
 * holds.
 */
public final class Invariant {

    private Invariant() {}

    /** @throws InvariantViolation unless {@code holds} */
    public static void check(boolean holds, String what) {
        if (!holds) {
            throw new InvariantViolation(what);
        }
    }

    /** @throws InvariantViolation unless {@code holds}; {@code what} is followed by the value */
    public static void check(boolean holds, String what, long value) {
        if (!holds) {
            throw new InvariantViolation(what + ": " + value);
        }
    }

    /** @throws InvariantViolation unless {@code holds}; {@code what} is followed by both values */
    public static void check(boolean holds, String what, long left, long right) {
        if (!holds) {
            throw new InvariantViolation(what + ": " + left + ", " + right);
        }
    }
}
