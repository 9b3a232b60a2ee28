package io.varve.cli.role;

import io.varve.cli.admin.MetadataAddNodeCommand;
import io.varve.cli.admin.MetadataBackupCommand;
import io.varve.cli.admin.MetadataRemoveNodeCommand;
import io.varve.cli.admin.MetadataRestoreCommand;
import io.varve.cli.admin.MetadataStatusCommand;
import picocli.CommandLine.Command;

/** {@code varve metadata}. */
@Command(
        name = "metadata",
        description = "A node of the metadata service: who owns what. 1, 3 or 5 of them make a cluster's.",
        subcommands = {
            MetadataStatusCommand.class,
            MetadataBackupCommand.class,
            MetadataRestoreCommand.class,
            MetadataAddNodeCommand.class,
            MetadataRemoveNodeCommand.class
        })
public final class MetadataCommand extends RoleCommand {

    public MetadataCommand() {
        super(Role.METADATA);
    }
}
