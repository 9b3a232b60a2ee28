package io.varve.metadata.model;

import io.varve.base.PartitionId;

/**
 * The keys of objects in the bucket, below the prefix that the store is configured with and puts before each of them itself. A pure function of what
 * the metadata service knows, so that the key of an attempt whose bookie never came back can be named and deleted (I-11).
 *
 * <pre>
 * clusterId / topic, 32 hex digits / partition / start offset, 20 digits - attempt id, 16 hex digits .seg
 * clusterId / topic, 32 hex digits / partition / manifest / generation, 16 hex digits .root
 * clusterId / topic, 32 hex digits / partition / manifest / generation, 16 hex digits - number, 4 digits .leaf
 * </pre>
 */
public final class ObjectKeys {

    private ObjectKeys() {}

    /**
     * The key of one attempt to offload a stretch of a partition.
     *
     * @param startOffset of the first segment in it
     * @param attemptId the task's id: never given twice, and so is the key
     */
    public static String segment(String clusterId, PartitionId partition, long startOffset, long attemptId) {
        StringBuilder key = new StringBuilder(clusterId.length() + 90);
        key.append(clusterId)
                .append('/')
                .append(partition.topic())
                .append('/')
                .append(partition.index())
                .append('/');
        appendPadded(key, Long.toString(startOffset), 20);
        key.append('-');
        appendPadded(key, Long.toHexString(attemptId), 16);
        return key.append(".seg").toString();
    }

    /** What all keys of a partition begin with. */
    public static String partitionPrefix(String clusterId, PartitionId partition) {
        return clusterPrefix(clusterId) + partition.topic() + "/" + partition.index() + "/";
    }

    /** What the keys of a partition's manifests begin with. */
    public static String manifestPrefix(String clusterId, PartitionId partition) {
        return partitionPrefix(clusterId, partition) + "manifest/";
    }

    /**
     * The key of a manifest's root.
     *
     * @param generation the id of the task that wrote it: never given twice, and so is the key
     */
    public static String manifestRoot(String clusterId, PartitionId partition, long generation) {
        StringBuilder key = new StringBuilder(manifestPrefix(clusterId, partition));
        appendPadded(key, Long.toHexString(generation), 16);
        return key.append(".root").toString();
    }

    /**
     * The key of a leaf of a manifest.
     *
     * @param generation the id of the task that wrote it
     * @param number which of the leaves that it wrote, from 0
     */
    public static String manifestLeaf(String clusterId, PartitionId partition, long generation, int number) {
        StringBuilder key = new StringBuilder(manifestPrefix(clusterId, partition));
        appendPadded(key, Long.toHexString(generation), 16);
        key.append('-');
        appendPadded(key, Integer.toString(number), 4);
        return key.append(".leaf").toString();
    }

    /** What all keys of a cluster begin with. */
    public static String clusterPrefix(String clusterId) {
        return clusterId + "/";
    }

    private static void appendPadded(StringBuilder to, String digits, int width) {
        for (int i = digits.length(); i < width; i++) {
            to.append('0');
        }
        to.append(digits);
    }
}
