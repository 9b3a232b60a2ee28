package io.varve.metadata.core;

import java.util.Map;

/**
 * How long an object stays that nothing names any longer: readers may still be on it. Part of the state, because it is decided with: the cluster's own
 * {@value #KEY}, if an operator set one.
 */
final class ObjectGrace {

    /** The cluster-wide configuration that sets it, in milliseconds. */
    static final String KEY = "metadata.object.grace.ms";

    /** Unless it is set. */
    static final long DEFAULT_MS = 60_000;

    private ObjectGrace() {}

    static long of(Map<String, String> clusterConfigs) {
        String value = clusterConfigs.get(KEY);
        try {
            return value == null ? DEFAULT_MS : Math.max(0, Long.parseLong(value.trim()));
        } catch (NumberFormatException notOne) {
            return DEFAULT_MS;
        }
    }
}
