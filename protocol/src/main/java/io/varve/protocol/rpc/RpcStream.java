package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;

/**
 * One ordered run of messages in both directions on a connection, beside its calls: for appends, whose acknowledgements are cumulative. Lives on
 * one connection: when that breaks the stream is over. Safe for any thread; the order is that of one thread's calls.
 */
public interface RpcStream {

    /**
     * Sends a message. Takes over one reference of each part; the parts are sent one after the other as one body. On a stream that is over they
     * are released and nothing else happens.
     */
    void send(ByteBuf... parts);

    /** Ends the stream from this side. Nothing the second time. */
    void end(RpcStatus status, String message);

    /** Whether the connection takes more without building up a queue: above its mark a sender should wait for {@code onWritable}. */
    boolean isWritable();

    /** Runs {@code task} on the connection's event loop, on which the messages arrive; at once if this is it. Dropped if the loop has stopped. */
    void execute(Runnable task);
}
