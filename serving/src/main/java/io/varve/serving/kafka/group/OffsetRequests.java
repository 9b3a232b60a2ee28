package io.varve.serving.kafka.group;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Topic;
import io.varve.serving.kafka.runtime.Answers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestTopic;
import org.apache.kafka.common.message.OffsetCommitResponseData;
import org.apache.kafka.common.message.OffsetDeleteRequestData;
import org.apache.kafka.common.message.OffsetDeleteRequestData.OffsetDeleteRequestTopic;
import org.apache.kafka.common.message.OffsetDeleteRequestData.OffsetDeleteRequestTopicCollection;
import org.apache.kafka.common.message.OffsetDeleteResponseData;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchRequestData.OffsetFetchRequestGroup;
import org.apache.kafka.common.message.OffsetFetchRequestData.OffsetFetchRequestTopics;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.message.OffsetFetchResponseData.OffsetFetchResponseGroup;
import org.apache.kafka.common.message.OffsetFetchResponseData.OffsetFetchResponsePartitions;
import org.apache.kafka.common.message.OffsetFetchResponseData.OffsetFetchResponseTopics;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData.TxnOffsetCommitRequestTopic;
import org.apache.kafka.common.message.TxnOffsetCommitResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.OffsetCommitRequest;
import org.apache.kafka.common.requests.OffsetCommitResponse;
import org.apache.kafka.common.requests.OffsetDeleteResponse;
import org.apache.kafka.common.requests.OffsetFetchRequest;
import org.apache.kafka.common.requests.OffsetFetchResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.TxnOffsetCommitRequest;
import org.apache.kafka.common.requests.TxnOffsetCommitResponse;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.coordinator.group.GroupCoordinator;

/**
 * The requests that name topics. The coordinator takes any name; that topics and partitions exist is checked here, and what doesn't is
 * answered beside what the coordinator answers for the rest.
 */
final class OffsetRequests {

    private static final long NO_OFFSET = -1;

    private final Supplier<MetadataView> metadata;

    OffsetRequests(Supplier<MetadataView> metadata) {
        this.metadata = metadata;
    }

    CompletableFuture<OffsetCommitResponseData> commit(
            GroupCoordinator groups, RequestContext context, OffsetCommitRequestData request) {
        boolean byId = OffsetCommitResponse.useTopicIds(context.apiVersion());
        TopicNames names = new TopicNames(metadata.get(), byId);
        OffsetCommitResponse.Builder answer = OffsetCommitResponse.newBuilder(byId);
        List<OffsetCommitRequestTopic> known = new ArrayList<>();
        for (OffsetCommitRequestTopic topic : request.topics()) {
            Optional<Topic> found = names.find(topic.topicId(), topic.name());
            if (found.isEmpty()) {
                answer.addPartitions(
                        topic.topicId(),
                        topic.name(),
                        topic.partitions(),
                        p -> p.partitionIndex(),
                        names.unknownTopic());
                continue;
            }
            OffsetCommitRequestTopic valid =
                    new OffsetCommitRequestTopic().setName(found.get().name()).setTopicId(TopicNames.idOf(found.get()));
            for (var partition : topic.partitions()) {
                if (partition.partitionIndex() >= 0
                        && partition.partitionIndex() < found.get().partitions()) {
                    valid.partitions().add(partition);
                } else {
                    answer.addPartition(
                            topic.topicId(),
                            found.get().name(),
                            partition.partitionIndex(),
                            Errors.UNKNOWN_TOPIC_OR_PARTITION);
                }
            }
            if (!valid.partitions().isEmpty()) {
                known.add(valid);
            }
        }
        if (known.isEmpty()) {
            return CompletableFuture.completedFuture(answer.build().data());
        }
        OffsetCommitRequestData rest = request.duplicate().setTopics(known);
        return Answers.or(
                groups.commitOffsets(context, rest, BufferSupplier.NO_CACHING)
                        .thenApply(response -> answer.merge(response).build().data()),
                error -> OffsetCommitRequest.getErrorResponse(request, error));
    }

    CompletableFuture<TxnOffsetCommitResponseData> commitInTransaction(
            GroupCoordinator groups, RequestContext context, TxnOffsetCommitRequestData request) {
        boolean byId = TxnOffsetCommitResponse.useTopicIds(context.apiVersion());
        TopicNames names = new TopicNames(metadata.get(), byId);
        TxnOffsetCommitResponse.Builder answer = TxnOffsetCommitResponse.newBuilder(byId);
        List<TxnOffsetCommitRequestTopic> known = new ArrayList<>();
        for (TxnOffsetCommitRequestTopic topic : request.topics()) {
            Optional<Topic> found = names.find(topic.topicId(), topic.name());
            if (found.isEmpty()) {
                answer.addPartitions(
                        topic.topicId(),
                        topic.name(),
                        topic.partitions(),
                        p -> p.partitionIndex(),
                        names.unknownTopic());
                continue;
            }
            TxnOffsetCommitRequestTopic valid = new TxnOffsetCommitRequestTopic()
                    .setName(found.get().name())
                    .setTopicId(TopicNames.idOf(found.get()));
            for (var partition : topic.partitions()) {
                if (partition.partitionIndex() >= 0
                        && partition.partitionIndex() < found.get().partitions()) {
                    valid.partitions().add(partition);
                } else {
                    answer.addPartition(
                            topic.topicId(),
                            found.get().name(),
                            partition.partitionIndex(),
                            Errors.UNKNOWN_TOPIC_OR_PARTITION);
                }
            }
            if (!valid.partitions().isEmpty()) {
                known.add(valid);
            }
        }
        if (known.isEmpty()) {
            return CompletableFuture.completedFuture(answer.build().data());
        }
        TxnOffsetCommitRequestData rest = request.duplicate().setTopics(known);
        return Answers.or(
                groups.commitTransactionalOffsets(context, rest, BufferSupplier.NO_CACHING)
                        .thenApply(response -> answer.merge(response).build().data()),
                error -> TxnOffsetCommitRequest.getErrorResponse(request, error));
    }

    CompletableFuture<OffsetDeleteResponseData> delete(
            GroupCoordinator groups, RequestContext context, OffsetDeleteRequestData request) {
        TopicNames names = new TopicNames(metadata.get(), false);
        OffsetDeleteResponse.Builder answer = new OffsetDeleteResponse.Builder();
        OffsetDeleteRequestTopicCollection known = new OffsetDeleteRequestTopicCollection();
        for (OffsetDeleteRequestTopic topic : request.topics()) {
            Optional<Topic> found = names.find(null, topic.name());
            OffsetDeleteRequestTopic valid = new OffsetDeleteRequestTopic().setName(topic.name());
            for (var partition : topic.partitions()) {
                if (found.isPresent()
                        && partition.partitionIndex() >= 0
                        && partition.partitionIndex() < found.get().partitions()) {
                    valid.partitions().add(partition);
                } else {
                    answer.addPartition(topic.name(), partition.partitionIndex(), Errors.UNKNOWN_TOPIC_OR_PARTITION);
                }
            }
            if (!valid.partitions().isEmpty()) {
                known.add(valid);
            }
        }
        // Also with nothing left: the group itself may be in error.
        OffsetDeleteRequestData rest =
                new OffsetDeleteRequestData().setGroupId(request.groupId()).setTopics(known);
        return Answers.or(
                groups.deleteOffsets(context, rest, BufferSupplier.NO_CACHING)
                        .thenApply(response -> answer.merge(response).build().data()),
                error -> new OffsetDeleteResponseData().setErrorCode(error.code()));
    }

    CompletableFuture<OffsetFetchResponseData> fetch(
            GroupCoordinator groups, RequestContext context, OffsetFetchRequestData request) {
        List<CompletableFuture<OffsetFetchResponseGroup>> answers = new ArrayList<>();
        for (OffsetFetchRequestGroup group : groupsIn(request, context.apiVersion())) {
            answers.add(fetch(groups, context, group, request.requireStable()));
        }
        return Answers.all(answers)
                .thenApply(all -> new OffsetFetchResponse.Builder(all)
                        .build(context.apiVersion())
                        .data());
    }

    /** What to answer to all of {@code request}. */
    static OffsetFetchResponseData fetchError(OffsetFetchRequestData request, short version, Errors error) {
        List<OffsetFetchResponseGroup> failed = groupsIn(request, version).stream()
                .map(group -> OffsetFetchResponse.groupError(group, error, version))
                .toList();
        return new OffsetFetchResponse.Builder(failed).build(version).data();
    }

    /** Before version 8 a request is of one group. */
    private static List<OffsetFetchRequestGroup> groupsIn(OffsetFetchRequestData request, short version) {
        if (version >= OffsetFetchRequest.BATCH_MIN_VERSION) {
            return request.groups();
        }
        OffsetFetchRequestGroup group = new OffsetFetchRequestGroup().setGroupId(request.groupId());
        if (request.topics() == null) {
            return List.of(group.setTopics(null));
        }
        for (var topic : request.topics()) {
            group.topics()
                    .add(new OffsetFetchRequestTopics()
                            .setName(topic.name())
                            .setPartitionIndexes(topic.partitionIndexes()));
        }
        return List.of(group);
    }

    private CompletableFuture<OffsetFetchResponseGroup> fetch(
            GroupCoordinator groups, RequestContext context, OffsetFetchRequestGroup group, boolean requireStable) {
        boolean byId = OffsetFetchRequest.useTopicIds(context.apiVersion());
        MetadataView view = metadata.get();
        List<OffsetFetchResponseTopics> unknown = new ArrayList<>();
        OffsetFetchRequestGroup rest = group.duplicate();
        if (byId && group.topics() != null) {
            rest.setTopics(named(group.topics(), new TopicNames(view, true), unknown));
        }
        return Answers.or(
                groups.fetchOffsets(context, rest, requireStable)
                        .thenApply(answer -> answer.errorCode() == Errors.NONE.code()
                                ? withIds(answer, view, byId, unknown)
                                : answer),
                error -> OffsetFetchResponse.groupError(group, error, context.apiVersion()));
    }

    private static List<OffsetFetchRequestTopics> named(
            List<OffsetFetchRequestTopics> topics, TopicNames names, List<OffsetFetchResponseTopics> unknown) {
        List<OffsetFetchRequestTopics> known = new ArrayList<>();
        for (OffsetFetchRequestTopics topic : topics) {
            Optional<Topic> found = names.find(topic.topicId(), topic.name());
            if (found.isPresent()) {
                known.add(topic.duplicate().setName(found.get().name()));
                continue;
            }
            OffsetFetchResponseTopics failed = new OffsetFetchResponseTopics().setTopicId(topic.topicId());
            for (int partition : topic.partitionIndexes()) {
                failed.partitions()
                        .add(new OffsetFetchResponsePartitions()
                                .setPartitionIndex(partition)
                                .setCommittedOffset(NO_OFFSET)
                                .setErrorCode(names.unknownTopic().code()));
            }
            unknown.add(failed);
        }
        return known;
    }

    /** Fills ids in, drops what has none any more if ids are what the client reads, and adds what wasn't found. */
    private static OffsetFetchResponseGroup withIds(
            OffsetFetchResponseGroup answer, MetadataView view, boolean byId, List<OffsetFetchResponseTopics> unknown) {
        if (!byId) {
            return answer;
        }
        List<OffsetFetchResponseTopics> topics = new ArrayList<>(unknown);
        for (OffsetFetchResponseTopics topic : answer.topics()) {
            view.topic(topic.name()).ifPresent(found -> topics.add(topic.setTopicId(TopicNames.idOf(found))));
        }
        return answer.setTopics(topics);
    }
}
