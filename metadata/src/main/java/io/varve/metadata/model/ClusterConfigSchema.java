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

    /**
     * Under this key stands what the keys of a restored cluster's objects begin with. Written by a restore alone, and no key that anybody can set.
     */
    public static final String BUCKET_ID = "tiering.bucket.id";

    private ClusterConfigSchema() {}

    /** All of them. */
    public static List<ConfigDefinition> all() {
        return List.of(UPLOADS_PAUSED);
    }

    /** Whether the cluster's dynamic configuration stops uploads. */
    public static boolean areUploadsPaused(Map<String, String> clusterConfigs) {
        return Boolean.parseBoolean(
                clusterConfigs.getOrDefault(UPLOADS_PAUSED.name(), "false").trim());
    }
}
