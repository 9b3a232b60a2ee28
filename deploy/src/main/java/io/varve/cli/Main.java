package io.varve.cli;

import io.varve.base.StartupException;
import io.varve.cli.admin.AdminFailure;
import io.varve.cli.admin.BucketCommand;
import io.varve.cli.admin.ObjectCommand;
import io.varve.cli.admin.OffloadCommand;
import io.varve.cli.admin.PartitionCommand;
import io.varve.cli.admin.SegmentsCommand;
import io.varve.cli.admin.StatusCommand;
import io.varve.cli.admin.TopicCommand;
import io.varve.cli.admin.VerifyCommand;
import io.varve.cli.bench.BenchCommand;
import io.varve.cli.demo.DemoCommand;
import io.varve.cli.local.StandaloneCommand;
import io.varve.cli.prepare.PrepareCommand;
import io.varve.cli.restore.RestoreCommand;
import io.varve.cli.role.BookieCommand;
import io.varve.cli.role.BrokerCommand;
import io.varve.cli.role.ConfigCommand;
import io.varve.cli.role.MetadataCommand;
import io.varve.metadata.api.MetadataException;
import io.varve.tiering.api.RemoteReadException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * The {@code varve} command. Exit codes: 0 done; 1 it failed, and said why; 2 it was called or configured wrongly; 10 and up a role could
 * not start, by {@link StartupException.Reason}.
 */
@Command(
        name = "varve",
        description = "A log that speaks Kafka's protocol and keeps everything in object storage.",
        mixinStandardHelpOptions = true,
        scope = CommandLine.ScopeType.INHERIT,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            DemoCommand.class,
            StandaloneCommand.class,
            MetadataCommand.class,
            BookieCommand.class,
            BrokerCommand.class,
            StatusCommand.class,
            TopicCommand.class,
            PartitionCommand.class,
            SegmentsCommand.class,
            BucketCommand.class,
            ObjectCommand.class,
            OffloadCommand.class,
            VerifyCommand.class,
            RestoreCommand.class,
            BenchCommand.class,
            ConfigCommand.class,
            PrepareCommand.class,
            CommandLine.HelpCommand.class
        })
public final class Main implements Runnable {

    @Spec
    private CommandSpec spec;

    private Main() {}

    public static void main(String[] arguments) {
        Logging.choose(arguments);
        System.exit(execute(arguments));
    }

    /** Runs a command, and returns what the process is to exit with. */
    static int execute(String... arguments) {
        return new CommandLine(new Main())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler(Main::explain)
                .execute(arguments);
    }

    /** Without a command: says which there are. */
    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Which command?");
    }

    private static int explain(Exception exception, CommandLine command, CommandLine.ParseResult parsed) {
        PrintWriter err = command.getErr();
        if (exception instanceof StartupException startup) {
            err.println(command.getCommandSpec().qualifiedName() + ": " + startup.getMessage());
            return startup.reason().exitCode();
        }
        if (isForAPerson(exception)) {
            err.println(command.getCommandSpec().qualifiedName() + ": " + exception.getMessage());
            return 1;
        }
        err.println(command.getCommandSpec().qualifiedName() + ": " + exception);
        exception.printStackTrace(err);
        return 1;
    }

    /** Whether the exception's message says all there is to say. */
    private static boolean isForAPerson(Exception exception) {
        return exception instanceof AdminFailure
                || exception instanceof RemoteReadException
                || exception instanceof MetadataException;
    }
}
