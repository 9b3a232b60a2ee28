package io.varve.serving.kafka.runtime;

import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.BrokerInfo.Endpoint;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Topic;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.FindCoordinatorRequestData;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.message.FindCoordinatorResponseData.Coordinator;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.server.share.SharePartitionKey;

/**
 * Which broker coordinates what. A key belongs to a partition of the internal topic by its hash, and the owner of that partition is its
 * coordinator: the same rule on every broker, by the topic's true number of partitions.
 */
public final class CoordinatorFinder {

    private static final int BATCH_SINCE_VERSION = 4;
    private static final byte GROUP = 0;
    private static final byte TRANSACTION = 1;
    private static final byte SHARE = 2;
    private static final int NO_NODE = -1;

    private final MetadataClient metadata;
    private final InternalTopicCreator topics;

    /** @param options by which missing internal topics are created */
    public CoordinatorFinder(MetadataClient metadata, CoordinatorOptions options) {
        this.metadata = metadata;
        this.topics = new InternalTopicCreator(metadata, options);
    }

    /** The partition of an internal topic with so many of them that {@code key} belongs to. */
    public static int partitionOf(String key, int partitions) {
        int hash = key.hashCode();
        return (hash == Integer.MIN_VALUE ? 0 : Math.abs(hash)) % partitions;
    }

    /** Answers a request of any version. */
    public CompletableFuture<FindCoordinatorResponseData> find(
            RequestContext context, FindCoordinatorRequestData request) {
        boolean batch = context.apiVersion() >= BATCH_SINCE_VERSION;
        List<String> keys = batch ? request.coordinatorKeys() : List.of(request.key());
        Optional<String> topic = topicOf(request.keyType());
        CompletableFuture<List<Coordinator>> found = topic.isEmpty()
                ? CompletableFuture.completedFuture(failed(keys, Errors.INVALID_REQUEST))
                : find(keys, topic.get(), context.listenerName());
        return found.thenApply(batch ? CoordinatorFinder::asBatch : CoordinatorFinder::asSingle);
    }

    /** The broker that owns the partition of {@code topic} for {@code key} as far as is known here. Doesn't create the topic. */
    public Optional<PartitionState> partitionFor(String topic, String key) {
        MetadataView view = metadata.view();
        return view.topic(topic)
                .flatMap(t -> view.partition(new PartitionId(t.id(), partitionOf(key, t.partitions()))));
    }

    /** The internal topic, created if need be. Fails if that can't be done now. */
    public CompletableFuture<Topic> ensure(String topic) {
        return topics.ensure(topic);
    }

    private CompletableFuture<List<Coordinator>> find(List<String> keys, String topic, String listener) {
        return topics.ensure(topic).handle((created, refused) -> {
            if (refused != null) {
                return failed(keys, Errors.COORDINATOR_NOT_AVAILABLE);
            }
            MetadataView view = metadata.view();
            List<Coordinator> coordinators = new ArrayList<>(keys.size());
            for (String key : keys) {
                coordinators.add(
                        makesSense(key, topic)
                                ? ownerOf(key, created, view, listener)
                                        .orElseGet(() -> failed(key, Errors.COORDINATOR_NOT_AVAILABLE))
                                : failed(key, Errors.INVALID_REQUEST));
            }
            return coordinators;
        });
    }

    /** The key of a share partition names its group, its topic's id and its index. */
    private static boolean makesSense(String key, String topic) {
        if (!topic.equals(InternalTopics.SHARE_GROUP_STATE)) {
            return true;
        }
        try {
            SharePartitionKey.validate(key);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static Optional<Coordinator> ownerOf(String key, Topic topic, MetadataView view, String listener) {
        return view.partition(new PartitionId(topic.id(), partitionOf(key, topic.partitions())))
                .flatMap(partition -> broker(view, partition.owner()))
                .flatMap(owner -> endpoint(owner, listener)
                        .map(at -> new Coordinator()
                                .setKey(key)
                                .setNodeId(owner.id())
                                .setHost(at.host())
                                .setPort(at.port())));
    }

    private static Optional<BrokerInfo> broker(MetadataView view, int id) {
        return view.brokers().stream()
                .filter(b -> b.id() == id && b.state() != BrokerInfo.State.GONE)
                .findFirst();
    }

    private static Optional<Endpoint> endpoint(BrokerInfo broker, String listener) {
        return broker.endpoints().stream()
                .filter(e -> e.listener().equals(listener))
                .findFirst();
    }

    private static Optional<String> topicOf(byte keyType) {
        return switch (keyType) {
            case GROUP -> Optional.of(InternalTopics.CONSUMER_OFFSETS);
            case TRANSACTION -> Optional.of(InternalTopics.TRANSACTION_STATE);
            case SHARE -> Optional.of(InternalTopics.SHARE_GROUP_STATE);
            default -> Optional.empty();
        };
    }

    private static List<Coordinator> failed(List<String> keys, Errors error) {
        return keys.stream().map(key -> failed(key, error)).toList();
    }

    private static Coordinator failed(String key, Errors error) {
        return new Coordinator()
                .setKey(key)
                .setErrorCode(error.code())
                .setErrorMessage(error.message())
                .setNodeId(NO_NODE)
                .setHost("")
                .setPort(NO_NODE);
    }

    private static FindCoordinatorResponseData asBatch(List<Coordinator> coordinators) {
        return new FindCoordinatorResponseData().setCoordinators(coordinators);
    }

    private static FindCoordinatorResponseData asSingle(List<Coordinator> coordinators) {
        Coordinator only = coordinators.get(0);
        return new FindCoordinatorResponseData()
                .setErrorCode(only.errorCode())
                .setErrorMessage(only.errorMessage())
                .setNodeId(only.nodeId())
                .setHost(only.host())
                .setPort(only.port());
    }
}
