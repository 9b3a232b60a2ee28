package io.varve.serving.request.cluster;

import io.varve.metadata.api.MetadataView;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.BrokerSettings.MetadataServer;
import io.varve.serving.request.ClientRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.DescribeQuorumResponseData;
import org.apache.kafka.common.message.DescribeQuorumResponseData.Listener;
import org.apache.kafka.common.message.DescribeQuorumResponseData.ListenerCollection;
import org.apache.kafka.common.message.DescribeQuorumResponseData.Node;
import org.apache.kafka.common.message.DescribeQuorumResponseData.PartitionData;
import org.apache.kafka.common.message.DescribeQuorumResponseData.ReplicaState;
import org.apache.kafka.common.message.DescribeQuorumResponseData.TopicData;
import org.apache.kafka.common.requests.DescribeQuorumResponse;

/**
 * DescribeQuorum: the metadata service in the words of Kafka's. Its nodes are the voters; how far those that don't lead have come, a broker can't
 * know and doesn't say.
 */
public final class DescribeQuorumHandler {

    private static final short NODES_VERSION = 2;
    private static final String LOG = "__cluster_metadata";
    private static final String LISTENER = "METADATA";

    private final BrokerServices broker;

    /** @param broker surroundings */
    public DescribeQuorumHandler(BrokerServices broker) {
        this.broker = broker;
    }

    /** Handles one. */
    public CompletableFuture<Answer> handle(ClientRequest request) {
        return broker.finder().views().get().thenApply(view -> answer(request, view));
    }

    private Answer answer(ClientRequest request, MetadataView view) {
        int leader = broker.metadata().leader().orElse(-1);
        List<ReplicaState> voters = new ArrayList<>();
        DescribeQuorumResponseData data = new DescribeQuorumResponseData();
        for (MetadataServer server : broker.settings().metadataServers()) {
            voters.add(new ReplicaState()
                    .setReplicaId(server.id())
                    .setReplicaDirectoryId(Uuid.ZERO_UUID)
                    .setLogEndOffset(server.id() == leader ? view.version() : -1));
            if (request.version() >= NODES_VERSION) {
                ListenerCollection listeners = new ListenerCollection();
                listeners.add(
                        new Listener().setName(LISTENER).setHost(server.host()).setPort(server.port()));
                data.nodes().add(new Node().setNodeId(server.id()).setListeners(listeners));
            }
        }
        PartitionData partition = new PartitionData()
                .setPartitionIndex(0)
                .setLeaderId(leader)
                .setLeaderEpoch(0)
                .setHighWatermark(view.version())
                .setCurrentVoters(voters);
        data.setTopics(List.of(new TopicData().setTopicName(LOG).setPartitions(List.of(partition))));
        return Answer.of(new DescribeQuorumResponse(data));
    }
}
