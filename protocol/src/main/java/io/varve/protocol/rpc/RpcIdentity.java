package io.varve.protocol.rpc;

import java.util.Objects;

/**
 * Who a process says it is.
 *
 * @param role what it is
 * @param nodeId its number among those of its role; {@code -1} for tools
 * @param incarnation random, new at every start of the process
 * @param clusterId the cluster's id, empty while the process does not know it; an empty one fits every cluster
 */
public record RpcIdentity(RpcRole role, int nodeId, long incarnation, String clusterId) {

    /** No number, or: any number. */
    public static final int NO_NODE = -1;

    public RpcIdentity {
        Objects.requireNonNull(role, "role");
        Objects.requireNonNull(clusterId, "clusterId");
    }

    /** The same process, with the cluster it turned out to belong to. */
    public RpcIdentity inCluster(String id) {
        return new RpcIdentity(role, nodeId, incarnation, id);
    }

    @Override
    public String toString() {
        return role.name().toLowerCase(java.util.Locale.ROOT) + (nodeId == NO_NODE ? "" : " " + nodeId);
    }
}
