package io.varve.cli.restore;

import io.varve.base.StartupException;
import java.util.Map;
import java.util.TreeMap;

/** Where a bucket is, as one argument says it: {@code s3://BUCKET[/PREFIX]}, or {@code file:DIRECTORY} for the local store. */
final class BucketPlace {

    private static final String S3 = "s3://";
    private static final String FILE = "file:";

    private BucketPlace() {}

    /**
     * The tiering keys that it stands for.
     *
     * @throws StartupException BAD_CONFIG if it is neither
     */
    static Map<String, String> keys(String place) {
        Map<String, String> keys = new TreeMap<>();
        if (place.startsWith(S3) && place.length() > S3.length()) {
            String[] parts = place.substring(S3.length()).split("/", 2);
            keys.put("tiering.store", "s3");
            keys.put("tiering.s3.bucket", parts[0]);
            if (parts.length > 1 && !parts[1].isEmpty()) {
                keys.put(
                        "tiering.prefix",
                        parts[1].endsWith("/") ? parts[1].substring(0, parts[1].length() - 1) : parts[1]);
            }
            return keys;
        }
        if (place.startsWith(FILE) && place.length() > FILE.length()) {
            String path = place.substring(FILE.length());
            keys.put("tiering.store", "local");
            keys.put("tiering.local.dir", path.startsWith("//") ? path.substring(2) : path);
            return keys;
        }
        throw new StartupException(
                StartupException.Reason.BAD_CONFIG,
                "--from " + place + " is neither s3://BUCKET[/PREFIX] nor file:DIRECTORY");
    }
}
