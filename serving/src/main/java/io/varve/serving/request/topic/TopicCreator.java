package io.varve.serving.request.topic;

import io.varve.metadata.api.MetadataException;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Topic;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.Futures;
import io.varve.serving.request.PartitionFinder.Found;
import io.varve.serving.request.PartitionFinder.TopicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Makes topics, and says so only once they can be used (P31 of the user reports): when the metadata service has given the partitions owners and
 * this broker serves its own. Other brokers hold requests for theirs until they do.
 */
public final class TopicCreator {

    private final BrokerServices broker;

    /** @param broker surroundings */
    public TopicCreator(BrokerServices broker) {
        this.broker = broker;
    }

    /** Makes a topic. Fails with the metadata service's refusal. */
    public CompletableFuture<Topic> create(String name, int partitions, int replicas, Map<String, String> configs) {
        return broker.metadata()
                .createTopic(name, partitions, replicas, configs)
                .thenCompose(this::awaitOwn);
    }

    /** Makes a topic with all defaults; one that somebody else has made meanwhile is as good. */
    public CompletableFuture<Topic> createIfMissing(String name) {
        int partitions = broker.settings().defaultPartitions();
        int replicas = broker.settings().defaultReplicas();
        return create(name, partitions, replicas, Map.of())
                .handle((topic, failure) -> {
                    if (failure == null) {
                        return CompletableFuture.completedFuture(topic);
                    }
                    Throwable cause = failure.getCause() == null ? failure : failure.getCause();
                    boolean exists = cause instanceof MetadataException refused
                            && refused.reason() == MetadataException.Reason.ALREADY_EXISTS;
                    return exists
                            ? broker.finder()
                                    .views()
                                    .get()
                                    .thenApply(view -> view.topic(name).orElseThrow())
                            : CompletableFuture.<Topic>failedFuture(cause);
                })
                .thenCompose(topic -> topic);
    }

    /** Waits, for a short while, until this broker serves what it owns of the topic. */
    public CompletableFuture<Topic> awaitOwn(Topic topic) {
        List<CompletableFuture<Found>> arriving = new ArrayList<>();
        for (PartitionState partition : broker.view().partitions(topic.id())) {
            if (partition.owner() == broker.settings().brokerId()) {
                arriving.add(broker.finder()
                        .find(
                                TopicKey.of(topic.name()),
                                partition.id().index(),
                                broker.settings().takeoverWaitMs()));
            }
        }
        return Futures.all(arriving).thenApply(ignored -> topic);
    }
}
