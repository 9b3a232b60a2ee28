package io.varve.serving.kafka.txn;

import io.varve.serving.core.txn.TxnPartition;
import io.varve.serving.kafka.runtime.Answers;
import io.varve.serving.log.PartitionLog.Marker;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.WriteTxnMarkersRequestData;
import org.apache.kafka.common.message.WriteTxnMarkersRequestData.WritableTxnMarker;
import org.apache.kafka.common.message.WriteTxnMarkersResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.WriteTxnMarkersResponse;

/** WriteTxnMarkers, as another broker's coordinator or an operator who ends a hanging transaction sends it. */
final class MarkerRequests {

    private final MarkerWriter writer;

    MarkerRequests(MarkerWriter writer) {
        this.writer = writer;
    }

    /** Answers when the last one is written or refused. */
    CompletableFuture<WriteTxnMarkersResponseData> write(WriteTxnMarkersRequestData request) {
        List<CompletableFuture<Written>> written = new ArrayList<>();
        for (WritableTxnMarker wanted : request.markers()) {
            Marker marker = new Marker(
                    wanted.producerId(),
                    wanted.producerEpoch(),
                    wanted.coordinatorEpoch(),
                    wanted.transactionResult(),
                    // Requests of version 1 don't say: they come from coordinators of that time.
                    (short) Math.max(1, wanted.transactionVersion()));
            wanted.topics()
                    .forEach(topic -> topic.partitionIndexes()
                            .forEach(index -> written.add(write(marker, new TxnPartition(topic.name(), index)))));
        }
        return Answers.all(written).thenApply(MarkerRequests::response);
    }

    private CompletableFuture<Written> write(Marker marker, TxnPartition partition) {
        return writer.write(partition, marker).thenApply(error -> new Written(marker.producerId(), partition, error));
    }

    private static WriteTxnMarkersResponseData response(List<Written> written) {
        Map<Long, Map<TopicPartition, Errors>> errors = new TreeMap<>();
        for (Written one : written) {
            errors.computeIfAbsent(one.producerId(), id -> new java.util.LinkedHashMap<>())
                    .put(
                            new TopicPartition(
                                    one.partition().topic(), one.partition().index()),
                            one.error());
        }
        return new WriteTxnMarkersResponse(errors).data();
    }

    private record Written(long producerId, TxnPartition partition, Errors error) {}
}
