package io.varve.serving.request;

import java.util.List;
import java.util.Optional;

/**
 * The broker's own configuration, for clients that ask for it.
 *
 * @param entries every key of its file, in order
 */
public record BrokerConfigs(List<Entry> entries) {

    public BrokerConfigs {
        entries = List.copyOf(entries);
    }

    /**
     * @param name the key
     * @param set the value in the file, the environment or on the command line; empty if it isn't set
     * @param defaultValue what holds if it isn't; empty if there is none
     * @param doc what it is for
     */
    public record Entry(String name, Optional<String> set, Optional<String> defaultValue, String doc) {}
}
