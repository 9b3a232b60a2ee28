package io.varve.protocol.config;

import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/** Checked values. Immutable. */
public final class Config {

    private final String source;
    private final Map<String, Object> values;
    private final Map<String, String> whence;

    Config(String source, Map<String, Object> values, Map<String, String> whence) {
        this.source = source;
        this.values = new TreeMap<>(values);
        this.whence = new TreeMap<>(whence);
    }

    /** The value of a key that is required or has a default. */
    public <T> T get(ConfigKey<T> key) {
        return find(key)
                .orElseThrow(() -> new IllegalArgumentException(key + " has no value and no default: use find"));
    }

    /** The value of a key that may have been left out. */
    @SuppressWarnings("unchecked") // The schema parsed the value with this very key.
    public <T> Optional<T> find(ConfigKey<T> key) {
        return Optional.ofNullable((T) values.get(key.name()));
    }

    /** Whether the key was set by somebody, rather than left to its default. */
    public boolean isSet(ConfigKey<?> key) {
        return whence.containsKey(key.name());
    }

    /** Where the key's value comes from, for messages: the file's name, the environment, the command line, or "the default". */
    public String whence(ConfigKey<?> key) {
        return Objects.requireNonNullElse(whence.get(key.name()), "the default");
    }

    /** The file's name, for messages. */
    public String source() {
        return source;
    }
}
