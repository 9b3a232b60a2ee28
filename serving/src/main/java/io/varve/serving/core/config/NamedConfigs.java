package io.varve.serving.core.config;

import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The configuration of all resources of one kind, such as groups. It lives in the cluster's dynamic configuration, one key for each that is
 * set: {@code KIND.config/NAME/KEY}. A resource is there as long as anything of it is set. Immutable views of a map that doesn't change.
 */
public enum NamedConfigs {
    /** Groups, of every type. */
    GROUP("group"),
    /** What clients are asked to report of their metrics (KIP-714). */
    CLIENT_METRICS("client-metrics");

    private final String prefix;

    NamedConfigs(String kind) {
        this.prefix = kind + ".config/";
    }

    /** The key in the cluster's configuration under which {@code key} of the resource {@code name} lives. */
    public String clusterKey(String name, String key) {
        return prefix(name) + key;
    }

    /** What is set of one resource. */
    public SortedMap<String, String> of(String name, SortedMap<String, String> clusterConfigs) {
        String before = prefix(name);
        SortedMap<String, String> configs = new TreeMap<>();
        for (Map.Entry<String, String> config : clusterConfigs.tailMap(before).entrySet()) {
            if (!config.getKey().startsWith(before)) {
                break;
            }
            configs.put(config.getKey().substring(before.length()), config.getValue());
        }
        return configs;
    }

    /** The names of all that have anything set. */
    public SortedSet<String> names(SortedMap<String, String> clusterConfigs) {
        SortedSet<String> names = new TreeSet<>();
        for (String key : clusterConfigs.tailMap(prefix).keySet()) {
            if (!key.startsWith(prefix)) {
                break;
            }
            names.add(EscapedName.decode(key.substring(prefix.length(), key.indexOf('/', prefix.length()))));
        }
        return names;
    }

    private String prefix(String name) {
        return prefix + EscapedName.encode(name) + '/';
    }
}
