package io.varve.serving.kafka.group;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Topic;
import io.varve.serving.kafka.runtime.Answers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestPartition;
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
import org.apache.kafka.common.message.TxnOffsetCommitRequestData.TxnOffsetCommitRequestPartition;
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

    /** Where a kind of commit keeps what both kinds have: the classes differ, and nothing else. */
    private record Shape<T, P>(
            Function<T, Uuid> id,
            Function<T, String> name,
            Function<T, List<P>> partitions,
            ToIntFunction<P> index,
            BiFunction<Topic, List<P>, T> make) {}

    private static final Shape<OffsetCommitRequestTopic, OffsetCommitRequestPartition> COMMIT = new Shape<>(
            OffsetCommitRequestTopic::topicId,
            OffsetCommitRequestTopic::name,
            OffsetCommitRequestTopic::partitions,
            OffsetCommitRequestPartition::partitionIndex,
            (topic, partitions) -> new OffsetCommitRequestTopic()
                    .setName(topic.name())
                    .setTopicId(TopicNames.idOf(topic))
                    .setPartitions(partitions));

    private static final Shape<TxnOffsetCommitRequestTopic, TxnOffsetCommitRequestPartition> TXN_COMMIT = new Shape<>(
            TxnOffsetCommitRequestTopic::topicId,
            TxnOffsetCommitRequestTopic::name,
            TxnOffsetCommitRequestTopic::partitions,
            TxnOffsetCommitRequestPartition::partitionIndex,
            (topic, partitions) -> new TxnOffsetCommitRequestTopic()
                    .setName(topic.name())
                    .setTopicId(TopicNames.idOf(topic))
                    .setPartitions(partitions));

    private final Supplier<MetadataView> metadata;

    OffsetRequests(Supplier<MetadataView> metadata) {
        this.metadata = metadata;
    }

    CompletableFuture<OffsetCommitResponseData> commit(
            GroupCoordinator groups, RequestContext context, OffsetCommitRequestData request) {
        boolean byId = OffsetCommitResponse.useTopicIds(context.apiVersion());
        OffsetCommitResponse.Builder answer = OffsetCommitResponse.newBuilder(byId);
        List<OffsetCommitRequestTopic> known =
                known(request.topics(), COMMIT, new TopicNames(metadata.get(), byId), answer::addPartition);
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
        TxnOffsetCommitResponse.Builder answer = TxnOffsetCommitResponse.newBuilder(byId);
        List<TxnOffsetCommitRequestTopic> known =
                known(request.topics(), TXN_COMMIT, new TopicNames(metadata.get(), byId), answer::addPartition);
        if (known.isEmpty()) {
            return CompletableFuture.completedFuture(answer.build().data());
        }
        TxnOffsetCommitRequestData rest = request.duplicate().setTopics(known);
        return Answers.or(
                groups.commitTransactionalOffsets(context, rest, BufferSupplier.NO_CACHING)
                        .thenApply(response -> answer.merge(response).build().data()),
                error -> TxnOffsetCommitRequest.getErrorResponse(request, error));
    }

    /** Takes a partition into the answer that there is nothing to commit for. */
    @FunctionalInterface
    private interface Refusal {
        void of(Uuid topicId, String name, int partition, Errors error);
    }

    /** Those of {@code topics} that are there, with those of their partitions that are; of all others {@code refusal} is told. */
    private static <T, P> List<T> known(List<T> topics, Shape<T, P> shape, TopicNames names, Refusal refusal) {
        List<T> known = new ArrayList<>();
        for (T topic : topics) {
            Uuid id = shape.id.apply(topic);
            String name = shape.name.apply(topic);
            Optional<Topic> found = names.find(id, name);
            List<P> valid = new ArrayList<>();
            for (P partition : shape.partitions.apply(topic)) {
                int index = shape.index.applyAsInt(partition);
                if (found.isEmpty()) {
                    refusal.of(id, name, index, names.unknownTopic());
                } else if (index < 0 || index >= found.get().partitions()) {
                    refusal.of(id, found.get().name(), index, Errors.UNKNOWN_TOPIC_OR_PARTITION);
                } else {
                    valid.add(partition);
                }
            }
            if (!valid.isEmpty()) {
                known.add(shape.make.apply(found.orElseThrow(), valid));
            }
        }
        return known;
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
