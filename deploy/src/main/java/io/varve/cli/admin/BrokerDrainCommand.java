package io.varve.cli.admin;

import io.varve.cli.link.MetadataLink;
import io.varve.cli.text.Units;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.client.CommandingClient;
import io.varve.metadata.model.BrokerInfo;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Hands a broker's partitions to the others while it runs. */
@Command(
        name = "drain",
        description = "Hands a broker's partitions to the others, and waits until it has none. It may be stopped then.")
public final class BrokerDrainCommand implements Callable<Integer> {

    @Mixin
    private MetadataOptions metadata;

    @Parameters(paramLabel = "ID", description = "The broker's node.id.")
    private int id;

    @Option(names = "--timeout-seconds", defaultValue = "120", description = "How long to wait (${DEFAULT-VALUE}).")
    private int timeoutSeconds;

    @Option(names = "--undo", description = "Ends a drain: the broker is given partitions again.")
    private boolean undo;

    @Option(names = "--force", description = "Even if it is the last broker: then nobody serves its partitions.")
    private boolean force;

    @Override
    public Integer call() {
        try (MetadataLink link = metadata.connect()) {
            CommandingClient client = link.client();
            if (client.view().brokers().stream().noneMatch(broker -> broker.id() == id)) {
                throw new AdminFailure("there is no broker " + id);
            }
            if (undo) {
                MetadataOptions.await(client.setBrokerState(id, BrokerInfo.State.LIVE));
                System.out.println("Broker " + id + " is given partitions again.");
                return 0;
            }
            boolean othersLive = client.view().brokers().stream()
                    .anyMatch(broker -> broker.id() != id && broker.state() == BrokerInfo.State.LIVE);
            if (!othersLive && !force) {
                throw new AdminFailure("no other broker lives that could take over: start one, or use --force");
            }
            MetadataOptions.await(client.setBrokerState(id, BrokerInfo.State.DRAINING));
            Draining.await("Broker " + id, timeoutSeconds, () -> left(client.view()));
            System.out.println("Broker " + id + " owns no partition any more.");
        }
        return 0;
    }

    private Draining.Left left(MetadataView view) {
        int owned = view.ownedBy(id).size();
        return new Draining.Left(owned, Units.counted(owned, "partition"));
    }
}
