package io.varve.serving.request.data;

import io.varve.serving.request.Nodes;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import org.apache.kafka.common.protocol.Errors;

/**
 * Collects the results of one Produce, partition by partition, in whatever order and on whatever threads they come; gives the whole once, when
 * the last one is there or when the time is over.
 */
final class ProduceAnswer {

    private final List<TopicShape> topics;
    private final AtomicReferenceArray<PartitionProduceResponse> results;
    private final AtomicInteger missing;
    private final CompletableFuture<ProduceResponseData> whole = new CompletableFuture<>();

    /** @param topics what was asked for, in order */
    ProduceAnswer(List<TopicShape> topics) {
        this.topics = topics;
        int partitions = 0;
        for (TopicShape topic : topics) {
            partitions += topic.partitions().length;
        }
        this.results = new AtomicReferenceArray<>(partitions);
        this.missing = new AtomicInteger(partitions);
        if (partitions == 0) {
            finish();
        }
    }

    /** A topic of the request. */
    record TopicShape(String name, org.apache.kafka.common.Uuid id, int[] partitions) {}

    /** Puts the result of the {@code slot}-th partition of the request in its place. */
    void set(int slot, PartitionProduceResponse result) {
        if (results.compareAndSet(slot, null, result) && missing.decrementAndGet() == 0) {
            finish();
        }
    }

    /** The time is over: what is not known by now may or may not have been written. */
    void onTimeout() {
        finish();
    }

    /** The whole. */
    CompletableFuture<ProduceResponseData> whole() {
        return whole;
    }

    private void finish() {
        if (whole.isDone()) {
            return;
        }
        ProduceResponseData data = new ProduceResponseData();
        int slot = 0;
        for (TopicShape topic : topics) {
            ProduceResponseData.TopicProduceResponse response = new ProduceResponseData.TopicProduceResponse()
                    .setName(topic.name())
                    .setTopicId(topic.id());
            for (int partition : topic.partitions()) {
                PartitionProduceResponse result = results.get(slot++);
                response.partitionResponses()
                        .add(result != null ? result : failed(partition, Errors.REQUEST_TIMED_OUT, null));
            }
            data.responses().mustAdd(response);
        }
        whole.complete(data);
    }

    /** A partition's result that is an error. */
    static PartitionProduceResponse failed(int partition, Errors error, String message) {
        return new PartitionProduceResponse()
                .setIndex(partition)
                .setErrorCode(error.code())
                .setBaseOffset(-1)
                .setLogAppendTimeMs(-1)
                .setLogStartOffset(-1)
                .setErrorMessage(message);
    }

    /** Adds the addresses of the brokers that results name as leaders (KIP-951). */
    static void addEndpoint(ProduceResponseData data, Nodes.Node node) {
        if (data.nodeEndpoints().find(node.id()) == null) {
            data.nodeEndpoints()
                    .add(new ProduceResponseData.NodeEndpoint()
                            .setNodeId(node.id())
                            .setHost(node.host())
                            .setPort(node.port())
                            .setRack(node.rack()));
        }
    }
}
