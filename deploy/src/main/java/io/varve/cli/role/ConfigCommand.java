package io.varve.cli.role;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Configuration files. */
@Command(name = "config", description = "Helps with configuration files.")
public final class ConfigCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Which command?");
    }

    @Command(name = "sample", description = "Prints a commented configuration file with every key at its default.")
    int sample(@Parameters(paramLabel = "ROLE", description = "One of ${COMPLETION-CANDIDATES}.") Role role) {
        System.out.print(role.schema().sample());
        return 0;
    }
}
