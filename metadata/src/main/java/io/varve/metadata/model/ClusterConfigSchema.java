package io.varve.metadata.model;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Keys that are set for the whole cluster while it runs, and stand for nothing of a topic's. */
public final class ClusterConfigSchema {

    /** Stops uploads of all topics: what is sealed stays on the bookies until they go on. */
    public static final ConfigDefinition UPLOADS_PAUSED = new ConfigDefinition(
            "tiering.upload.pause",
            ConfigDefinition.Type.BOOLEAN,
            "false",
            Optional.empty(),
            ConfigDefinition.Range.ANY,
            List.of(),
            "Whether nothing is uploaded to object storage for now. What is sealed stays on the bookies until then.");

    /** How long an object stays that nothing names any longer, in milliseconds, unless it is set. */
    public static final long OBJECT_GRACE_MS_DEFAULT = 60_000;

    /** Sets how long such an object stays. Part of the state, for it is decided with. */
    public static final ConfigDefinition OBJECT_GRACE_MS = new ConfigDefinition(
            "metadata.object.grace.ms",
            ConfigDefinition.Type.LONG,
            Long.toString(OBJECT_GRACE_MS_DEFAULT),
            Optional.empty(),
            ConfigDefinition.Range.atLeast(0),
            List.of(),
            "How long an object in the bucket stays that nothing names any longer: readers may still be on it.");

    /**
     * Under this key stands what the keys of a restored cluster's objects begin with. Written by a restore alone, and no key that anybody can set.
     */
    public static final String BUCKET_ID = "tiering.bucket.id";

    private ClusterConfigSchema() {}

    /** All of them. */
    public static List<ConfigDefinition> all() {
        return List.of(UPLOADS_PAUSED, OBJECT_GRACE_MS);
    }

    /** How long an object stays that nothing names any longer, as the cluster's dynamic configuration says. */
    public static long objectGraceMs(Map<String, String> clusterConfigs) {
        String value = clusterConfigs.getOrDefault(OBJECT_GRACE_MS.name(), OBJECT_GRACE_MS.defaultValue());
        return OBJECT_GRACE_MS.problemOf(value).isPresent() ? OBJECT_GRACE_MS_DEFAULT : Long.parseLong(value.trim());
    }

    /** Whether the cluster's dynamic configuration stops uploads. */
    public static boolean areUploadsPaused(Map<String, String> clusterConfigs) {
        return Boolean.parseBoolean(
                clusterConfigs.getOrDefault(UPLOADS_PAUSED.name(), "false").trim());
    }
}
