package io.varve.itest.cluster;

import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a cluster is made of.
 *
 * @param metadata how many metadata nodes: 1, 3 or 5
 * @param brokerConfig over and above what the harness sets
 * @param bookieConfig likewise
 * @param metadataConfig likewise
 */
public record ClusterShape(
        int metadata,
        int bookies,
        int brokers,
        SortedMap<String, String> metadataConfig,
        SortedMap<String, String> bookieConfig,
        SortedMap<String, String> brokerConfig) {

    public static ClusterShape of(int metadata, int bookies, int brokers) {
        return new ClusterShape(metadata, bookies, brokers, new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
    }

    public ClusterShape withBroker(String key, String value) {
        return new ClusterShape(
                metadata, bookies, brokers, metadataConfig, bookieConfig, with(brokerConfig, key, value));
    }

    public ClusterShape withBookie(String key, String value) {
        return new ClusterShape(
                metadata, bookies, brokers, metadataConfig, with(bookieConfig, key, value), brokerConfig);
    }

    public ClusterShape withMetadata(String key, String value) {
        return new ClusterShape(
                metadata, bookies, brokers, with(metadataConfig, key, value), bookieConfig, brokerConfig);
    }

    private static SortedMap<String, String> with(SortedMap<String, String> config, String key, String value) {
        SortedMap<String, String> copy = new TreeMap<>(config);
        copy.put(key, value);
        return copy;
    }
}
