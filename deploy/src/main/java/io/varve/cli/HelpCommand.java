package io.varve.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows how a command is used, however many words it has: picocli's own looks at the first alone. */
@Command(name = "help", helpCommand = true, description = "Shows how a command is used: varve help bucket scrub.")
public final class HelpCommand implements Callable<Integer> {

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "The command's words; none for all commands.")
    private List<String> words = List.of();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        CommandLine at = spec.commandLine().getParent();
        for (String word : words) {
            CommandLine next = at.getSubcommands().get(word);
            if (next == null) {
                throw new CommandLine.ParameterException(
                        at, at.getCommandSpec().qualifiedName() + " has no command '" + word + "'");
            }
            at = next;
        }
        at.usage(spec.commandLine().getOut());
        return 0;
    }
}
