package io.varve.protocol.config;

import io.varve.base.StartupException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** All keys that a role's file may have, in the order of its sample file, under headings. */
public final class ConfigSchema {

    /** A name this far from a known one is taken for a slip of the pen. */
    private static final int TYPOS_MAX = 4;

    private final String role;
    private final Map<String, ConfigKey<?>> keys;
    private final Map<String, String> headings;

    private ConfigSchema(String role, Map<String, ConfigKey<?>> keys, Map<String, String> headings) {
        this.role = role;
        this.keys = keys;
        this.headings = headings;
    }

    /** Starts a schema. */
    public static Builder of(String role) {
        return new Builder(role);
    }

    /** Whose it is: {@code metadata}, {@code bookie}, {@code broker}. */
    public String role() {
        return role;
    }

    /** Its keys in order. */
    public Collection<ConfigKey<?>> keys() {
        return keys.values();
    }

    /** This schema, with more keys at its end under a heading of their own. */
    public ConfigSchema with(String heading, ConfigKey<?>... more) {
        Builder builder = new Builder(role);
        builder.keys.putAll(keys);
        builder.headings.putAll(headings);
        return builder.heading(heading).keys(more).build();
    }

    /**
     * Checks what stands in a file, and what overrides it.
     *
     * @param source the file's name, for messages
     * @param file keys and values as they stand in it
     * @param environment the process's; only {@code VARVE_…} names of known keys count, because orchestrators put names of their own there
     * @param overrides from the command line; the strongest
     * @throws StartupException BAD_CONFIG in one line with the key, the source and what would be right
     */
    public Config check(
            String source, Map<String, String> file, Map<String, String> environment, Map<String, String> overrides) {
        Map<String, String> given = new TreeMap<>();
        Map<String, String> whence = new TreeMap<>();
        file.forEach((name, value) -> put(given, whence, name, value, source));
        for (ConfigKey<?> key : keys.values()) {
            String value = environment.get(key.environmentName());
            if (value != null) {
                put(given, whence, key.name(), value, "the environment (" + key.environmentName() + ")");
            }
        }
        overrides.forEach((name, value) -> put(given, whence, name, value, "the command line"));

        Map<String, Object> values = new TreeMap<>();
        given.forEach((name, value) -> {
            ConfigKey<?> key = keys.get(name);
            if (key == null) {
                throw bad("Unknown key " + name + " in " + whence.get(name) + hint(name));
            }
            try {
                values.put(name, key.parse(value));
            } catch (ConfigKey.WrongValue e) {
                throw bad("Wrong value of " + name + " in " + whence.get(name) + ": \"" + value + "\" " + e.getMessage()
                        + "; it takes " + key.type());
            }
        });
        for (ConfigKey<?> key : keys.values()) {
            if (!values.containsKey(key.name())) {
                if (key.isRequired()) {
                    throw bad("Missing key " + key.name() + " in " + source + ": " + key.doc());
                }
                key.defaultText().ifPresent(text -> values.put(key.name(), key.parse(text)));
            }
        }
        return new Config(source, values, whence);
    }

    /** The known key that {@code name} was most likely meant to be. */
    public Optional<String> nearest(String name) {
        String nearest = null;
        int fewest = TYPOS_MAX + 1;
        for (String known : keys.keySet()) {
            int typos = EditDistance.between(name, known);
            if (typos < fewest) {
                fewest = typos;
                nearest = known;
            }
        }
        return Optional.ofNullable(nearest);
    }

    /** A commented file with every key at its default, and the required ones to be filled in. */
    public String sample() {
        StringBuilder text = new StringBuilder();
        text.append("# Varve ").append(role).append(" configuration.\n");
        text.append("# Keys with a leading # stand at their defaults. The environment overrides this file:\n");
        text.append("# VARVE_SOME_KEY for some.key.\n");
        for (ConfigKey<?> key : keys.values()) {
            String heading = headings.get(key.name());
            if (heading != null) {
                text.append("\n# ---- ").append(heading).append(" ----\n");
            }
            text.append('\n');
            wrap(text, key.doc());
            text.append("# (").append(key.type());
            text.append(key.isRequired() ? "; required" : key.defaultText().isPresent() ? "" : "; may be left out");
            text.append(")\n");
            text.append(key.isRequired() ? "" : "#").append(key.name()).append('=');
            text.append(key.defaultText().orElse("")).append('\n');
        }
        return text.toString();
    }

    private String hint(String name) {
        return nearest(name).map(known -> ": did you mean " + known + "?").orElse(": see the sample file of this role");
    }

    private static void put(
            Map<String, String> given, Map<String, String> whence, String name, String value, String source) {
        given.put(name, value);
        whence.put(name, source);
    }

    private static StartupException bad(String line) {
        return new StartupException(StartupException.Reason.BAD_CONFIG, line);
    }

    private static void wrap(StringBuilder text, String doc) {
        List<String> line = new ArrayList<>();
        int length = 0;
        for (String word : doc.split(" ")) {
            if (length + word.length() > 100) {
                text.append("# ").append(String.join(" ", line)).append('\n');
                line.clear();
                length = 0;
            }
            line.add(word);
            length += word.length() + 1;
        }
        text.append("# ").append(String.join(" ", line)).append('\n');
    }

    /** Collects a schema's keys. */
    public static final class Builder {
        private final String role;
        private final Map<String, ConfigKey<?>> keys = new LinkedHashMap<>();
        private final Map<String, String> headings = new LinkedHashMap<>();
        private String heading;

        private Builder(String role) {
            this.role = role;
        }

        /** The keys that follow belong under this heading. */
        public Builder heading(String text) {
            heading = text;
            return this;
        }

        /** Adds keys. */
        public Builder keys(ConfigKey<?>... added) {
            for (ConfigKey<?> key : added) {
                if (keys.put(key.name(), key) != null) {
                    throw new IllegalArgumentException("Key declared twice: " + key.name());
                }
                if (heading != null) {
                    headings.put(key.name(), heading);
                    heading = null;
                }
            }
            return this;
        }

        /** The schema. */
        public ConfigSchema build() {
            return new ConfigSchema(role, new LinkedHashMap<>(keys), new LinkedHashMap<>(headings));
        }
    }
}
