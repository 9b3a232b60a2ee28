package io.varve.protocol.rpc;

/** A call without a reply. Carries no stack trace: it says what the network did, not where our code stood. */
public final class RpcException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final RpcStatus status;

    /** @param message one line naming the peer */
    public RpcException(RpcStatus status, String message) {
        super(status + ": " + message, null, false, false);
        this.status = status;
    }

    /** What kind of failure, and with it whether anything may have been done. */
    public RpcStatus status() {
        return status;
    }
}
