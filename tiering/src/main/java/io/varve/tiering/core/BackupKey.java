package io.varve.tiering.core;

import io.varve.metadata.model.ObjectKeys;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The keys of metadata backups, in the order in which they were taken:
 *
 * <pre>
 * cluster id / backup / wall time in ms, 20 digits - version, 20 digits .meta
 * </pre>
 *
 * @param takenMs wall time of the bookie that took it
 * @param version of the metadata in it
 */
public record BackupKey(String clusterId, long takenMs, long version) {

    private static final Pattern SHAPE = Pattern.compile("backup/([0-9]{20})-([0-9]{20})\\.meta");

    /** What the keys of a cluster's backups begin with. */
    public static String prefix(String clusterId) {
        return ObjectKeys.clusterPrefix(clusterId) + "backup/";
    }

    /** The key. */
    public String key() {
        return prefix(clusterId) + padded(takenMs) + "-" + padded(version) + ".meta";
    }

    /** What a key says; nothing if it is no backup's of that cluster. */
    public static Optional<BackupKey> parse(String clusterId, String key) {
        String prefix = ObjectKeys.clusterPrefix(clusterId);
        if (!key.startsWith(prefix)) {
            return Optional.empty();
        }
        Matcher shape = SHAPE.matcher(key.substring(prefix.length()));
        if (!shape.matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new BackupKey(clusterId, Long.parseLong(shape.group(1)), Long.parseLong(shape.group(2))));
        } catch (NumberFormatException beyondOurNumbers) {
            return Optional.empty();
        }
    }

    private static String padded(long number) {
        String digits = Long.toString(number);
        return "0".repeat(20 - digits.length()) + digits;
    }
}
