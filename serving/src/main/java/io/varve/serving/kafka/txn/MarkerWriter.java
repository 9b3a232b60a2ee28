package io.varve.serving.kafka.txn;

import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.Topic;
import io.varve.serving.core.txn.TxnPartition;
import io.varve.serving.kafka.runtime.Answers;
import io.varve.serving.kafka.runtime.LogErrors;
import io.varve.serving.log.PartitionLog.Marker;
import io.varve.serving.log.PartitionLogs;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.coordinator.group.GroupCoordinator;

/** Writes markers to partitions that this broker owns: through the log, or through the coordinator whose log it is. */
final class MarkerWriter {

    private final Supplier<MetadataView> metadata;
    private final PartitionLogs logs;
    private final Supplier<Optional<GroupCoordinator>> groups;

    MarkerWriter(Supplier<MetadataView> metadata, PartitionLogs logs, Supplier<Optional<GroupCoordinator>> groups) {
        this.metadata = metadata;
        this.logs = logs;
        this.groups = groups;
    }

    /** NONE once it is acknowledged. Never fails. */
    CompletableFuture<Errors> write(TxnPartition partition, Marker marker) {
        Optional<Topic> topic = metadata.get().topic(partition.topic());
        if (topic.isEmpty() || partition.index() >= topic.get().partitions()) {
            return CompletableFuture.completedFuture(Errors.UNKNOWN_TOPIC_OR_PARTITION);
        }
        return partition.topic().equals(InternalTopics.CONSUMER_OFFSETS)
                ? writeToGroups(partition, marker)
                : writeToLog(new PartitionId(topic.get().id(), partition.index()), marker);
    }

    private CompletableFuture<Errors> writeToLog(PartitionId partition, Marker marker) {
        PartitionLogs.Lookup lookup = logs.find(partition);
        if (lookup instanceof PartitionLogs.Lookup.Served served) {
            return served.log().appendMarker(marker).thenApply(result -> LogErrors.codeOf(result.error()));
        }
        // Also if it is unknown: that is for the metadata to say, and this broker's may be behind.
        return CompletableFuture.completedFuture(Errors.NOT_LEADER_OR_FOLLOWER);
    }

    private CompletableFuture<Errors> writeToGroups(TxnPartition partition, Marker marker) {
        Optional<GroupCoordinator> coordinator = groups.get();
        if (coordinator.isEmpty()) {
            return CompletableFuture.completedFuture(Errors.NOT_LEADER_OR_FOLLOWER);
        }
        CompletableFuture<Errors> written = coordinator
                .get()
                .completeTransaction(
                        new TopicPartition(partition.topic(), partition.index()),
                        marker.producerId(),
                        marker.producerEpoch(),
                        marker.coordinatorEpoch(),
                        marker.commit() ? TransactionResult.COMMIT : TransactionResult.ABORT,
                        marker.transactionVersion())
                .thenApply(done -> Errors.NONE);
        return Answers.or(written, error -> switch (error) {
            // The sender knows data partitions only.
            case NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS ->
                Errors.NOT_LEADER_OR_FOLLOWER;
            default -> error;
        });
    }
}
