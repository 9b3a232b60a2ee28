package io.varve.serving.request.topic;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.Topic;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientQuotas;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Futures;
import io.varve.serving.request.Ids;
import io.varve.serving.request.MetadataErrors;
import io.varve.serving.request.PartitionFinder.TopicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.DeleteTopicsRequestData;
import org.apache.kafka.common.message.DeleteTopicsResponseData;
import org.apache.kafka.common.message.DeleteTopicsResponseData.DeletableTopicResult;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.requests.DeleteTopicsResponse;

/** DeleteTopics, by name or by id. The name is free again when it is answered; segments and objects are deleted afterwards. */
public final class DeleteTopicsHandler {

    private static final short TOPIC_STATES_VERSION = 6;
    private static final short QUOTA_REFUSAL_VERSION = 5;

    private final BrokerServices broker;

    /** @param broker surroundings */
    public DeleteTopicsHandler(BrokerServices broker) {
        this.broker = broker;
    }

    /** Handles one. */
    public CompletableFuture<Answer> handle(ClientRequest request) {
        DeleteTopicsRequestData data = request.data();
        long waitMs = Math.min(Math.max(data.timeoutMs(), 1), broker.settings().adminTimeoutMs());
        List<TopicKey> keys = new ArrayList<>();
        if (request.version() < TOPIC_STATES_VERSION) {
            data.topicNames().forEach(name -> keys.add(TopicKey.of(name)));
        } else {
            data.topics().forEach(topic -> keys.add(new TopicKey(topic.name(), topic.topicId())));
        }
        ClientQuotas.Mutations quota = broker.quotas().mutations(request, QUOTA_REFUSAL_VERSION);
        return broker.finder().views().get().thenCompose(view -> {
            List<CompletableFuture<DeletableTopicResult>> results = new ArrayList<>();
            for (TopicKey key : keys) {
                results.add(broker.deadlines()
                        .within(
                                waitMs,
                                delete(view, key, quota),
                                () -> result(key, Optional.empty(), new ApiError(Errors.REQUEST_TIMED_OUT, null))));
            }
            return Futures.all(results).thenApply(all -> answer(all, quota.waitMs()));
        });
    }

    private static Answer answer(List<DeletableTopicResult> results, int waitMs) {
        DeleteTopicsResponseData data = new DeleteTopicsResponseData().setThrottleTimeMs(waitMs);
        results.forEach(data.responses()::add);
        return Answer.of(new DeleteTopicsResponse(data));
    }

    private CompletableFuture<DeletableTopicResult> delete(
            MetadataView view, TopicKey key, ClientQuotas.Mutations quota) {
        if (key.byId() == (key.name() != null)) {
            ApiError both = new ApiError(
                    Errors.INVALID_REQUEST, "A topic to delete is named by its name or by its id: one of the two.");
            return CompletableFuture.completedFuture(result(key, Optional.empty(), both));
        }
        Optional<Topic> topic = key.in(view);
        if (topic.isEmpty()) {
            return CompletableFuture.completedFuture(result(key, topic, new ApiError(key.unknown(), null)));
        }
        if (InternalTopics.isInternal(topic.get().name())) {
            ApiError internal = new ApiError(
                    Errors.POLICY_VIOLATION, "Topic " + topic.get().name() + " is internal and can't be deleted.");
            return CompletableFuture.completedFuture(result(key, topic, internal));
        }
        if (!quota.allows(topic.get().partitions())) {
            return CompletableFuture.completedFuture(
                    result(key, topic, new ApiError(Errors.THROTTLING_QUOTA_EXCEEDED, null)));
        }
        return broker.metadata()
                .deleteTopic(topic.get().id())
                .handle((done, failure) ->
                        result(key, topic, failure == null ? ApiError.NONE : MetadataErrors.toKafka(failure)));
    }

    private static DeletableTopicResult result(TopicKey key, Optional<Topic> topic, ApiError error) {
        return new DeletableTopicResult()
                .setName(topic.map(Topic::name).orElse(key.name()))
                .setTopicId(topic.map(found -> Ids.toKafka(found.id())).orElse(key.byId() ? key.id() : Uuid.ZERO_UUID))
                .setErrorCode(error.error().code())
                .setErrorMessage(error.isFailure() ? error.messageWithFallback() : null);
    }
}
