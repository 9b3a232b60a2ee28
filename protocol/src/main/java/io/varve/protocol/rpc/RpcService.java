package io.varve.protocol.rpc;

/**
 * What a server does. Requests, stream openings and stream messages of one connection arrive in the order in which they were sent, on the
 * connection's event loop: must not block. Different connections arrive on different threads.
 */
public interface RpcService {

    /** A peer said hello and was accepted. Comes before all its requests. */
    default void onConnected(RpcPeer peer) {}

    /** Its connection ended: closed by either side, broken, or silent for too long. Comes after all its requests, exactly once. */
    default void onDisconnected(RpcPeer peer) {}

    /** Somebody asks. What this method throws is answered as {@link RpcStatus#INTERNAL}; an {@code Error} goes to the fault handler. */
    void onRequest(RpcRequest request);

    /**
     * Somebody opens a stream.
     *
     * @return who gets its messages; may have ended the stream already
     */
    default RpcStreamHandler onStream(RpcServerStream stream) {
        stream.end(RpcStatus.UNSUPPORTED, "no such stream: " + stream.method());
        return RpcStreamHandler.DEAF;
    }
}
