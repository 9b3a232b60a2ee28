package io.varve.cli.admin;

import io.varve.tiering.client.Tiering;
import java.io.BufferedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Single objects in the store. Keys are given as {@code varve segments} prints them. */
@Command(
        name = "object",
        description = "Looks into single objects of the store, by their keys as `varve segments` prints them.")
public final class ObjectCommand implements Runnable {

    private static final String KEY = "The object's key, with the bucket's prefix or without.";

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Which command?");
    }

    @Command(name = "inspect", description = "Prints what an object says of itself, without reading its data.")
    int inspect(
            @Mixin TieringOptions options,
            @Parameters(paramLabel = "KEY", description = KEY) String key,
            @Option(names = "--blocks", description = "Also a line for each block.") boolean blocks) {
        try (Tiering tiering = options.open()) {
            tiering.newInspect(System.out).inspect(tiering.keyOf(key), blocks);
        }
        return 0;
    }

    @Command(name = "verify", description = "Reads an object whole and checks every checksum.")
    int verify(@Mixin TieringOptions options, @Parameters(paramLabel = "KEY", description = KEY) String key) {
        try (Tiering tiering = options.open()) {
            tiering.newInspect(System.out).verify(tiering.keyOf(key));
        }
        return 0;
    }

    @Command(name = "cat", description = "Prints a line for each entry of an object.")
    int cat(
            @Mixin TieringOptions options,
            @Parameters(paramLabel = "KEY", description = KEY) String key,
            @Option(names = "--raw", description = "The record batches themselves, as in a segment file of Kafka.")
                    boolean raw) {
        try (Tiering tiering = options.open()) {
            PrintStream out = new PrintStream(new BufferedOutputStream(System.out), false, StandardCharsets.UTF_8);
            tiering.newInspect(out).cat(tiering.keyOf(key), raw);
            out.flush();
        }
        return 0;
    }
}
