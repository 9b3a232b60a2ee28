package io.varve.protocol.rpc;

/** The process at the other end of one connection to a server. Safe for any thread. Two connections of one process are two peers. */
public interface RpcPeer {

    /** Who it said it is. */
    RpcIdentity identity();

    /** The protocol version in use on this connection. */
    int version();

    /** Its address, for people. */
    String remoteAddress();

    /**
     * Whether the peer takes its answers as fast as they come: while it does not, work that makes large ones should wait. Stale at once unless asked on the
     * connection's event loop.
     */
    boolean isWritable();

    /** Runs {@code task} on the connection's event loop once the peer takes its answers again, or is gone; soon, if it takes them now. */
    void whenWritable(Runnable task);

    /** Runs {@code task} on the connection's event loop; at once if this is it. False, without running it, if the loop has stopped. */
    boolean execute(Runnable task);

    /** Breaks the connection. */
    void disconnect(String reason);
}
