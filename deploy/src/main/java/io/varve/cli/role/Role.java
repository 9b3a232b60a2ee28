package io.varve.cli.role;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.bookie.server.BookieConfig;
import io.varve.bookie.server.BookieNode;
import io.varve.metadata.server.MetadataConfig;
import io.varve.metadata.server.MetadataNode;
import io.varve.protocol.config.Config;
import io.varve.protocol.config.ConfigKey;
import io.varve.protocol.config.ConfigSchema;
import io.varve.protocol.runtime.ProcessTerminatingFaultHandler;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.serving.server.ServingConfig;
import io.varve.serving.server.ServingNode;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/** The roles that a process can have: their configuration, and how a node of each is started. */
public enum Role {
    METADATA(MetadataConfig.SCHEMA) {
        @Override
        public RunningNode start(Config config, MeterRegistry registry) {
            MetadataNode node = MetadataNode.start(
                    MetadataConfig.of(config),
                    SystemClock.INSTANCE,
                    SystemRandomness.INSTANCE,
                    new ProcessTerminatingFaultHandler(),
                    registry);
            try {
                node.awaitFormed();
            } catch (RuntimeException e) {
                node.close();
                throw e;
            }
            return RunningNode.of(node.mustStop(), node::close);
        }
    },
    BOOKIE(BookieConfig.SCHEMA) {
        @Override
        public RunningNode start(Config config, MeterRegistry registry) {
            BookieNode node = BookieNode.start(BookieConfig.of(config), registry, new ProcessTerminatingFaultHandler());
            return RunningNode.of(node.mustStop(), node::close);
        }
    },
    BROKER(ServingConfig.schema()) {
        @Override
        public RunningNode start(Config config, MeterRegistry registry) {
            ServingNode node =
                    ServingNode.start(new ServingConfig(config), registry, new ProcessTerminatingFaultHandler());
            return RunningNode.of(new CompletableFuture<>(), node::close);
        }
    };

    private final ConfigSchema schema;

    Role(ConfigSchema schema) {
        this.schema = ProcessKeys.addTo(schema);
    }

    /** Its configuration keys. */
    public ConfigSchema schema() {
        return schema;
    }

    /** Whether it has a key of that name. */
    public boolean hasKey(String name) {
        return schema.keys().stream().map(ConfigKey::name).anyMatch(name::equals);
    }

    /**
     * Starts a node, and returns when it serves.
     *
     * @throws io.varve.base.StartupException if it can't start; nothing of it is left running
     */
    public abstract RunningNode start(Config config, MeterRegistry registry);

    /** As on the command line and in file names. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
