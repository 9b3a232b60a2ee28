package io.varve.cli.admin;

import io.varve.base.BookieId;
import io.varve.cli.link.MetadataLink;
import io.varve.metadata.client.CommandingClient;
import io.varve.metadata.model.BookieInfo;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Empties a bookie for good. */
@Command(
        name = "drain",
        description = {
            "Empties a bookie: it gets nothing new, and what only it and too few others hold is copied to other bookies.",
            "Waits until it holds nothing. It may be switched off for good then; until that it must keep running."
        })
public final class BookieDrainCommand implements Callable<Integer> {

    @Mixin
    private MetadataOptions metadata;

    @Parameters(paramLabel = "ID", description = "The bookie's bookie.id.")
    private int id;

    @Option(names = "--timeout-seconds", defaultValue = "86400", description = "How long to wait (${DEFAULT-VALUE}).")
    private int timeoutSeconds;

    @Override
    public Integer call() {
        BookieId bookie = new BookieId(id);
        try (MetadataLink link = metadata.connect()) {
            CommandingClient client = link.client();
            if (client.view().bookie(bookie).isEmpty()) {
                throw new AdminFailure("there is no bookie " + id);
            }
            MetadataOptions.await(client.setBookieState(bookie, BookieInfo.State.DRAINING));
            Draining.await(
                    "segments left",
                    timeoutSeconds,
                    () -> client.view().segmentsOn(bookie).size());
            System.out.println("Bookie " + id + " holds nothing any more: it may be switched off.");
        }
        return 0;
    }
}
