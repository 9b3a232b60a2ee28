package io.varve.serving.request.config;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ConfigConflicts;
import io.varve.metadata.model.ConfigDefinition;
import io.varve.metadata.model.Topic;
import io.varve.metadata.model.TopicConfigSchema;
import io.varve.metadata.model.TopicConfigs;
import io.varve.serving.coordinator.ResourceRules;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Futures;
import io.varve.serving.request.MetadataErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.AlterConfigsRequestData;
import org.apache.kafka.common.message.AlterConfigsResponseData;
import org.apache.kafka.common.message.IncrementalAlterConfigsRequestData;
import org.apache.kafka.common.message.IncrementalAlterConfigsResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AlterConfigsResponse;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.requests.IncrementalAlterConfigsResponse;

/**
 * IncrementalAlterConfigs with its four operations, and AlterConfigs, which replaces all there is: Kafka's two ways to change configuration
 * while it is in use. Topics take every topic key; brokers, all or one, take the keys that stand for topics that set nothing; groups and
 * subscriptions to clients' metrics take theirs.
 */
public final class AlterConfigsHandler {

    private static final byte SET = 0;
    private static final byte DELETE = 1;

    private final BrokerServices broker;
    private final NamedResources named;

    /** @param broker surroundings */
    public AlterConfigsHandler(BrokerServices broker, NamedResources named) {
        this.broker = broker;
        this.named = named;
    }

    /** Handles an IncrementalAlterConfigs. */
    public CompletableFuture<Answer> incremental(ClientRequest request) {
        IncrementalAlterConfigsRequestData data = request.data();
        return broker.finder().views().get().thenCompose(view -> {
            List<CompletableFuture<IncrementalAlterConfigsResponseData.AlterConfigsResourceResponse>> results =
                    new ArrayList<>();
            for (IncrementalAlterConfigsRequestData.AlterConfigsResource resource : data.resources()) {
                CompletableFuture<ApiError> done = alter(
                        view,
                        resource.resourceType(),
                        resource.resourceName(),
                        data.validateOnly(),
                        false,
                        changes -> resource.configs()
                                .forEach(config ->
                                        changes.apply(config.name(), config.configOperation(), config.value())));
                results.add(bounded(done)
                        .thenApply(error -> new IncrementalAlterConfigsResponseData.AlterConfigsResourceResponse()
                                .setResourceType(resource.resourceType())
                                .setResourceName(resource.resourceName())
                                .setErrorCode(error.error().code())
                                .setErrorMessage(error.isFailure() ? error.messageWithFallback() : null)));
            }
            return Futures.all(results)
                    .thenApply(all -> Answer.of(new IncrementalAlterConfigsResponse(
                            new IncrementalAlterConfigsResponseData().setResponses(all))));
        });
    }

    /** Handles an AlterConfigs. */
    public CompletableFuture<Answer> replace(ClientRequest request) {
        AlterConfigsRequestData data = request.data();
        return broker.finder().views().get().thenCompose(view -> {
            List<CompletableFuture<AlterConfigsResponseData.AlterConfigsResourceResponse>> results = new ArrayList<>();
            for (AlterConfigsRequestData.AlterConfigsResource resource : data.resources()) {
                CompletableFuture<ApiError> done = alter(
                        view,
                        resource.resourceType(),
                        resource.resourceName(),
                        data.validateOnly(),
                        true,
                        changes -> resource.configs()
                                .forEach(config -> changes.apply(config.name(), SET, config.value())));
                results.add(bounded(done)
                        .thenApply(error -> new AlterConfigsResponseData.AlterConfigsResourceResponse()
                                .setResourceType(resource.resourceType())
                                .setResourceName(resource.resourceName())
                                .setErrorCode(error.error().code())
                                .setErrorMessage(error.isFailure() ? error.messageWithFallback() : null)));
            }
            return Futures.all(results)
                    .thenApply(all ->
                            Answer.of(new AlterConfigsResponse(new AlterConfigsResponseData().setResponses(all))));
        });
    }

    private CompletableFuture<ApiError> bounded(CompletableFuture<ApiError> done) {
        return broker.deadlines()
                .within(broker.settings().adminTimeoutMs(), done, () -> new ApiError(Errors.REQUEST_TIMED_OUT, null));
    }

    private CompletableFuture<ApiError> alter(
            MetadataView view,
            byte type,
            String name,
            boolean validateOnly,
            boolean replaceAll,
            Consumer<ConfigChanges> operations) {
        return switch (ConfigResource.Type.forId(type)) {
            case TOPIC -> alterTopic(view, name, validateOnly, replaceAll, operations);
            case BROKER -> alterBroker(view, name, validateOnly, replaceAll, operations);
            default ->
                named.find(type)
                        .map(kind -> alterNamed(kind, view, name, validateOnly, replaceAll, operations))
                        .orElseGet(() -> refused(
                                Errors.INVALID_REQUEST,
                                "Configuration of " + ConfigResource.Type.forId(type)
                                        + " resources is not supported."));
        };
    }

    private CompletableFuture<ApiError> alterTopic(
            MetadataView view,
            String name,
            boolean validateOnly,
            boolean replaceAll,
            Consumer<ConfigChanges> operations) {
        Optional<Topic> topic = view.topic(name);
        if (topic.isEmpty()) {
            return refused(Errors.UNKNOWN_TOPIC_OR_PARTITION, "The topic '" + name + "' does not exist.");
        }
        Map<String, String> now = topic.get().configs();
        ConfigChanges changes = new ConfigChanges(
                TopicConfigSchema::find, AlterConfigsHandler::unknown, key -> Optional.ofNullable(now.get(key)));
        return carryOut(
                changes,
                now,
                validateOnly,
                replaceAll,
                operations,
                all -> refusal(ConfigConflicts.brought(
                        TopicConfigs.of(now, view.clusterConfigs()),
                        TopicConfigs.of(changed(now, all), view.clusterConfigs()))),
                all -> broker.metadata()
                        .alterTopicConfigs(topic.get().id(), all)
                        .thenApply(changed -> null));
    }

    private CompletableFuture<ApiError> alterBroker(
            MetadataView view,
            String name,
            boolean validateOnly,
            boolean replaceAll,
            Consumer<ConfigChanges> operations) {
        Optional<Integer> id = Optional.empty();
        if (!name.isEmpty()) {
            try {
                id = Optional.of(Integer.parseInt(name));
            } catch (NumberFormatException e) {
                return refused(Errors.INVALID_REQUEST, "Broker id must be an integer, but it is: " + name);
            }
        }
        Optional<Integer> which = id;
        Map<String, ConfigDefinition> dynamic = BrokerConfigEntries.dynamicKeys();
        Map<String, String> now = new TreeMap<>(which.map(view::brokerConfigs).orElseGet(view::clusterConfigs));
        now.keySet().retainAll(dynamic.keySet());
        ConfigChanges changes = new ConfigChanges(
                key -> Optional.ofNullable(dynamic.get(key)),
                AlterConfigsHandler::unknown,
                key -> Optional.ofNullable(now.get(key)));
        return carryOut(
                changes,
                now,
                validateOnly,
                replaceAll,
                operations,
                all -> which.isPresent()
                        ? ApiError.NONE
                        : refusal(ConfigConflicts.broughtToCluster(now, changed(now, all))),
                all -> broker.metadata().alterBrokerConfigs(which, all));
    }

    private CompletableFuture<ApiError> alterNamed(
            NamedResource kind,
            MetadataView view,
            String name,
            boolean validateOnly,
            boolean replaceAll,
            Consumer<ConfigChanges> operations) {
        Map<String, String> now = kind.kind().of(name, view.clusterConfigs());
        ConfigChanges changes = new ConfigChanges(
                key -> kind.rules().find(key).map(ResourceRules.Key::definition),
                kind.rules()::unknown,
                key -> Optional.ofNullable(now.get(key)));
        return carryOut(
                changes,
                now,
                validateOnly,
                replaceAll,
                operations,
                all -> kind.check(name, now, all),
                all -> broker.metadata().alterBrokerConfigs(Optional.empty(), kind.inCluster(name, all)));
    }

    private static ApiError unknown(String key) {
        return new ApiError(Errors.INVALID_CONFIG, "Unknown topic config name: " + key);
    }

    private static Map<String, String> changed(Map<String, String> now, Map<String, Optional<String>> changes) {
        Map<String, String> after = new TreeMap<>(now);
        changes.forEach((key, value) -> value.ifPresentOrElse(set -> after.put(key, set), () -> after.remove(key)));
        return after;
    }

    private static ApiError refusal(Optional<String> problem) {
        return problem.map(line -> new ApiError(Errors.INVALID_CONFIG, line)).orElse(ApiError.NONE);
    }

    private static CompletableFuture<ApiError> carryOut(
            ConfigChanges changes,
            Map<String, String> now,
            boolean validateOnly,
            boolean replaceAll,
            Consumer<ConfigChanges> operations,
            Function<Map<String, Optional<String>>, ApiError> check,
            Function<Map<String, Optional<String>>, CompletableFuture<Void>> change) {
        operations.accept(changes);
        if (replaceAll) {
            now.keySet().stream()
                    .filter(key -> !changes.changes().containsKey(key))
                    .toList()
                    .forEach(key -> changes.apply(key, DELETE, null));
        }
        ApiError problem = changes.problem().isFailure() ? changes.problem() : check.apply(changes.changes());
        if (problem.isFailure() || validateOnly || changes.changes().isEmpty()) {
            return CompletableFuture.completedFuture(problem);
        }
        return change.apply(changes.changes())
                .handle((done, failure) -> failure == null ? ApiError.NONE : MetadataErrors.toKafka(failure));
    }

    private static CompletableFuture<ApiError> refused(Errors error, String message) {
        return CompletableFuture.completedFuture(new ApiError(error, message));
    }
}
