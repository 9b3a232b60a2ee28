package io.varve.serving.core.connection;

import io.varve.base.Invariant;

/**
 * Whether a connection is read from. It is not while any reason stands against it: too much of its own is pending, its peer does not take
 * its answers, it is being throttled, or the process has no memory left for requests. Each reason has its own bit, so that lifting one
 * never overrides another. The pending bound has two marks, so that a connection at its bound does not flap.
 *
 * <p>Single owner: the connection's event loop.
 */
public final class ReadGate {

    private final int requestsMax;
    private final long bytesMax;

    private int reasons;
    private int pendingRequests;
    private long pendingBytes;

    /**
     * @param requestsMax requests under way at which reading stops
     * @param bytesMax bytes of requests under way at which reading stops
     */
    public ReadGate(int requestsMax, long bytesMax) {
        Invariant.check(requestsMax > 0, "at least one request may be under way", requestsMax);
        Invariant.check(bytesMax > 0, "at least one byte may be under way", bytesMax);
        this.requestsMax = requestsMax;
        this.bytesMax = bytesMax;
    }

    /** Why a connection is not read from. */
    public enum Reason {
        /** Its requests under way are at their bound. */
        PENDING,
        /** A second Fetch came while the first is not answered: one at a time bounds the bytes of its answers. */
        FETCHING,
        /** Its peer does not take its answers. */
        UNWRITABLE,
        /** A quota asks it to wait. */
        THROTTLED,
        /** All connections together hold as many request bytes as the process has for them. */
        MEMORY,
        /** It is being closed. */
        CLOSING;

        private int bit() {
            return 1 << ordinal();
        }
    }

    /** A request of {@code bytes} came in. */
    public void onRequest(long bytes) {
        pendingRequests++;
        pendingBytes += bytes;
        if (pendingRequests >= requestsMax || pendingBytes >= bytesMax) {
            stop(Reason.PENDING);
        }
    }

    /** Its answer left, or there is none. */
    public void onAnswered(long bytes) {
        pendingRequests--;
        pendingBytes -= bytes;
        Invariant.check(pendingRequests >= 0 && pendingBytes >= 0, "answers follow requests", pendingRequests);
        if (pendingRequests <= requestsMax / 2 && pendingBytes <= bytesMax / 2) {
            go(Reason.PENDING);
        }
    }

    /** Sets a reason. */
    public void stop(Reason reason) {
        reasons |= reason.bit();
    }

    /** Lifts a reason. */
    public void go(Reason reason) {
        reasons &= ~reason.bit();
    }

    /** Whether a reason stands. */
    public boolean stands(Reason reason) {
        return (reasons & reason.bit()) != 0;
    }

    /** Whether the connection may be read from. */
    public boolean isOpen() {
        return reasons == 0;
    }

    /** Requests under way. */
    public int pendingRequests() {
        return pendingRequests;
    }

    /** Bytes of requests under way. */
    public long pendingBytes() {
        return pendingBytes;
    }
}
