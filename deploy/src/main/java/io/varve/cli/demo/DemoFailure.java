package io.varve.cli.demo;

/** Why the demo can't go on, in one line. */
final class DemoFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    DemoFailure(String message) {
        super(message);
    }
}
