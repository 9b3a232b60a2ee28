package io.varve.protocol.rpc;

/** The process at the other end of one connection to a server. Safe for any thread. Two connections of one process are two peers. */
public interface RpcPeer {

    /** Who it said it is. */
    RpcIdentity identity();

    /** The protocol version in use on this connection. */
    int version();

    /** Its address, for people. */
    String remoteAddress();

    /** Breaks the connection. */
    void disconnect(String reason);
}
