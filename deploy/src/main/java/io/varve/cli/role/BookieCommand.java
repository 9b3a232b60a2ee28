package io.varve.cli.role;

import io.varve.cli.admin.BookieDiskCommands;
import io.varve.cli.admin.BookieDrainCommand;
import io.varve.cli.admin.BookieRemoveCommand;
import picocli.CommandLine.Command;

/** {@code varve bookie}. */
@Command(
        name = "bookie",
        description = "A bookie: keeps replicas of segments on its disks, and moves what is sealed to object storage.",
        subcommands = {
            BookieDrainCommand.class,
            BookieRemoveCommand.class,
            BookieDiskCommands.Inspect.class,
            BookieDiskCommands.Verify.class,
            BookieDiskCommands.Dump.class
        })
public final class BookieCommand extends RoleCommand {

    public BookieCommand() {
        super(Role.BOOKIE);
    }
}
