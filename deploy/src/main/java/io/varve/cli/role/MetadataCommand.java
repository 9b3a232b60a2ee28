package io.varve.cli.role;

import picocli.CommandLine.Command;

/** {@code varve metadata}. */
@Command(
        name = "metadata",
        description = "A node of the metadata service: who owns what. 1, 3 or 5 of them make a cluster's.")
public final class MetadataCommand extends RoleCommand {

    public MetadataCommand() {
        super(Role.METADATA);
    }
}
