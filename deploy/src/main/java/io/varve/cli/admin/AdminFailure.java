package io.varve.cli.admin;

/** Why an operator's command failed, in one line. */
public final class AdminFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public AdminFailure(String message) {
        super(message);
    }
}
