package io.varve.metadata.core;

import io.varve.metadata.api.MetadataException.Reason;

/** Unwinds a decision that can't be made. Never leaves {@link MetadataStateMachine}, which turns it into the value that is answered. */
final class Rejection extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    Rejection(Reason reason, String message) {
        super(message, null, false, false);
        this.reason = reason;
    }

    Reason reason() {
        return reason;
    }

    /** @throws Rejection unless {@code holds} */
    static void unless(boolean holds, Reason reason, String message) {
        if (!holds) {
            throw new Rejection(reason, message);
        }
    }
}
