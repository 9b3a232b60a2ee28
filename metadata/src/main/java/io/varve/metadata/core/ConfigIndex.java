package io.varve.metadata.core;

import java.util.Optional;
import org.pcollections.TreePMap;

/** Dynamic configuration: of the cluster, and by broker. Immutable. */
record ConfigIndex(TreePMap<String, String> cluster, TreePMap<Integer, TreePMap<String, String>> brokers) {

    static final ConfigIndex EMPTY = new ConfigIndex(TreePMap.empty(), TreePMap.empty());

    TreePMap<String, String> of(int broker) {
        TreePMap<String, String> configs = brokers.get(broker);
        return configs == null ? TreePMap.empty() : configs;
    }

    /** With a key of the cluster set, or not set any longer. */
    ConfigIndex with(String key, Optional<String> value) {
        return new ConfigIndex(put(cluster, key, value), brokers);
    }

    /** With a key of one broker set, or not set any longer. */
    ConfigIndex with(int broker, String key, Optional<String> value) {
        TreePMap<String, String> changed = put(of(broker), key, value);
        return new ConfigIndex(cluster, changed.isEmpty() ? brokers.minus(broker) : brokers.plus(broker, changed));
    }

    private static TreePMap<String, String> put(TreePMap<String, String> to, String key, Optional<String> value) {
        return value.isPresent() ? to.plus(key, value.get()) : to.minus(key);
    }
}
