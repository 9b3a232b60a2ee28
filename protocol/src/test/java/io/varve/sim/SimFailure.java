package io.varve.sim;

/** A simulated run went wrong. The message begins with the seed that reproduces it. */
public final class SimFailure extends AssertionError {

    private static final long serialVersionUID = 1L;

    SimFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
