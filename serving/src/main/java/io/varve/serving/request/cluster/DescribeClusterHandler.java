package io.varve.serving.request.cluster;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Nodes;
import io.varve.serving.request.Operations;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.DescribeClusterRequestData;
import org.apache.kafka.common.message.DescribeClusterResponseData;
import org.apache.kafka.common.message.DescribeClusterResponseData.DescribeClusterBroker;
import org.apache.kafka.common.message.DescribeLogDirsRequestData;
import org.apache.kafka.common.message.DescribeLogDirsResponseData;
import org.apache.kafka.common.message.DescribeLogDirsResponseData.DescribeLogDirsPartition;
import org.apache.kafka.common.message.DescribeLogDirsResponseData.DescribeLogDirsResult;
import org.apache.kafka.common.message.DescribeLogDirsResponseData.DescribeLogDirsTopic;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.DescribeClusterResponse;
import org.apache.kafka.common.requests.DescribeLogDirsResponse;

/** DescribeCluster and DescribeLogDirs: who is there, and how much they look after. */
public final class DescribeClusterHandler {

    private static final byte BROKERS = 1;
    private static final String LOG_DIR = "bookies";

    private final BrokerServices broker;

    /** @param broker surroundings */
    public DescribeClusterHandler(BrokerServices broker) {
        this.broker = broker;
    }

    /** Handles a DescribeCluster. */
    public CompletableFuture<Answer> cluster(ClientRequest request) {
        DescribeClusterRequestData wanted = request.data();
        return broker.finder().views().get().thenApply(view -> {
            DescribeClusterResponseData data = new DescribeClusterResponseData();
            if (request.version() >= 1 && wanted.endpointType() != BROKERS) {
                return Answer.of(new DescribeClusterResponse(data.setErrorCode(Errors.UNSUPPORTED_ENDPOINT_TYPE.code())
                        .setErrorMessage("Clients see brokers only.")
                        .setEndpointType(wanted.endpointType())));
            }
            List<Nodes.Node> living = Nodes.living(view, request.session().listener());
            data.setClusterId(view.clusterId())
                    .setEndpointType(BROKERS)
                    .setControllerId(Nodes.controller(living))
                    .setClusterAuthorizedOperations(
                            wanted.includeClusterAuthorizedOperations() ? Operations.CLUSTER : Operations.NOT_ASKED);
            for (Nodes.Node node : living) {
                data.brokers()
                        .add(new DescribeClusterBroker()
                                .setBrokerId(node.id())
                                .setHost(node.host())
                                .setPort(node.port())
                                .setRack(node.rack()));
            }
            return Answer.of(new DescribeClusterResponse(data));
        });
    }

    /**
     * Handles a DescribeLogDirs. A broker has no directories; what it says of one is what the partitions that it owns hold on bookies and in
     * object storage, sealed segments only, so that tools that add sizes up find them.
     */
    public CompletableFuture<Answer> logDirs(ClientRequest request) {
        DescribeLogDirsRequestData wanted = request.data();
        return broker.finder().views().get().thenApply(view -> {
            DescribeLogDirsResult result = new DescribeLogDirsResult()
                    .setErrorCode(Errors.NONE.code())
                    .setLogDir(LOG_DIR)
                    .setTopics(topics(view, wanted))
                    .setTotalBytes(-1)
                    .setUsableBytes(-1);
            return Answer.of(
                    new DescribeLogDirsResponse(new DescribeLogDirsResponseData().setResults(List.of(result))));
        });
    }

    private List<DescribeLogDirsTopic> topics(MetadataView view, DescribeLogDirsRequestData wanted) {
        Map<String, Set<Integer>> asked = new TreeMap<>();
        if (wanted.topics() != null) {
            wanted.topics().forEach(topic -> asked.put(topic.topic(), new TreeSet<>(topic.partitions())));
        }
        List<DescribeLogDirsTopic> topics = new ArrayList<>();
        for (Topic topic : view.topics()) {
            if (wanted.topics() != null && !asked.containsKey(topic.name())) {
                continue;
            }
            List<DescribeLogDirsPartition> partitions = new ArrayList<>();
            for (PartitionState state : view.partitions(topic.id())) {
                boolean isWanted = wanted.topics() == null
                        || asked.get(topic.name()).contains(state.id().index());
                if (isWanted && state.owner() == broker.settings().brokerId()) {
                    partitions.add(new DescribeLogDirsPartition()
                            .setPartitionIndex(state.id().index())
                            .setPartitionSize(bytesOf(state))
                            .setOffsetLag(0)
                            .setIsFutureKey(false));
                }
            }
            if (!partitions.isEmpty()) {
                topics.add(new DescribeLogDirsTopic().setName(topic.name()).setPartitions(partitions));
            }
        }
        return topics;
    }

    private static long bytesOf(PartitionState state) {
        long bytes = state.chain().manifest().map(manifest -> manifest.bytes()).orElse(0L);
        for (SegmentDescriptor segment : state.chain().segments()) {
            bytes += Math.max(0, segment.bytes());
        }
        return bytes;
    }
}
