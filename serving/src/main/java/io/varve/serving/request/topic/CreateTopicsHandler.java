package io.varve.serving.request.topic;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.ConfigConflicts;
import io.varve.metadata.model.Topic;
import io.varve.metadata.model.TopicConfigSchema;
import io.varve.metadata.model.TopicConfigs;
import io.varve.metadata.model.TopicNames;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientQuotas;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Futures;
import io.varve.serving.request.Ids;
import io.varve.serving.request.MetadataErrors;
import io.varve.serving.request.config.TopicConfigEntries;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.CreateTopicsRequestData;
import org.apache.kafka.common.message.CreateTopicsRequestData.CreatableReplicaAssignment;
import org.apache.kafka.common.message.CreateTopicsRequestData.CreatableTopic;
import org.apache.kafka.common.message.CreateTopicsResponseData;
import org.apache.kafka.common.message.CreateTopicsResponseData.CreatableTopicResult;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.requests.CreateTopicsResponse;

/**
 * CreateTopics: checks each topic by Kafka's rules and with Kafka's errors, then makes it. Answered when it can be used. Assignments of
 * replicas to brokers give the numbers of partitions and replicas; where they are put is not for clients to say, for brokers hold none.
 */
public final class CreateTopicsHandler {

    private static final short QUOTA_REFUSAL_VERSION = 6;

    private final BrokerServices broker;
    private final TopicCreator creator;

    /** @param broker surroundings */
    public CreateTopicsHandler(BrokerServices broker, TopicCreator creator) {
        this.broker = broker;
        this.creator = creator;
    }

    /** A topic to be made, as far as it makes sense. */
    private record Order(String name, int partitions, int replicas, Map<String, String> configs) {}

    /** Handles one. */
    public CompletableFuture<Answer> handle(ClientRequest request) {
        CreateTopicsRequestData data = request.data();
        long waitMs = Math.min(Math.max(data.timeoutMs(), 1), broker.settings().adminTimeoutMs());
        ClientQuotas.Mutations quota = broker.quotas().mutations(request, QUOTA_REFUSAL_VERSION);
        return broker.finder().views().get().thenCompose(view -> {
            List<CompletableFuture<CreatableTopicResult>> results = new ArrayList<>();
            TreeSet<String> seen = new TreeSet<>();
            for (CreatableTopic topic : data.topics()) {
                if (!seen.add(topic.name())) {
                    continue;
                }
                CompletableFuture<CreatableTopicResult> result =
                        data.topics().findAll(topic.name()).size() > 1
                                ? failed(topic.name(), new ApiError(Errors.INVALID_REQUEST, "Duplicate topic name."))
                                : create(view, topic, data.validateOnly(), quota);
                results.add(broker.deadlines()
                        .within(
                                waitMs,
                                result,
                                () -> failedNow(topic.name(), new ApiError(Errors.REQUEST_TIMED_OUT, null))));
            }
            return Futures.all(results).thenApply(all -> answer(all, quota.waitMs()));
        });
    }

    private static Answer answer(List<CreatableTopicResult> results, int waitMs) {
        CreateTopicsResponseData data = new CreateTopicsResponseData().setThrottleTimeMs(waitMs);
        results.forEach(data.topics()::mustAdd);
        return Answer.of(new CreateTopicsResponse(data));
    }

    private CompletableFuture<CreatableTopicResult> create(
            MetadataView view, CreatableTopic topic, boolean validateOnly, ClientQuotas.Mutations quota) {
        ApiError problem = check(view, topic);
        if (problem.isFailure()) {
            return failed(topic.name(), problem);
        }
        Order order = orderOf(topic);
        if (!quota.allows(order.partitions)) {
            return failed(topic.name(), new ApiError(Errors.THROTTLING_QUOTA_EXCEEDED, null));
        }
        if (validateOnly) {
            return CompletableFuture.completedFuture(
                    result(order.name, Uuid.ZERO_UUID, order.partitions, order.replicas, order.configs));
        }
        return creator.create(order.name, order.partitions, order.replicas, order.configs)
                .handle((made, failure) ->
                        failure == null ? made(made) : failedNow(order.name, MetadataErrors.toKafka(failure)));
    }

    private static ApiError check(MetadataView view, CreatableTopic topic) {
        Optional<String> name = TopicNames.problemOf(topic.name());
        if (name.isPresent()) {
            return new ApiError(Errors.INVALID_TOPIC_EXCEPTION, "Topic name is invalid: " + name.get());
        }
        if (view.topic(topic.name()).isPresent()) {
            return new ApiError(Errors.TOPIC_ALREADY_EXISTS, "Topic '" + topic.name() + "' already exists.");
        }
        ApiError shape = topic.assignments().isEmpty() ? checkNumbers(view, topic) : checkAssignments(topic);
        return shape.isFailure() ? shape : checkConfigs(view, topic);
    }

    private static ApiError checkNumbers(MetadataView view, CreatableTopic topic) {
        if (topic.numPartitions() == 0 || topic.numPartitions() < -1) {
            return new ApiError(
                    Errors.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value.");
        }
        if (topic.replicationFactor() == 0 || topic.replicationFactor() < -1) {
            return new ApiError(
                    Errors.INVALID_REPLICATION_FACTOR, "Replication factor was set to an invalid non-positive value.");
        }
        return checkReplicas(view, topic.replicationFactor());
    }

    private static ApiError checkReplicas(MetadataView view, int replicas) {
        long bookies = view.bookies().stream()
                .filter(bookie -> bookie.state() != BookieInfo.State.GONE)
                .count();
        return replicas > bookies
                ? new ApiError(
                        Errors.INVALID_REPLICATION_FACTOR,
                        "Unable to replicate the partition " + replicas
                                + " time(s): The target replication factor of " + replicas
                                + " cannot be reached because only " + bookies + " bookie(s) are registered.")
                : ApiError.NONE;
    }

    private static ApiError checkAssignments(CreatableTopic topic) {
        if (topic.numPartitions() != -1 || topic.replicationFactor() != -1) {
            return new ApiError(
                    Errors.INVALID_REQUEST,
                    "A manual partition assignment was specified, but numPartitions or replicationFactor was not set"
                            + " to -1.");
        }
        TreeMap<Integer, Integer> sizes = new TreeMap<>();
        for (CreatableReplicaAssignment assignment : topic.assignments()) {
            if (assignment.brokerIds().isEmpty()
                    || sizes.put(
                                    assignment.partitionIndex(),
                                    assignment.brokerIds().size())
                            != null) {
                return new ApiError(
                        Errors.INVALID_REPLICA_ASSIGNMENT,
                        "The manual partition assignment names partition " + assignment.partitionIndex()
                                + " twice, or without a broker.");
            }
        }
        if (sizes.firstKey() != 0 || sizes.lastKey() != sizes.size() - 1 || new TreeSet<>(sizes.values()).size() != 1) {
            return new ApiError(
                    Errors.INVALID_REPLICA_ASSIGNMENT,
                    "Partitions should be a consecutive 0-based integer sequence, all with as many replicas.");
        }
        return ApiError.NONE;
    }

    private static ApiError checkConfigs(MetadataView view, CreatableTopic topic) {
        for (CreateTopicsRequestData.CreatableTopicConfig config : topic.configs()) {
            if (config.value() == null) {
                return new ApiError(
                        Errors.INVALID_CONFIG, "Null value not supported for topic configs: " + config.name());
            }
        }
        Map<String, String> configs = configsOf(topic);
        return TopicConfigSchema.problemOf(configs)
                .or(() -> ConfigConflicts.of(TopicConfigs.of(configs, view.clusterConfigs())))
                .map(problem -> new ApiError(Errors.INVALID_CONFIG, problem))
                .orElse(ApiError.NONE);
    }

    private Order orderOf(CreatableTopic topic) {
        if (topic.assignments().isEmpty()) {
            int partitions =
                    topic.numPartitions() == -1 ? broker.settings().defaultPartitions() : topic.numPartitions();
            int replicas =
                    topic.replicationFactor() == -1 ? broker.settings().defaultReplicas() : topic.replicationFactor();
            return new Order(topic.name(), partitions, replicas, configsOf(topic));
        }
        int replicas = topic.assignments().iterator().next().brokerIds().size();
        return new Order(topic.name(), topic.assignments().size(), replicas, configsOf(topic));
    }

    private static Map<String, String> configsOf(CreatableTopic topic) {
        Map<String, String> configs = new TreeMap<>();
        topic.configs().forEach(config -> configs.put(config.name(), config.value()));
        return configs;
    }

    private CreatableTopicResult made(Topic topic) {
        return result(topic.name(), Ids.toKafka(topic.id()), topic.partitions(), topic.replicas(), topic.configs());
    }

    private CreatableTopicResult result(
            String name, Uuid id, int partitions, int replicas, Map<String, String> configs) {
        CreatableTopicResult result = new CreatableTopicResult()
                .setName(name)
                .setTopicId(id)
                .setNumPartitions(partitions)
                .setReplicationFactor((short) replicas);
        result.setConfigs(TopicConfigEntries.forCreation(configs, broker.view()));
        return result;
    }

    private static CreatableTopicResult failedNow(String name, ApiError error) {
        return new CreatableTopicResult()
                .setName(name)
                .setErrorCode(error.error().code())
                .setErrorMessage(error.messageWithFallback())
                .setNumPartitions(-1)
                .setReplicationFactor((short) -1)
                .setConfigs(List.of());
    }

    private static CompletableFuture<CreatableTopicResult> failed(String name, ApiError error) {
        return CompletableFuture.completedFuture(failedNow(name, error));
    }
}
