package io.varve.cli.admin;

import io.varve.base.StartupException;
import io.varve.cli.link.MetadataLink;
import io.varve.cli.link.MetadataProbe;
import io.varve.metadata.client.MetadataMember;
import io.varve.metadata.client.NodeStatus;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.protocol.config.ConfigKey;
import io.varve.protocol.config.NodeAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Makes a running node a member of the metadata service. */
@Command(
        name = "add-node",
        description = {
            "Makes a node a member of the metadata service while it runs. Start the node first, with an empty directory and with itself and all"
                    + " present members in metadata.servers.",
            "Returns when it has caught up and counts. An even number of members bears no more failures than one fewer."
        })
public final class MetadataAddNodeCommand implements Callable<Integer> {

    @Mixin
    private MetadataOptions metadata;

    @Parameters(paramLabel = "ID@HOST:PORT", description = "The node, as it is to stand in metadata.servers.")
    private String node;

    @Option(
            names = "--raft-port",
            description = "Its port for the other metadata nodes, if that is not the one for clients plus 1.")
    private Integer raftPort;

    @Option(names = "--timeout-seconds", defaultValue = "300", description = "How long it may take (${DEFAULT-VALUE}).")
    private int timeoutSeconds;

    @Override
    public Integer call() {
        NodeAddress added = parsed();
        MetadataMember member = new MetadataMember(
                added.id(), added.host(), raftPort == null ? added.port() + 1 : raftPort, added.port());
        try (MetadataLink link = metadata.connect()) {
            RemoteMetadataClient client = link.client();
            List<MetadataMember> before = MemberChange.members(client);
            for (MetadataMember known : before) {
                if (known.id() == member.id()) {
                    throw new AdminFailure("node " + member.id() + " is a member already, at " + known.host() + ":"
                            + known.clientPort());
                }
            }
            checkIsReady(added, client.view().clusterId());
            MemberChange.await(
                    client,
                    () -> client.addNode(member),
                    now -> now.stream().anyMatch(known -> known.id() == member.id()),
                    timeoutSeconds);
            MemberChange.print(client);
        }
        return 0;
    }

    /** What would take a full time-out to find out is looked at first. */
    private void checkIsReady(NodeAddress added, String clusterId) {
        Optional<NodeStatus> status = MetadataProbe.ask(List.of(added), metadata.patience())
                .get(added.id())
                .status();
        if (status.isEmpty()) {
            throw new AdminFailure("node " + added + " does not answer: start it first");
        }
        String its = status.get().clusterId();
        if (!its.isEmpty() && !its.equals(clusterId)) {
            throw new AdminFailure("node " + added + " belongs to cluster " + its + ", not to " + clusterId);
        }
    }

    private NodeAddress parsed() {
        try {
            return NodeAddress.parse(node);
        } catch (ConfigKey.WrongValue e) {
            throw new StartupException(StartupException.Reason.BAD_CONFIG, node + " " + e.getMessage(), e);
        }
    }
}
