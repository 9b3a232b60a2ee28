package io.varve.cli.admin;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The object store. */
@Command(
        name = "bucket",
        description = "Looks after the object store.",
        subcommands = {BucketCheckCommand.class, BucketScrubCommand.class})
public final class BucketCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Which command?");
    }
}
