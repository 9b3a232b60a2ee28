package io.varve.cli.admin;

import io.varve.base.PartitionId;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.client.RemoteBookieClient;
import io.varve.cli.link.MetadataLink;
import io.varve.cli.text.Table;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The last resort for a partition whose open segment can't be taken over, because too many of its replicas are gone for good. */
@Command(
        name = "seal",
        description = {
            "UNSAFE. Seals the open segment of a partition at whatever its remaining replicas hold, so that somebody"
                    + " can own it again.",
            "Acknowledged records that only the lost replicas held are lost for good. Only for replicas that never"
                    + " come back:",
            "a partition waits for its bookies by itself, and goes on without loss when enough of them return.",
            "Without --accept-loss it only looks, and says what it would do."
        })
public final class PartitionSealCommand implements Callable<Integer> {

    @Mixin
    private MetadataOptions metadata;

    @Parameters(index = "0", paramLabel = "TOPIC", description = "The topic's name.")
    private String name;

    @Parameters(index = "1", paramLabel = "PARTITION", description = "The partition's number.")
    private int index;

    @Option(names = "--accept-loss", description = "Does it.")
    private boolean acceptLoss;

    @Option(
            names = "--bookie-timeout-ms",
            defaultValue = "5000",
            description = "How long a bookie may take to answer (${DEFAULT-VALUE}).")
    private long bookieTimeoutMs;

    @Override
    public Integer call() {
        try (MetadataLink link = metadata.connect();
                RemoteBookieClient bookies = link.bookies()) {
            MetadataView view = MetadataOptions.await(link.client().linearizable());
            Topic topic = MetadataOptions.topic(view, name);
            PartitionState partition = view.partition(new PartitionId(topic.id(), index))
                    .orElseThrow(() -> new AdminFailure("topic " + name + " has no partition " + index));
            SegmentDescriptor open = partition
                    .chain()
                    .open()
                    .orElseThrow(() -> new AdminFailure("partition " + index + " of " + name
                            + " has no open segment: nothing keeps an owner from taking it over"));
            SealPlan seen = SealPlan.of(open, ask(bookies, view, partition, open, false));
            print(seen);
            if (seen.isNeedless()) {
                throw new AdminFailure("enough replicas answer for a takeover without loss: nothing is to be forced");
            }
            if (!acceptLoss) {
                System.out.println("Nothing was done. With --accept-loss the segment is sealed at offset "
                        + seen.endOffset() + ", and what was acknowledged above that is lost for good.");
                return 1;
            }
            // From here on there is no way back: the fence stops an owner for good, so the seal follows whatever it
            // finds.
            seal(link.client(), view, partition, SealPlan.of(open, ask(bookies, view, partition, open, true)));
        }
        return 0;
    }

    /**
     * @param fencing whether to fence with the epoch that the partition gets: from then on nobody can write below it, and what the replicas hold stands still
     */
    private List<FenceReply> ask(
            RemoteBookieClient bookies,
            MetadataView view,
            PartitionState partition,
            SegmentDescriptor open,
            boolean fencing) {
        List<FenceReply> replies = new ArrayList<>();
        for (Replica replica : open.replicas()) {
            Optional<BookieInfo> bookie = view.bookie(replica.bookie()).filter(b -> b.state() != BookieInfo.State.GONE);
            if (bookie.isEmpty()) {
                replies.add(nothing(BookieStatus.NO_ANSWER));
            } else if (isLost(replica, bookie.get())) {
                replies.add(nothing(BookieStatus.UNKNOWN));
            } else {
                BookieAddress address = new BookieAddress(
                        bookie.get().id(), bookie.get().host(), bookie.get().port());
                replies.add(fencing ? fence(bookies, address, partition, open, replica) : look(bookies, address, open));
            }
        }
        return replies;
    }

    /** The directory that it was put in is not in service any more, so nothing that the bookie says of it counts (I-5). */
    private static boolean isLost(Replica replica, BookieInfo bookie) {
        return replica.incarnation() != 0 && !bookie.incarnations().contains(replica.incarnation());
    }

    private static FenceReply nothing(BookieStatus status) {
        return new FenceReply(status, -1, -1, 0, false, -1);
    }

    private FenceReply look(RemoteBookieClient bookies, BookieAddress bookie, SegmentDescriptor open) {
        return MetadataOptions.await(bookies.describe(bookie, open.id(), bookieTimeoutMs));
    }

    private FenceReply fence(
            RemoteBookieClient bookies,
            BookieAddress bookie,
            PartitionState partition,
            SegmentDescriptor open,
            Replica replica) {
        FenceRequest request =
                new FenceRequest(partition.id(), partition.epoch() + 1, open.id(), replica.incarnation());
        return MetadataOptions.await(bookies.fence(bookie, List.of(request), bookieTimeoutMs))
                .get(0);
    }

    private void seal(MetadataClient client, MetadataView view, PartitionState partition, SealPlan plan) {
        Optional<Integer> owner = view.brokers().stream()
                .filter(b -> b.id() == partition.owner() && b.state() == BrokerInfo.State.LIVE)
                .map(BrokerInfo::id)
                .findFirst();
        PartitionState sealed = MetadataOptions.await(
                client.release(partition.id(), partition.epoch(), Optional.of(plan.seal()), owner));
        System.out.println("SEALED BY FORCE: partition " + index + " of " + name + ", segment "
                + plan.segment().id() + " at offset " + plan.endOffset() + ". It is at epoch " + sealed.epoch()
                + " now, and broker " + sealed.owner() + " takes it over.");
    }

    private static void print(SealPlan plan) {
        System.out.println("Segment " + plan.segment().id() + " is open from offset "
                + plan.segment().startOffset() + " on; a takeover needs " + plan.needed()
                + " truthful replicas, and there are " + plan.truthful() + ".");
        Table table = new Table("BOOKIE", "ANSWER", "HOLDS UP TO");
        for (SealPlan.Answer answer : plan.replicas()) {
            table.row(answer.bookie(), answer.status(), answer.endOffset() < 0 ? "-" : answer.endOffset());
        }
        table.print(System.out);
    }
}
