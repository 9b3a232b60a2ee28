package io.varve.cli.admin;

import io.varve.base.BookieId;
import io.varve.cli.link.MetadataLink;
import io.varve.cli.text.Units;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.client.CommandingClient;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.util.Collection;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Empties a bookie for good. */
@Command(
        name = "drain",
        description = {
            "Empties a bookie: it gets nothing new, and what only it and too few others hold is copied to other"
                    + " bookies.",
            "Waits until it holds nothing. It may be switched off for good then; until that it must keep running."
        })
public final class BookieDrainCommand implements Callable<Integer> {

    @Mixin
    private MetadataOptions metadata;

    @Parameters(paramLabel = "ID", description = "The bookie's bookie.id.")
    private int id;

    @Option(names = "--timeout-seconds", defaultValue = "86400", description = "How long to wait (${DEFAULT-VALUE}).")
    private int timeoutSeconds;

    @Option(
            names = "--force",
            description =
                    "Begins even if there are too few other bookies to hold all copies: it can't end before there are.")
    private boolean force;

    @Option(
            names = "--undo",
            description = "Ends a drain: the bookie is written to again. What left it stays where it is.")
    private boolean undo;

    @Override
    public Integer call() {
        BookieId bookie = new BookieId(id);
        try (MetadataLink link = metadata.connect()) {
            CommandingClient client = link.client();
            if (client.view().bookie(bookie).isEmpty()) {
                throw new AdminFailure("there is no bookie " + id);
            }
            if (undo) {
                MetadataOptions.await(client.setBookieState(bookie, BookieInfo.State.WRITABLE));
                System.out.println("Bookie " + id + " is written to again.");
                return 0;
            }
            if (!force) {
                checkThereIsRoom(client.view(), bookie);
            }
            MetadataOptions.await(client.setBookieState(bookie, BookieInfo.State.DRAINING));
            Draining.await("Bookie " + id, timeoutSeconds, () -> left(client.view(), bookie));
            System.out.println("Bookie " + id + " holds nothing any more: it may be switched off.");
        }
        return 0;
    }

    private static Draining.Left left(MetadataView view, BookieId bookie) {
        Collection<SegmentDescriptor> held = view.segmentsOn(bookie);
        long bytes =
                held.stream().mapToLong(segment -> Math.max(0, segment.bytes())).sum();
        return new Draining.Left(held.size(), Units.counted(held.size(), "segment") + " (" + Units.bytes(bytes) + ")");
    }

    /** Copies need places: with as many bookies as a segment has replicas, one that leaves could never be empty. */
    private static void checkThereIsRoom(MetadataView view, BookieId leaving) {
        long others = view.bookies().stream()
                .filter(b -> b.state() == BookieInfo.State.WRITABLE && !b.id().equals(leaving))
                .count();
        for (Topic topic : view.topics()) {
            if (topic.replicas() > others) {
                throw new AdminFailure("topic " + topic.name() + " has replication.factor " + topic.replicas()
                        + ", and without bookie " + leaving + " there are only " + others
                        + " that take writes: add one first, or begin with --force and add one then");
            }
        }
    }
}
