package io.varve.cli.admin;

import io.varve.base.StartupException;
import io.varve.protocol.config.ConfigFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/** A role's configuration file, of which an operator's command needs some keys; the others are the role's own affair. */
final class RoleFile {

    private RoleFile() {}

    /**
     * The keys and values that are wanted.
     *
     * @param file null for none
     * @throws StartupException BAD_CONFIG if it can't be read
     */
    static Map<String, String> keys(Path file, Predicate<String> wanted) {
        Map<String, String> keys = new TreeMap<>();
        if (file == null) {
            return keys;
        }
        try {
            keys.putAll(ConfigFiles.parse(file.toString(), Files.readString(file)));
        } catch (NoSuchFileException e) {
            throw new StartupException(StartupException.Reason.BAD_CONFIG, "There is no configuration file " + file, e);
        } catch (IOException e) {
            throw new StartupException(
                    StartupException.Reason.BAD_CONFIG, "Can't read the configuration file " + file + ": " + e, e);
        }
        keys.keySet().removeIf(wanted.negate());
        return keys;
    }

    /** Where such keys stand, for messages. */
    static String source(Path file) {
        return file == null ? "the command line" : file.toString();
    }
}
