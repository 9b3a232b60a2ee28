package io.varve.protocol.rpc;

/**
 * The service's end of a stream. Each message counts against the bounds of the connection and the server, with its bytes, until the service
 * says that it is done with them: that is the stream's back-pressure.
 */
public interface RpcServerStream extends RpcStream {

    /** Which method it was opened for. */
    int method();

    /** Who opened it. */
    RpcPeer peer();

    /**
     * The service is done with messages of that many bytes of body in all. Must be called for every byte received, also after the stream has
     * ended; by any thread.
     */
    void consumed(int bytes);
}
