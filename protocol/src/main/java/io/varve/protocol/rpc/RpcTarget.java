package io.varve.protocol.rpc;

import java.util.Objects;

/**
 * Where to connect, and who must answer there: an address does not make a node.
 *
 * @param role who is expected; {@link RpcRole#ANY} for whoever
 * @param nodeId which number is expected; {@link RpcIdentity#NO_NODE} for whichever
 */
public record RpcTarget(String host, int port, RpcRole role, int nodeId) {
    public RpcTarget {
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(role, "role");
        if (port < 1 || port > 65535) {
            throw new IllegalArgumentException("A port is 1 to 65535: " + port);
        }
    }

    @Override
    public String toString() {
        return (role == RpcRole.ANY ? "" : new RpcIdentity(role, nodeId, 0, "") + " at ") + host + ":" + port;
    }
}
