package io.varve.cli.admin;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** What there is to be known of topics; to change them use Kafka's own tools. */
@Command(
        name = "topic",
        description = "Shows topics. To create, change or delete them use Kafka's own tools.",
        subcommands = TopicDescribeCommand.class)
public final class TopicCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Which command?");
    }
}
