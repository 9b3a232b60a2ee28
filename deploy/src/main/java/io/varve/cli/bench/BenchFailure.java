package io.varve.cli.bench;

/** A measurement that can't be made, in one line. */
final class BenchFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    BenchFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
