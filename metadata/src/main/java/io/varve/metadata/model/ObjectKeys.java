package io.varve.metadata.model;

import io.varve.base.PartitionId;

/**
 * The keys of objects in the bucket, below the prefix that the store is configured with and puts before each of them itself. A pure function of what
 * the metadata service knows, so that the key of an attempt whose bookie never came back can be named and deleted (I-11).
 *
 * <pre>
 * clusterId / topic, 32 hex digits / partition / start offset, 20 digits - attempt id, 16 hex digits .seg
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
