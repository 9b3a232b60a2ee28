package io.varve.serving.request.topic;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Topic;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientQuotas;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Futures;
import io.varve.serving.request.MetadataErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.CreatePartitionsRequestData;
import org.apache.kafka.common.message.CreatePartitionsRequestData.CreatePartitionsTopic;
import org.apache.kafka.common.message.CreatePartitionsResponseData;
import org.apache.kafka.common.message.CreatePartitionsResponseData.CreatePartitionsTopicResult;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.requests.CreatePartitionsResponse;

/** CreatePartitions: raises a topic's number of partitions. */
public final class CreatePartitionsHandler {

    private static final short QUOTA_REFUSAL_VERSION = 3;

    private final BrokerServices broker;
    private final TopicCreator creator;

    /** @param broker surroundings */
    public CreatePartitionsHandler(BrokerServices broker, TopicCreator creator) {
        this.broker = broker;
        this.creator = creator;
    }

    /** Handles one. */
    public CompletableFuture<Answer> handle(ClientRequest request) {
        CreatePartitionsRequestData data = request.data();
        long waitMs = Math.min(Math.max(data.timeoutMs(), 1), broker.settings().adminTimeoutMs());
        ClientQuotas.Mutations quota = broker.quotas().mutations(request, QUOTA_REFUSAL_VERSION);
        return broker.finder().views().get().thenCompose(view -> {
            List<CompletableFuture<CreatePartitionsTopicResult>> results = new ArrayList<>();
            for (CreatePartitionsTopic topic : data.topics()) {
                results.add(broker.deadlines()
                        .within(
                                waitMs,
                                grow(view, topic, data.validateOnly(), quota),
                                () -> result(topic, new ApiError(Errors.REQUEST_TIMED_OUT, null))));
            }
            return Futures.all(results)
                    .thenApply(all -> Answer.of(new CreatePartitionsResponse(new CreatePartitionsResponseData()
                            .setThrottleTimeMs(quota.waitMs())
                            .setResults(all))));
        });
    }

    private CompletableFuture<CreatePartitionsTopicResult> grow(
            MetadataView view, CreatePartitionsTopic topic, boolean validateOnly, ClientQuotas.Mutations quota) {
        Optional<Topic> found = view.topic(topic.name());
        ApiError problem = found.map(now -> check(now, topic))
                .orElseGet(() -> new ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, null));
        if (!problem.isFailure()
                && !quota.allows(topic.count() - found.orElseThrow().partitions())) {
            problem = new ApiError(Errors.THROTTLING_QUOTA_EXCEEDED, null);
        }
        if (problem.isFailure() || validateOnly) {
            return CompletableFuture.completedFuture(result(topic, problem));
        }
        return broker.metadata()
                .createPartitions(found.orElseThrow().id(), topic.count())
                .thenCompose(creator::awaitOwn)
                .handle((grown, failure) ->
                        result(topic, failure == null ? ApiError.NONE : MetadataErrors.toKafka(failure)));
    }

    private static ApiError check(Topic now, CreatePartitionsTopic wanted) {
        if (wanted.count() == now.partitions()) {
            return new ApiError(Errors.INVALID_PARTITIONS, "Topic already has " + now.partitions() + " partition(s).");
        }
        if (wanted.count() < now.partitions()) {
            return new ApiError(
                    Errors.INVALID_PARTITIONS,
                    "The topic " + now.name() + " currently has " + now.partitions() + " partition(s); "
                            + wanted.count() + " would not be an increase.");
        }
        if (wanted.assignments() != null && wanted.assignments().size() != wanted.count() - now.partitions()) {
            return new ApiError(
                    Errors.INVALID_REPLICA_ASSIGNMENT,
                    "Attempted to add " + (wanted.count() - now.partitions()) + " additional partition(s), but only "
                            + wanted.assignments().size() + " assignment(s) were specified.");
        }
        return ApiError.NONE;
    }

    private static CreatePartitionsTopicResult result(CreatePartitionsTopic topic, ApiError error) {
        return new CreatePartitionsTopicResult()
                .setName(topic.name())
                .setErrorCode(error.error().code())
                .setErrorMessage(error.isFailure() ? error.messageWithFallback() : null);
    }
}
