package io.varve.serving.request.topic;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.Topic;
import io.varve.metadata.model.TopicNames;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Futures;
import io.varve.serving.request.Ids;
import io.varve.serving.request.MetadataErrors;
import io.varve.serving.request.Nodes;
import io.varve.serving.request.Nodes.Node;
import io.varve.serving.request.Operations;
import io.varve.serving.request.PartitionFinder.TopicKey;
import io.varve.serving.request.PartitionPlaces;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.MetadataRequestData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseBroker;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponsePartition;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseTopic;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.MetadataRequest;
import org.apache.kafka.common.requests.MetadataResponse;

/**
 * Metadata: brokers, topics, owners; makes topics that are asked for and missing, if it may. Always from a view that holds what any broker was
 * told of before, so that a topic just made, or just deleted, is seen so everywhere.
 */
public final class MetadataHandler {

    private static final short NULL_NAME_VERSION = 12;

    private final BrokerServices broker;
    private final TopicCreator creator;

    /** @param broker surroundings */
    public MetadataHandler(BrokerServices broker, TopicCreator creator) {
        this.broker = broker;
        this.creator = creator;
    }

    /** Handles one. */
    public CompletableFuture<Answer> handle(ClientRequest request) {
        MetadataRequest body = (MetadataRequest) request.parsed().body();
        return broker.finder().views().get().thenCompose(view -> {
            if (body.isAllTopics()) {
                return CompletableFuture.completedFuture(answer(request, view, all(view), Map.of()));
            }
            List<TopicKey> asked = asked(body);
            return createMissing(body, view, asked).thenApply(errors -> answer(request, broker.view(), asked, errors));
        });
    }

    private static List<TopicKey> all(MetadataView view) {
        List<TopicKey> keys = new ArrayList<>();
        view.topics().forEach(topic -> keys.add(TopicKey.of(topic.name())));
        return keys;
    }

    private static List<TopicKey> asked(MetadataRequest body) {
        List<TopicKey> keys = new ArrayList<>();
        for (MetadataRequestData.MetadataRequestTopic topic : body.data().topics()) {
            keys.add(new TopicKey(topic.name(), topic.topicId()));
        }
        return keys;
    }

    /** Answers what went wrong, by name. */
    private CompletableFuture<Map<String, Errors>> createMissing(
            MetadataRequest body, MetadataView view, List<TopicKey> asked) {
        Map<String, Errors> errors = new TreeMap<>();
        List<CompletableFuture<Void>> creations = new ArrayList<>();
        for (TopicKey key : asked) {
            if (key.byId() || key.in(view).isPresent()) {
                continue;
            }
            if (TopicNames.problemOf(key.name()).isPresent()) {
                errors.put(key.name(), Errors.INVALID_TOPIC_EXCEPTION);
            } else if (broker.settings().autoCreateTopics()
                    && body.allowAutoTopicCreation()
                    && !InternalTopics.isInternal(key.name())) {
                creations.add(create(key.name(), errors));
            }
        }
        return Futures.all(creations).thenApply(ignored -> errors);
    }

    private CompletableFuture<Void> create(String name, Map<String, Errors> errors) {
        CompletableFuture<Errors> made = creator.createIfMissing(name)
                .handle((topic, failure) -> failure == null
                        ? Errors.NONE
                        : MetadataErrors.toKafka(failure).error());
        return broker.deadlines()
                .within(broker.settings().adminTimeoutMs(), made, () -> Errors.LEADER_NOT_AVAILABLE)
                .thenAccept(error -> {
                    if (error != Errors.NONE) {
                        synchronized (errors) {
                            errors.put(name, retriable(error));
                        }
                    }
                });
    }

    /** A topic that may be there in a moment is "no leader yet": clients then ask again. */
    private static Errors retriable(Errors error) {
        return error == Errors.REQUEST_TIMED_OUT ? Errors.LEADER_NOT_AVAILABLE : error;
    }

    private Answer answer(ClientRequest request, MetadataView view, List<TopicKey> asked, Map<String, Errors> errors) {
        MetadataRequestData wanted = request.data();
        List<Node> living = Nodes.living(view, request.session().listener());
        PartitionPlaces places = new PartitionPlaces(living);
        MetadataResponseData data = new MetadataResponseData()
                .setClusterId(view.clusterId())
                .setControllerId(Nodes.controller(living))
                .setClusterAuthorizedOperations(
                        wanted.includeClusterAuthorizedOperations() ? Operations.CLUSTER : Operations.NOT_ASKED);
        for (Node node : living) {
            data.brokers()
                    .add(new MetadataResponseBroker()
                            .setNodeId(node.id())
                            .setHost(node.host())
                            .setPort(node.port())
                            .setRack(node.rack()));
        }
        int operations = wanted.includeTopicAuthorizedOperations() ? Operations.TOPIC : Operations.NOT_ASKED;
        for (TopicKey key : asked) {
            MetadataResponseTopic topic = key.in(view)
                    .map(found -> topicOf(view, found, places))
                    .orElseGet(() -> missing(request, key, errors));
            data.topics().add(topic.setTopicAuthorizedOperations(operations));
        }
        return Answer.of(new MetadataResponse(data, request.version()));
    }

    private static MetadataResponseTopic topicOf(MetadataView view, Topic topic, PartitionPlaces places) {
        MetadataResponseTopic answer = new MetadataResponseTopic()
                .setName(topic.name())
                .setTopicId(Ids.toKafka(topic.id()))
                .setIsInternal(InternalTopics.isInternal(topic.name()));
        for (PartitionPlaces.Place place : places.of(view, topic)) {
            answer.partitions()
                    .add(new MetadataResponsePartition()
                            .setErrorCode(place.error().code())
                            .setPartitionIndex(place.partition())
                            .setLeaderId(place.leader())
                            .setLeaderEpoch(place.epoch())
                            .setReplicaNodes(place.replicas())
                            .setIsrNodes(place.leader() < 0 ? List.of() : place.replicas())
                            .setOfflineReplicas(List.of()));
        }
        return answer;
    }

    private static MetadataResponseTopic missing(ClientRequest request, TopicKey key, Map<String, Errors> errors) {
        // Before the version in which a name may be null, an absent one is the empty one.
        String name = Optional.ofNullable(key.name()).orElse(request.version() >= NULL_NAME_VERSION ? null : "");
        Errors error = key.byId() ? Errors.UNKNOWN_TOPIC_ID : errors.get(key.name());
        return new MetadataResponseTopic()
                .setErrorCode((error == null ? Errors.UNKNOWN_TOPIC_OR_PARTITION : error).code())
                .setName(name)
                .setTopicId(key.byId() ? key.id() : Uuid.ZERO_UUID)
                .setIsInternal(name != null && InternalTopics.isInternal(name));
    }
}
