package io.varve.cli.role;

import io.varve.protocol.config.Config;
import io.varve.protocol.config.ConfigFiles;
import io.varve.protocol.config.ConfigSchema;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/** What every role's command takes. */
public final class RoleOptions {

    @Option(names = "--config", paramLabel = "FILE", description = "The role's configuration file.")
    private Path file;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Sets a key, over what the file and the environment say. May be given many times.")
    private Map<String, String> overrides = new TreeMap<>();

    @Option(names = "--while-input-open", description = "Stops, too, when the standard input ends.")
    private boolean whileInputOpen;

    /**
     * The checked configuration: file, environment, {@code --set}.
     *
     * @throws io.varve.base.StartupException BAD_CONFIG with the key that is wrong
     */
    public Config load(ConfigSchema schema) {
        return file == null
                ? schema.check("the command line", Map.of(), System.getenv(), overrides)
                : ConfigFiles.load(schema, file, overrides);
    }

    /** Whether the end of the standard input stops the process, too. */
    public boolean whileInputOpen() {
        return whileInputOpen;
    }
}
