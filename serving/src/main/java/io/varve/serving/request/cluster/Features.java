package io.varve.serving.request.cluster;

import java.util.List;

/**
 * The features that clients ask for by level (KIP-584), as Kafka 4.4 numbers them and as far as they work here. All are finalised at the most
 * that is supported: a cluster has one release at a time and its brokers advertise the same.
 */
final class Features {

    /** Kafka's 4.4-IV2: tools take it for the release of the cluster. */
    private static final short METADATA_VERSION = 33;

    private Features() {}

    /**
     * @param least the lowest level that is supported
     * @param most the highest, at which it is finalised; 0 if it is off
     */
    record Feature(String name, short least, short most) {}

    static final List<Feature> ALL = List.of(
            new Feature("metadata.version", (short) 7, METADATA_VERSION),
            new Feature("group.version", (short) 0, (short) 1),
            new Feature("transaction.version", (short) 0, (short) 2),
            new Feature("streams.version", (short) 0, (short) 1),
            new Feature("share.version", (short) 0, (short) 1));
}
