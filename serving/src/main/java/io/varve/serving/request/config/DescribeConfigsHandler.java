package io.varve.serving.request.config;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ConfigDefinition;
import io.varve.metadata.model.Topic;
import io.varve.metadata.model.TopicConfigSchema;
import io.varve.metadata.model.TopicNames;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.DescribeConfigsRequestData;
import org.apache.kafka.common.message.DescribeConfigsRequestData.DescribeConfigsResource;
import org.apache.kafka.common.message.DescribeConfigsResponseData;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsResourceResult;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsResult;
import org.apache.kafka.common.message.ListConfigResourcesRequestData;
import org.apache.kafka.common.message.ListConfigResourcesResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.requests.DescribeConfigsResponse;
import org.apache.kafka.common.requests.ListConfigResourcesResponse;

/** DescribeConfigs and ListConfigResources. What is not supported fails in its resource and leaves the others (P34 of the user reports). */
public final class DescribeConfigsHandler {

    private final BrokerServices broker;
    private final NamedResources named;

    /** @param broker surroundings */
    public DescribeConfigsHandler(BrokerServices broker, NamedResources named) {
        this.broker = broker;
        this.named = named;
    }

    /** Handles a DescribeConfigs. */
    public CompletableFuture<Answer> describe(ClientRequest request) {
        DescribeConfigsRequestData data = request.data();
        return broker.finder().views().get().thenApply(view -> {
            List<DescribeConfigsResult> results = new ArrayList<>();
            for (DescribeConfigsResource resource : data.resources()) {
                results.add(describe(view, data, resource));
            }
            return Answer.of(new DescribeConfigsResponse(new DescribeConfigsResponseData().setResults(results)));
        });
    }

    /** Handles a ListConfigResources; version 0 lists subscriptions to clients' metrics alone. */
    public CompletableFuture<Answer> list(ClientRequest request) {
        ListConfigResourcesRequestData data = request.data();
        return broker.finder().views().get().thenApply(view -> {
            ListConfigResourcesResponseData answer = new ListConfigResourcesResponseData();
            boolean all = data.resourceTypes().isEmpty();
            if (request.version() > 0 && (all || data.resourceTypes().contains(ConfigResource.Type.TOPIC.id()))) {
                view.topics().forEach(topic -> add(answer, ConfigResource.Type.TOPIC, topic.name()));
            }
            if (request.version() > 0 && (all || data.resourceTypes().contains(ConfigResource.Type.BROKER.id()))) {
                view.brokers().forEach(info -> add(answer, ConfigResource.Type.BROKER, Integer.toString(info.id())));
            }
            named.types().forEach((type, kind) -> {
                boolean wanted = request.version() > 0
                        ? all || data.resourceTypes().contains(type.id())
                        : type == ConfigResource.Type.CLIENT_METRICS;
                if (wanted) {
                    kind.kind().names(view.clusterConfigs()).forEach(name -> add(answer, type, name));
                }
            });
            return Answer.of(new ListConfigResourcesResponse(answer));
        });
    }

    private static void add(ListConfigResourcesResponseData answer, ConfigResource.Type type, String name) {
        answer.configResources()
                .add(new ListConfigResourcesResponseData.ConfigResource()
                        .setResourceType(type.id())
                        .setResourceName(name));
    }

    private DescribeConfigsResult describe(
            MetadataView view, DescribeConfigsRequestData data, DescribeConfigsResource resource) {
        return switch (ConfigResource.Type.forId(resource.resourceType())) {
            case TOPIC -> topic(view, data, resource);
            case BROKER -> broker(view, data, resource);
            default ->
                named.find(resource.resourceType())
                        .map(kind -> named(kind, view, data, resource))
                        .orElseGet(() -> failed(
                                resource,
                                new ApiError(
                                        Errors.INVALID_REQUEST,
                                        "Configuration of " + ConfigResource.Type.forId(resource.resourceType())
                                                + " resources is not supported.")));
        };
    }

    private static DescribeConfigsResult named(
            NamedResource kind, MetadataView view, DescribeConfigsRequestData data, DescribeConfigsResource resource) {
        if (resource.resourceName().isEmpty()) {
            return failed(resource, new ApiError(Errors.INVALID_REQUEST, kind.nameIsMissing()));
        }
        return done(
                resource,
                kind
                        .describe(resource.resourceName(), view, data.includeSynonyms(), data.includeDocumentation())
                        .stream()
                        .filter(entry -> isWanted(resource, entry.name()))
                        .toList());
    }

    private static DescribeConfigsResult topic(
            MetadataView view, DescribeConfigsRequestData data, DescribeConfigsResource resource) {
        Optional<Topic> topic = view.topic(resource.resourceName());
        if (topic.isEmpty()) {
            return TopicNames.problemOf(resource.resourceName())
                    .map(problem -> failed(resource, new ApiError(Errors.INVALID_TOPIC_EXCEPTION, problem)))
                    .orElseGet(() -> failed(resource, new ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, null)));
        }
        List<DescribeConfigsResourceResult> entries = new ArrayList<>();
        for (ConfigDefinition definition : TopicConfigSchema.all()) {
            if (isWanted(resource, definition.name())) {
                entries.add(TopicConfigEntries.describe(
                        definition, topic.get().configs(), view, data.includeSynonyms(), data.includeDocumentation()));
            }
        }
        return done(resource, entries);
    }

    private DescribeConfigsResult broker(
            MetadataView view, DescribeConfigsRequestData data, DescribeConfigsResource resource) {
        Optional<Integer> id = Optional.empty();
        if (!resource.resourceName().isEmpty()) {
            try {
                id = Optional.of(Integer.parseInt(resource.resourceName()));
            } catch (NumberFormatException e) {
                return failed(
                        resource,
                        new ApiError(
                                Errors.INVALID_REQUEST,
                                "Broker id must be an integer, but it is: " + resource.resourceName()));
            }
            if (id.get() != broker.settings().brokerId()) {
                return failed(
                        resource,
                        new ApiError(
                                Errors.INVALID_REQUEST,
                                "Unexpected broker id, expected "
                                        + broker.settings().brokerId() + " or empty string, but received "
                                        + resource.resourceName()));
            }
        }
        List<DescribeConfigsResourceResult> entries =
                BrokerConfigEntries.all(broker.configs(), view, id, data.includeSynonyms(), data.includeDocumentation())
                        .stream()
                        .filter(entry -> isWanted(resource, entry.name()))
                        .toList();
        return done(resource, entries);
    }

    private static boolean isWanted(DescribeConfigsResource resource, String key) {
        return resource.configurationKeys() == null
                || resource.configurationKeys().isEmpty()
                || resource.configurationKeys().contains(key);
    }

    private static DescribeConfigsResult done(
            DescribeConfigsResource resource, List<DescribeConfigsResourceResult> entries) {
        return new DescribeConfigsResult()
                .setResourceType(resource.resourceType())
                .setResourceName(resource.resourceName())
                .setConfigs(entries);
    }

    private static DescribeConfigsResult failed(DescribeConfigsResource resource, ApiError error) {
        return done(resource, List.of())
                .setErrorCode(error.error().code())
                .setErrorMessage(error.messageWithFallback());
    }
}
