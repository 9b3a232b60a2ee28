package io.varve.tiering.core;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ObjectKeys;

/**
 * The keys of manifests, below the store's prefix:
 *
 * <pre>
 * cluster id / topic, 32 hex / partition / manifest / generation, 16 hex .root
 * cluster id / topic, 32 hex / partition / manifest / start offset, 20 digits - generation, 16 hex .leaf
 * </pre>
 */
public final class ManifestKeys {

    private ManifestKeys() {}

    /** The key of a root. */
    public static String root(String clusterId, PartitionId partition, long generation) {
        return directory(clusterId, partition) + hex(generation) + ".root";
    }

    /** The key of a leaf. */
    public static String leaf(String clusterId, PartitionId partition, long startOffset, long generation) {
        String digits = Long.toString(startOffset);
        return directory(clusterId, partition) + "0".repeat(20 - digits.length()) + digits + "-" + hex(generation)
                + ".leaf";
    }

    private static String directory(String clusterId, PartitionId partition) {
        return ObjectKeys.clusterPrefix(clusterId) + partition.topic() + "/" + partition.index() + "/manifest/";
    }

    private static String hex(long number) {
        String digits = Long.toHexString(number);
        return "0".repeat(16 - digits.length()) + digits;
    }
}
