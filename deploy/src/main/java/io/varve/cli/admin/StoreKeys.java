package io.varve.cli.admin;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.protocol.config.ConfigSchema;
import io.varve.protocol.runtime.ProcessTerminatingFaultHandler;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.tiering.client.Tiering;
import io.varve.tiering.client.TieringConfig;
import java.nio.file.Path;
import java.util.Map;

/**
 * The keys by which an operator's command finds the object store.
 *
 * @param file null for none
 * @param overrides over what the file and the environment say
 */
record StoreKeys(Path file, Map<String, String> overrides) {

    private static final String PREFIX = "tiering.";

    /**
     * A store that the cluster has written to. The caller closes it.
     *
     * @param bucketId what the keys of the cluster's objects begin with
     * @throws io.varve.base.StartupException BAD_CONFIG, or NO_BUCKET if it is a directory where no store is
     */
    Tiering open(String bucketId) {
        return Tiering.openExisting(
                config(),
                bucketId,
                SystemClock.INSTANCE,
                SystemRandomness.INSTANCE,
                new SimpleMeterRegistry(),
                new ProcessTerminatingFaultHandler());
    }

    /**
     * A store that may be new: a directory is made. The caller closes it.
     *
     * @throws io.varve.base.StartupException BAD_CONFIG, or NO_BUCKET if a directory can't be used
     */
    Tiering openNew() {
        return Tiering.open(
                config(),
                "",
                SystemClock.INSTANCE,
                SystemRandomness.INSTANCE,
                new SimpleMeterRegistry(),
                new ProcessTerminatingFaultHandler());
    }

    private TieringConfig config() {
        ConfigSchema schema = TieringConfig.addTo(ConfigSchema.of("tiering")).build();
        return new TieringConfig(schema.check(
                RoleFile.source(file), RoleFile.keys(file, key -> key.startsWith(PREFIX)), System.getenv(), overrides));
    }
}
