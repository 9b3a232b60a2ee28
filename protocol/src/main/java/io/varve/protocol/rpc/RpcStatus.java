package io.varve.protocol.rpc;

/**
 * Why a call has no reply. What is certainly not done and what may have been done are told apart by {@link #certainlyNotDone()}: "unknown" is
 * an answer of its own (I-17).
 */
public enum RpcStatus {
    /** Sent, or perhaps sent, and no answer came: the deadline passed or the connection broke. The outcome is unknown. Never on the wire. */
    NO_ANSWER(1, false),
    /** It never left this process: no connection in time, or it was closed before. Never on the wire. */
    NOT_SENT(2, true),
    /** The peer is another node, or of another cluster or role, than was expected, or does not take us. */
    REFUSED(3, true),
    /** The peer speaks no version that we speak, does not know the method, or is no Varve node at all. */
    UNSUPPORTED(4, true),
    /** Too much is under way: try again later. */
    OVERLOADED(5, true),
    /** The request made no sense to the peer. */
    INVALID(6, true),
    /** The peer can't do it now: not ready, closing, without a quorum. */
    UNAVAILABLE(7, true),
    /** The peer failed while it was at it. The outcome is unknown. */
    INTERNAL(8, false),
    /** A stream ended as it should. */
    ENDED(9, false);

    private static final RpcStatus[] BY_CODE = new RpcStatus[10];

    static {
        for (RpcStatus status : values()) {
            BY_CODE[status.code] = status;
        }
    }

    private final int code;
    private final boolean certainlyNotDone;

    RpcStatus(int code, boolean certainlyNotDone) {
        this.code = code;
        this.certainlyNotDone = certainlyNotDone;
    }

    /** The number on the wire. */
    public int code() {
        return code;
    }

    /** Whether what was asked for was certainly not carried out, and never will be. */
    public boolean certainlyNotDone() {
        return certainlyNotDone;
    }

    /** The status of that number; {@link #INTERNAL} for numbers of a later version, because that promises the least. */
    static RpcStatus ofCode(int code) {
        return code > 0 && code < BY_CODE.length ? BY_CODE[code] : INTERNAL;
    }
}
