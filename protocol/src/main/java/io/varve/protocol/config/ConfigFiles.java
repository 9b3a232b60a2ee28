package io.varve.protocol.config;

import io.varve.base.StartupException;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/** Reads configuration files: {@code .properties} form, UTF-8. */
public final class ConfigFiles {

    private ConfigFiles() {}

    /**
     * Reads a file and checks it.
     *
     * @param overrides from the command line; the strongest
     * @throws StartupException BAD_CONFIG in one line
     */
    public static Config load(ConfigSchema schema, Path file, Map<String, String> overrides) {
        return load(schema, file, System.getenv(), overrides);
    }

    /** {@link #load(ConfigSchema, Path, Map)} with another environment than the process's. */
    public static Config load(
            ConfigSchema schema, Path file, Map<String, String> environment, Map<String, String> overrides) {
        String text;
        try {
            text = Files.readString(file);
        } catch (NoSuchFileException e) {
            throw bad("There is no configuration file " + file);
        } catch (IOException e) {
            throw bad("Can't read the configuration file " + file + ": " + e);
        }
        return schema.check(file.toString(), parse(file.toString(), text), environment, overrides);
    }

    /**
     * The keys and values of a text in {@code .properties} form.
     *
     * @param source for messages
     * @throws StartupException BAD_CONFIG if it has a key twice or a malformed escape
     */
    public static Map<String, String> parse(String source, String text) {
        Map<String, String> values = new TreeMap<>();
        Properties properties = new Properties() {
            private static final long serialVersionUID = 1L;

            @Override
            public synchronized Object put(Object key, Object value) {
                if (values.put((String) key, (String) value) != null) {
                    throw bad("The key " + key + " stands twice in " + source);
                }
                return null;
            }
        };
        try (Reader reader = new StringReader(text)) {
            properties.load(reader);
        } catch (IOException | IllegalArgumentException e) {
            throw bad("Malformed text in " + source + ": " + e.getMessage());
        }
        return values;
    }

    private static StartupException bad(String line) {
        return new StartupException(StartupException.Reason.BAD_CONFIG, line);
    }
}
