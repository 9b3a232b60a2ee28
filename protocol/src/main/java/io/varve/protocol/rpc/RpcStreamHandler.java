package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;

/** The receiving end of a stream, at either side. Called on the connection's event loop, in order; must not block. */
public interface RpcStreamHandler {

    /** Hears nothing: for streams that were ended at once. */
    RpcStreamHandler DEAF = new RpcStreamHandler() {
        @Override
        public void onMessage(ByteBuf body) {}

        @Override
        public void onEnd(RpcStatus status, String message) {}
    };

    /** The other side sent a message. {@code body} is valid during the call only: who keeps it retains it. */
    void onMessage(ByteBuf body);

    /**
     * The stream is over: the other side ended it, or the connection is gone ({@link RpcStatus#NO_ANSWER}; or {@link RpcStatus#NOT_SENT} if it
     * never came about). Comes last and once, and not at all after this side ended the stream.
     */
    void onEnd(RpcStatus status, String message);

    /** The connection can take messages again after {@link RpcStream#isWritable()} was false. */
    default void onWritable() {}
}
