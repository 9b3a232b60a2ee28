package io.varve.serving.kafka.runtime;

import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.Topic;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates the internal topics on first use; one creation at a time for each. */
final class InternalTopicCreator {

    private static final Logger LOG = LoggerFactory.getLogger(InternalTopicCreator.class);
    private static final int CLUSTER_DEFAULT = -1;

    /** What groups committed is in the bucket no later than this after, for a cluster that has to be restored from there. Can be changed on the topic. */
    private static final String ROLLED_MS = "3600000";

    /** Bookies keep all of it, so that a coordinator loads without object storage. */
    private static final String KEPT_LOCALLY = "-1";

    private static final Map<String, String> COMPACTED = Map.of(
            "cleanup.policy", "compact",
            "segment.bytes", "8388608",
            "segment.ms", ROLLED_MS,
            "local.retention.ms", KEPT_LOCALLY,
            "local.retention.bytes", KEPT_LOCALLY);

    /** Its coordinator moves the log's start itself. */
    private static final Map<String, String> KEPT = Map.of(
            "cleanup.policy",
            "delete",
            "retention.ms",
            "-1",
            "retention.bytes",
            "-1",
            "segment.ms",
            ROLLED_MS,
            "local.retention.ms",
            KEPT_LOCALLY,
            "local.retention.bytes",
            KEPT_LOCALLY);

    private final MetadataClient metadata;
    private final CoordinatorOptions options;
    private final Map<String, CompletableFuture<Topic>> underWay = new ConcurrentHashMap<>();

    InternalTopicCreator(MetadataClient metadata, CoordinatorOptions options) {
        this.metadata = metadata;
        this.options = options;
    }

    /** The topic, created if need be. Fails if that can't be done now. */
    CompletableFuture<Topic> ensure(String name) {
        Optional<Topic> existing = metadata.view().topic(name);
        if (existing.isPresent()) {
            return CompletableFuture.completedFuture(existing.get());
        }
        CompletableFuture<Topic> creation = new CompletableFuture<>();
        CompletableFuture<Topic> running = underWay.putIfAbsent(name, creation);
        if (running != null) {
            return running;
        }
        metadata.createTopic(name, partitionsOf(name), CLUSTER_DEFAULT, configsOf(name))
                .handle((topic, refused) ->
                        refused == null ? CompletableFuture.completedFuture(topic) : afterRefusal(name, refused))
                .thenCompose(outcome -> outcome)
                .whenComplete((topic, failed) -> {
                    underWay.remove(name, creation);
                    if (failed == null) {
                        creation.complete(topic);
                    } else {
                        LOG.warn("event=internal_topic_not_created topic={} reason=\"{}\"", name, failed.getMessage());
                        creation.completeExceptionally(failed);
                    }
                });
        return creation;
    }

    /** Another broker may have been first, or this one without hearing of it. */
    private CompletableFuture<Topic> afterRefusal(String name, Throwable refused) {
        Throwable cause = refused instanceof CompletionException ? refused.getCause() : refused;
        boolean mayExist = cause instanceof MetadataException e
                && (e.reason() == MetadataException.Reason.ALREADY_EXISTS
                        || e.reason() == MetadataException.Reason.UNKNOWN_OUTCOME);
        if (!mayExist) {
            return CompletableFuture.failedFuture(cause);
        }
        return metadata.linearizable()
                .thenApply((MetadataView view) -> view.topic(name).orElseThrow(() -> new CompletionException(cause)));
    }

    private int partitionsOf(String name) {
        return switch (name) {
            case InternalTopics.CONSUMER_OFFSETS -> options.offsetsPartitions();
            case InternalTopics.SHARE_GROUP_STATE -> options.sharePartitions();
            default -> options.transactionPartitions();
        };
    }

    private static Map<String, String> configsOf(String name) {
        return name.equals(InternalTopics.SHARE_GROUP_STATE) ? KEPT : COMPACTED;
    }
}
