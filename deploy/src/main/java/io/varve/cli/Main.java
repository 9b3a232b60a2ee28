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
import io.varve.tiering.client.StoreTrouble;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.util.Optional;
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
            HelpCommand.class
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
        return execute(new PrintWriter(System.err, true), arguments);
    }

    /**
     * The same, for whoever runs commands in a process of their own.
     *
     * @param err takes what the process would say at its standard error
     */
    public static int execute(PrintWriter err, String... arguments) {
        return execute(new PrintWriter(System.out, true), err, arguments);
    }

    /** @param out takes what picocli would say at the process's standard output */
    static int execute(PrintWriter out, PrintWriter err, String... arguments) {
        return new CommandLine(new Main())
                .setOut(out)
                .setErr(err)
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
        Optional<String> line = lineForAPerson(exception);
        if (line.isPresent()) {
            err.println(command.getCommandSpec().qualifiedName() + ": " + line.get());
            return 1;
        }
        err.println(command.getCommandSpec().qualifiedName() + ": " + exception);
        exception.printStackTrace(err);
        return 1;
    }

    /** What says all there is to say of an operating failure; empty of what is a mistake of the program's, whose stack is wanted. */
    private static Optional<String> lineForAPerson(Exception exception) {
        if (exception instanceof AdminFailure
                || exception instanceof RemoteReadException
                || exception instanceof MetadataException) {
            return Optional.of(exception.getMessage());
        }
        if (exception instanceof UncheckedIOException unchecked) {
            return lineForAPerson(unchecked.getCause());
        }
        if (exception instanceof FileSystemException file) {
            // Its message is the path, its name what is wrong with it.
            return Optional.of(file.toString());
        }
        return exception instanceof IOException trouble && trouble.getMessage() != null
                ? Optional.of(trouble.getMessage())
                : StoreTrouble.line(exception);
    }
}
