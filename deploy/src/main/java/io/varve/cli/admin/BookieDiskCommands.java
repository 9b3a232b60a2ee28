package io.varve.cli.admin;

import io.varve.bookie.tools.BookieInspect;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** What is on a bookie's disk. Nothing is changed; the bookie may be running or stopped. */
public final class BookieDiskCommands {

    private BookieDiskCommands() {}

    abstract static class OfDirectory implements Callable<Integer> {
        @Parameters(paramLabel = "DIR", description = "One of bookie.data.dirs.")
        Path directory;
    }

    /** {@code varve bookie inspect DIR}. */
    @Command(
            name = "inspect",
            description = "Shows whose a data directory is, and what it holds. Ends with 1 if something is damaged.")
    public static final class Inspect extends OfDirectory {

        @Override
        public Integer call() throws IOException {
            return BookieInspect.inspect(directory, System.out);
        }
    }

    /** {@code varve bookie verify DIR}. */
    @Command(
            name = "verify",
            description = "Reads every entry of a data directory and checks it. Ends with 1 if something is damaged.")
    public static final class Verify extends OfDirectory {

        @Override
        public Integer call() throws IOException {
            return BookieInspect.verify(directory, System.out);
        }
    }

    /** {@code varve bookie dump FILE}. */
    @Command(
            name = "dump",
            description =
                    "Shows the records of a journal file, or the entries of a segment file. Ends with 1 if one isn't intact.")
    public static final class Dump implements Callable<Integer> {

        @Parameters(paramLabel = "FILE", description = "A file of a data directory.")
        private Path file;

        @Override
        public Integer call() throws IOException {
            return BookieInspect.dump(file, System.out);
        }
    }
}
