package io.varve.cli.role;

import io.varve.cli.admin.BrokerDrainCommand;
import picocli.CommandLine.Command;

/** {@code varve broker}. */
@Command(
        name = "broker",
        description = "A broker: serves Kafka clients, and keeps nothing. Add and kill them as you like.",
        subcommands = BrokerDrainCommand.class)
public final class BrokerCommand extends RoleCommand {

    public BrokerCommand() {
        super(Role.BROKER);
    }
}
