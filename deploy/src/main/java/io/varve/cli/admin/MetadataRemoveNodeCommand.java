package io.varve.cli.admin;

import io.varve.cli.link.MetadataLink;
import io.varve.cli.link.MetadataProbe;
import io.varve.metadata.client.MetadataMember;
import io.varve.metadata.client.NodeProbe;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.protocol.config.NodeAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Takes a node out of the metadata service. */
@Command(
        name = "remove-node",
        description = {
            "Takes a node out of the metadata service, whether it runs or not; it may be switched off then. It may be the leader.",
            "Refused if too few of the others answer to go on without it."
        })
public final class MetadataRemoveNodeCommand implements Callable<Integer> {

    @Mixin
    private MetadataOptions metadata;

    @Parameters(paramLabel = "ID", description = "The node's metadata.node.id.")
    private int id;

    @Option(names = "--timeout-seconds", defaultValue = "60", description = "How long it may take (${DEFAULT-VALUE}).")
    private int timeoutSeconds;

    @Override
    public Integer call() {
        try (MetadataLink link = metadata.connect()) {
            RemoteMetadataClient client = link.client();
            List<MetadataMember> members = MemberChange.members(client);
            if (members.stream().noneMatch(member -> member.id() == id)) {
                throw new AdminFailure("node " + id + " is no member");
            }
            checkTheRestGoesOn(members);
            MemberChange.await(
                    client,
                    () -> client.removeNode(id),
                    now -> now.stream().noneMatch(known -> known.id() == id),
                    timeoutSeconds);
            MemberChange.print(client);
        }
        return 0;
    }

    /** The leader checks as well, but needs some seconds to notice that a node died. */
    private void checkTheRestGoesOn(List<MetadataMember> members) {
        List<NodeAddress> left = members.stream()
                .filter(member -> member.id() != id)
                .map(member -> new NodeAddress(member.id(), member.host(), member.clientPort()))
                .toList();
        Map<Integer, NodeProbe.Answer> answers = MetadataProbe.ask(left, metadata.patience());
        long answering = left.stream()
                .filter(node -> answers.get(node.id()).status().isPresent())
                .count();
        if (answering <= left.size() / 2) {
            throw new AdminFailure(
                    "of the " + left.size() + " nodes left only " + answering + " answer: they would have no quorum");
        }
    }
}
