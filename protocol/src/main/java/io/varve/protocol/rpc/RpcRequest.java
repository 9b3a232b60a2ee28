package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;

/**
 * One call as the service sees it. Must be answered exactly once, by {@link #reply} or {@link #fail}, by any thread; until then it counts
 * against the bounds of its connection and of the server. An answer to a connection that is gone is dropped.
 */
public interface RpcRequest {

    /** Which method, 0 to 65535. */
    int method();

    /** The body: a view of the network buffer, valid during {@link RpcService#onRequest} only. Who keeps it retains it, and releases it later. */
    ByteBuf body();

    /** When the caller gives up, by this process's {@link io.varve.base.Clock#nanoTime()}. Work that can't be done by then should not begin. */
    long deadlineNanos();

    /** Who asks. */
    RpcPeer peer();

    /** Answers. Takes over one reference of each part; the parts are sent one after the other as one body. */
    void reply(ByteBuf... parts);

    /** Answers that it was not, or not certainly, done. */
    void fail(RpcStatus status, String message);
}
