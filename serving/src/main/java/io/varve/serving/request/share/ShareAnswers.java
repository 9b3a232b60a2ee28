package io.varve.serving.request.share;

import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.serving.kafka.wire.FetchedRecords;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Ids;
import io.varve.serving.request.Nodes;
import io.varve.serving.request.share.ShareRequests.Key;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.message.ShareAcknowledgeResponseData;
import org.apache.kafka.common.message.ShareFetchResponseData;
import org.apache.kafka.common.protocol.Errors;

/** The answers to ShareFetch and ShareAcknowledge. */
final class ShareAnswers {

    private ShareAnswers() {}

    /**
     * @param data the answer, to be filled in
     * @param acknowledged what came of acknowledgements, by partition
     * @param parts what was acquired
     * @param all whether partitions that nothing is to be said of are named too
     */
    static void fetch(
            BrokerServices broker,
            ClientRequest request,
            ShareFetchResponseData data,
            Map<Key, Errors> acknowledged,
            List<ShareFetchTask.Part> parts,
            boolean all) {
        Map<Key, ShareFetchResponseData.PartitionData> answers = new LinkedHashMap<>();
        acknowledged.forEach((key, error) -> answers.put(
                key,
                partition(key)
                        .setAcknowledgeErrorCode(error.code())
                        .setAcknowledgeErrorMessage(error == Errors.NONE ? null : error.message())));
        for (ShareFetchTask.Part part : parts) {
            boolean says =
                    all || part.error() != Errors.NONE || !part.acquired().isEmpty();
            if (says || answers.containsKey(part.key())) {
                fill(answers.computeIfAbsent(part.key(), ShareAnswers::partition), part);
            }
        }
        answers.forEach((key, answer) -> {
            boolean moved = isMoved(answer.errorCode()) || isMoved(answer.acknowledgeErrorCode());
            if (moved) {
                leader(broker, request, key).ifPresent(at -> {
                    answer.setCurrentLeader(new ShareFetchResponseData.LeaderIdAndEpoch()
                            .setLeaderId(at.node.id())
                            .setLeaderEpoch(at.epoch));
                    if (data.nodeEndpoints().find(at.node.id()) == null) {
                        data.nodeEndpoints()
                                .add(new ShareFetchResponseData.NodeEndpoint()
                                        .setNodeId(at.node.id())
                                        .setHost(at.node.host())
                                        .setPort(at.node.port())
                                        .setRack(at.node.rack()));
                    }
                });
            }
            ShareFetchResponseData.ShareFetchableTopicResponse topic =
                    data.responses().find(key.topic());
            if (topic == null) {
                topic = new ShareFetchResponseData.ShareFetchableTopicResponse().setTopicId(key.topic());
                data.responses().add(topic);
            }
            topic.partitions().add(answer);
        });
    }

    private static ShareFetchResponseData.PartitionData partition(Key key) {
        ShareFetchResponseData.PartitionData answer =
                new ShareFetchResponseData.PartitionData().setPartitionIndex(key.partition());
        FetchedRecords.set(answer, List.of());
        return answer;
    }

    private static void fill(ShareFetchResponseData.PartitionData answer, ShareFetchTask.Part part) {
        answer.setErrorCode(part.error().code())
                .setErrorMessage(
                        part.error() == Errors.NONE ? null : part.error().message())
                .setAcquiredRecords(part.acquired().stream()
                        .map(range -> new ShareFetchResponseData.AcquiredRecords()
                                .setFirstOffset(range.firstOffset())
                                .setLastOffset(range.lastOffset())
                                .setDeliveryCount((short) Math.min(Short.MAX_VALUE, range.deliveries())))
                        .toList());
        FetchedRecords.set(answer, part.batches());
    }

    /** @param acknowledged what came of acknowledgements, by partition */
    static ShareAcknowledgeResponseData acknowledge(
            BrokerServices broker, ClientRequest request, int lockMs, Map<Key, Errors> acknowledged) {
        ShareAcknowledgeResponseData data = new ShareAcknowledgeResponseData().setAcquisitionLockTimeoutMs(lockMs);
        acknowledged.forEach((key, error) -> {
            ShareAcknowledgeResponseData.PartitionData answer = new ShareAcknowledgeResponseData.PartitionData()
                    .setPartitionIndex(key.partition())
                    .setErrorCode(error.code())
                    .setErrorMessage(error == Errors.NONE ? null : error.message());
            if (isMoved(error.code())) {
                leader(broker, request, key).ifPresent(at -> {
                    answer.setCurrentLeader(new ShareAcknowledgeResponseData.LeaderIdAndEpoch()
                            .setLeaderId(at.node.id())
                            .setLeaderEpoch(at.epoch));
                    if (data.nodeEndpoints().find(at.node.id()) == null) {
                        data.nodeEndpoints()
                                .add(new ShareAcknowledgeResponseData.NodeEndpoint()
                                        .setNodeId(at.node.id())
                                        .setHost(at.node.host())
                                        .setPort(at.node.port())
                                        .setRack(at.node.rack()));
                    }
                });
            }
            ShareAcknowledgeResponseData.ShareAcknowledgeTopicResponse topic =
                    data.responses().find(key.topic());
            if (topic == null) {
                topic = new ShareAcknowledgeResponseData.ShareAcknowledgeTopicResponse().setTopicId(key.topic());
                data.responses().add(topic);
            }
            topic.partitions().add(answer);
        });
        return data;
    }

    private static boolean isMoved(short error) {
        return error == Errors.NOT_LEADER_OR_FOLLOWER.code() || error == Errors.FENCED_LEADER_EPOCH.code();
    }

    private record At(Nodes.Node node, int epoch) {}

    /** Where the partition is now (KIP-951). */
    private static Optional<At> leader(BrokerServices broker, ClientRequest request, Key key) {
        MetadataView view = broker.view();
        Optional<PartitionState> state = view.partition(new PartitionId(Ids.fromKafka(key.topic()), key.partition()));
        return state.flatMap(
                found -> Nodes.living(view, found.owner(), request.session().listener())
                        .map(node -> new At(node, found.epoch())));
    }
}
