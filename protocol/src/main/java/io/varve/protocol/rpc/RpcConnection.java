package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A lasting way to one target: it connects at once, and again with jittered exponential backoff whenever the connection is lost, until it is
 * closed. Safe for any thread. A call or stream begun while there is no connection waits for the attempt under way, or else the next one,
 * and shares its fate; it is never carried over from one connection to the next.
 */
public interface RpcConnection extends AutoCloseable {

    /** Who is called. */
    RpcTarget target();

    /** How it stands. */
    State state();

    /** Who answered, while there is a connection. */
    Optional<RpcIdentity> peer();

    /**
     * Asks.
     *
     * @param body taken over: one reference, also if the call fails
     * @param timeoutMs positive. Counted from now, to about ten milliseconds; also carried to the server
     * @return the reply's body, which the receiver releases; or fails with {@link RpcException}. Completes on the connection's event loop
     */
    CompletableFuture<ByteBuf> call(int method, ByteBuf body, long timeoutMs);

    /** Opens a stream. Messages may be sent at once. */
    RpcStream openStream(int method, RpcStreamHandler handler);

    /** Fails what is under way and stops reconnecting. Nothing the second time. */
    @Override
    void close();

    /** How a connection stands. */
    enum State {
        /** An attempt is under way. */
        CONNECTING,
        /** Hellos were exchanged. */
        READY,
        /** The last attempt failed or the connection was lost; the next attempt waits. */
        WAITING,
        /** Closed by its user. */
        CLOSED
    }

    /** Is told how a connection stands. */
    @FunctionalInterface
    interface Listener {
        /** Hears nothing. */
        Listener DEAF = (connection, state, reason) -> {};

        /**
         * Called on the connection's event loop, in order; must not block.
         *
         * @param reason one line, empty unless {@code state} is WAITING
         */
        void onState(RpcConnection connection, State state, String reason);

        /** The peer is about to stop: nothing new should be begun there; what is under way may finish. */
        default void onPeerClosing(RpcConnection connection, String reason) {}
    }
}
