package io.varve.serving.kafka.group;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.server.util.PartitionMetadataClient;

/** Share groups alone ask for the ends of partitions, and those are not served yet. */
final class NoLatestOffsets implements PartitionMetadataClient {

    @Override
    public Map<TopicPartition, CompletableFuture<OffsetResponse>> listLatestOffsets(Set<TopicPartition> partitions) {
        Map<TopicPartition, CompletableFuture<OffsetResponse>> answers = new LinkedHashMap<>();
        for (TopicPartition partition : partitions) {
            answers.put(
                    partition, CompletableFuture.completedFuture(new OffsetResponse(-1, Errors.UNSUPPORTED_VERSION)));
        }
        return answers;
    }

    @Override
    public void close() {}
}
