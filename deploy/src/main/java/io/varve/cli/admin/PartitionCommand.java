package io.varve.cli.admin;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** What an operator does to one partition. */
@Command(
        name = "partition",
        description = "Mends a partition that can't mend itself.",
        subcommands = PartitionSealCommand.class)
public final class PartitionCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Which command?");
    }
}
