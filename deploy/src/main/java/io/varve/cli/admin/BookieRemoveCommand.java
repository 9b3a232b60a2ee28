package io.varve.cli.admin;

import io.varve.base.BookieId;
import io.varve.cli.link.MetadataLink;
import io.varve.metadata.client.CommandingClient;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Has the metadata service forget a bookie. */
@Command(
        name = "remove",
        description = {
            "Forgets a bookie that was drained and is switched off, so that its id is free again.",
            "Refused while it lives, and while it holds a copy that is needed."
        })
public final class BookieRemoveCommand implements Callable<Integer> {

    @Mixin
    private MetadataOptions metadata;

    @Parameters(paramLabel = "ID", description = "The bookie's bookie.id.")
    private int id;

    @Override
    public Integer call() {
        try (MetadataLink link = metadata.connect()) {
            CommandingClient client = link.client();
            MetadataOptions.await(client.removeBookie(new BookieId(id)));
            System.out.println("Bookie " + id + " is forgotten.");
        }
        return 0;
    }
}
