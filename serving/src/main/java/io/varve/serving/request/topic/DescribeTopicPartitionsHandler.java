package io.varve.serving.request.topic;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.Topic;
import io.varve.metadata.model.TopicNames;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Ids;
import io.varve.serving.request.Nodes;
import io.varve.serving.request.Operations;
import io.varve.serving.request.PartitionPlaces;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.DescribeTopicPartitionsRequestData;
import org.apache.kafka.common.message.DescribeTopicPartitionsResponseData;
import org.apache.kafka.common.message.DescribeTopicPartitionsResponseData.Cursor;
import org.apache.kafka.common.message.DescribeTopicPartitionsResponseData.DescribeTopicPartitionsResponsePartition;
import org.apache.kafka.common.message.DescribeTopicPartitionsResponseData.DescribeTopicPartitionsResponseTopic;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.DescribeTopicPartitionsResponse;

/** DescribeTopicPartitions: Metadata in pages (KIP-966). Topics in order of their names; no page has more partitions than the limit. */
public final class DescribeTopicPartitionsHandler {

    private static final int PARTITIONS_MAX = 2_000;

    private final BrokerServices broker;

    /** @param broker surroundings */
    public DescribeTopicPartitionsHandler(BrokerServices broker) {
        this.broker = broker;
    }

    /** Handles one. */
    public CompletableFuture<Answer> handle(ClientRequest request) {
        return broker.finder().views().get().thenApply(view -> answer(request, view));
    }

    private Answer answer(ClientRequest request, MetadataView view) {
        DescribeTopicPartitionsRequestData data = request.data();
        Optional<DescribeTopicPartitionsRequestData.Cursor> cursor = Optional.ofNullable(data.cursor());
        if (cursor.isPresent() && cursor.get().partitionIndex() < 0) {
            return Answer.of(request.parsed()
                    .body()
                    .getErrorResponse(Errors.INVALID_REQUEST.exception("The cursor's partition is negative.")));
        }
        boolean all = data.topics().isEmpty();
        TreeSet<String> names = new TreeSet<>();
        if (all) {
            view.topics().forEach(topic -> names.add(topic.name()));
        } else {
            data.topics().forEach(topic -> names.add(topic.name()));
        }
        String first =
                cursor.map(DescribeTopicPartitionsRequestData.Cursor::topicName).orElse("");
        PartitionPlaces places =
                new PartitionPlaces(Nodes.living(view, request.session().listener()));
        Page page = new Page(Math.max(1, Math.min(data.responsePartitionLimit(), PARTITIONS_MAX)));
        for (String name : names.tailSet(first)) {
            int from = cursor.isPresent() && name.equals(first) ? cursor.get().partitionIndex() : 0;
            Optional<Topic> topic = view.topic(name);
            if (topic.isPresent()) {
                page.add(topic.get(), places.of(view, topic.get()), from);
            } else if (!all) {
                page.addMissing(name);
            }
            if (page.isFull()) {
                break;
            }
        }
        return Answer.of(new DescribeTopicPartitionsResponse(page.data));
    }

    /** A page in the making. */
    private static final class Page {

        private final DescribeTopicPartitionsResponseData data = new DescribeTopicPartitionsResponseData();
        private int left;

        private Page(int limit) {
            this.left = limit;
        }

        private boolean isFull() {
            return data.nextCursor() != null;
        }

        private void add(Topic topic, List<PartitionPlaces.Place> places, int from) {
            if (left == 0) {
                endAt(topic.name(), from);
                return;
            }
            DescribeTopicPartitionsResponseTopic answer = new DescribeTopicPartitionsResponseTopic()
                    .setName(topic.name())
                    .setTopicId(Ids.toKafka(topic.id()))
                    .setIsInternal(InternalTopics.isInternal(topic.name()))
                    .setTopicAuthorizedOperations(Operations.TOPIC);
            data.topics().add(answer);
            for (PartitionPlaces.Place place : places.subList(Math.min(from, places.size()), places.size())) {
                if (left == 0) {
                    endAt(topic.name(), place.partition());
                    return;
                }
                left--;
                answer.partitions().add(partitionOf(place));
            }
        }

        private void addMissing(String name) {
            Errors error = TopicNames.problemOf(name).isPresent()
                    ? Errors.INVALID_TOPIC_EXCEPTION
                    : Errors.UNKNOWN_TOPIC_OR_PARTITION;
            data.topics()
                    .add(new DescribeTopicPartitionsResponseTopic()
                            .setName(name)
                            .setErrorCode(error.code()));
        }

        private void endAt(String name, int partition) {
            data.setNextCursor(new Cursor().setTopicName(name).setPartitionIndex(partition));
        }

        private static DescribeTopicPartitionsResponsePartition partitionOf(PartitionPlaces.Place place) {
            return new DescribeTopicPartitionsResponsePartition()
                    .setErrorCode(place.error().code())
                    .setPartitionIndex(place.partition())
                    .setLeaderId(place.leader())
                    .setLeaderEpoch(place.epoch())
                    .setReplicaNodes(place.replicas())
                    .setIsrNodes(place.leader() < 0 ? List.of() : place.replicas())
                    .setEligibleLeaderReplicas(List.of())
                    .setLastKnownElr(List.of())
                    .setOfflineReplicas(List.of());
        }
    }
}
