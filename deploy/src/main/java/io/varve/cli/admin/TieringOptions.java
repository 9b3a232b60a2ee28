package io.varve.cli.admin;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.StartupException;
import io.varve.protocol.config.ConfigFiles;
import io.varve.protocol.config.ConfigSchema;
import io.varve.protocol.runtime.ProcessTerminatingFaultHandler;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.tiering.client.Tiering;
import io.varve.tiering.client.TieringConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/** How an operator's command finds the object store: the {@code tiering.} keys of a bookie's or broker's file, or {@code --set}. */
public final class TieringOptions {

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "A bookie's or broker's configuration file: its tiering keys.")
    private Path file;

    @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Sets a tiering key, over what the file says.")
    private Map<String, String> overrides = new TreeMap<>();

    /** The store. The caller closes it. */
    Tiering open(String bucketId) {
        return open(bucketId, Map.of());
    }

    /**
     * The store. The caller closes it.
     *
     * @param more keys that go before all others
     */
    public Tiering open(String bucketId, Map<String, String> more) {
        Map<String, String> set = new TreeMap<>(overrides);
        set.putAll(more);
        ConfigSchema schema = TieringConfig.addTo(ConfigSchema.of("tiering")).build();
        String source = file == null ? "the command line" : file.toString();
        TieringConfig config = new TieringConfig(schema.check(source, tieringKeys(), System.getenv(), set));
        return Tiering.open(
                config,
                bucketId,
                SystemClock.INSTANCE,
                SystemRandomness.INSTANCE,
                new SimpleMeterRegistry(),
                new ProcessTerminatingFaultHandler());
    }

    private Map<String, String> tieringKeys() {
        Map<String, String> keys = new TreeMap<>();
        if (file != null) {
            try {
                keys.putAll(ConfigFiles.parse(file.toString(), Files.readString(file)));
            } catch (IOException e) {
                throw new StartupException(
                        StartupException.Reason.BAD_CONFIG, "Can't read the configuration file " + file + ": " + e, e);
            }
            keys.keySet().removeIf(key -> !key.startsWith("tiering."));
        }
        return keys;
    }
}
