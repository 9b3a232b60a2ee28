package io.varve.itest.cluster;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a cluster is made of.
 *
 * @param metadata how many metadata nodes: 1, 3 or 5
 * @param brokerConfig over and above what the harness sets
 * @param bookieConfig likewise
 * @param metadataConfig likewise
 * @param isMeasured whether the processes run with the JVM options of {@code bin/varve} instead of those that start quickly
 */
public record ClusterShape(
        int metadata,
        int bookies,
        int brokers,
        SortedMap<String, String> metadataConfig,
        SortedMap<String, String> bookieConfig,
        SortedMap<String, String> brokerConfig,
        boolean isMeasured) {

    public static ClusterShape of(int metadata, int bookies, int brokers) {
        return new ClusterShape(metadata, bookies, brokers, new TreeMap<>(), new TreeMap<>(), new TreeMap<>(), false);
    }

    /** The same, for a test that says how fast something is. */
    public ClusterShape measured() {
        return new ClusterShape(metadata, bookies, brokers, metadataConfig, bookieConfig, brokerConfig, true);
    }

    public ClusterShape withBroker(String key, String value) {
        return new ClusterShape(
                metadata, bookies, brokers, metadataConfig, bookieConfig, with(brokerConfig, key, value), isMeasured);
    }

    public ClusterShape withBookie(String key, String value) {
        return new ClusterShape(
                metadata, bookies, brokers, metadataConfig, with(bookieConfig, key, value), brokerConfig, isMeasured);
    }

    /** With the same store for bookies and brokers. */
    public ClusterShape withStore(Map<String, String> config) {
        ClusterShape shape = this;
        for (Map.Entry<String, String> key : config.entrySet()) {
            shape = shape.withBookie(key.getKey(), key.getValue()).withBroker(key.getKey(), key.getValue());
        }
        return shape;
    }

    public ClusterShape withMetadata(String key, String value) {
        return new ClusterShape(
                metadata, bookies, brokers, with(metadataConfig, key, value), bookieConfig, brokerConfig, isMeasured);
    }

    private static SortedMap<String, String> with(SortedMap<String, String> config, String key, String value) {
        SortedMap<String, String> copy = new TreeMap<>(config);
        copy.put(key, value);
        return copy;
    }
}
