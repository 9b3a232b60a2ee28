package io.varve.serving.coordinator;

import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.DeleteShareGroupStateRequestData;
import org.apache.kafka.common.message.DeleteShareGroupStateResponseData;
import org.apache.kafka.common.message.InitializeShareGroupStateRequestData;
import org.apache.kafka.common.message.InitializeShareGroupStateResponseData;
import org.apache.kafka.common.message.ReadShareGroupStateRequestData;
import org.apache.kafka.common.message.ReadShareGroupStateResponseData;
import org.apache.kafka.common.message.ReadShareGroupStateSummaryRequestData;
import org.apache.kafka.common.message.ReadShareGroupStateSummaryResponseData;
import org.apache.kafka.common.message.WriteShareGroupStateRequestData;
import org.apache.kafka.common.message.WriteShareGroupStateResponseData;
import org.apache.kafka.common.requests.RequestContext;

/**
 * The coordinators that keep what share groups have of partitions: one method for each API that brokers ask each other, and what the owner of a
 * partition needs. Safe for any thread; nothing blocks. Futures never fail: trouble is an error code in the response.
 */
public interface ShareCoordinators {

    /** Begins to keep state, or begins anew at another offset. */
    CompletableFuture<InitializeShareGroupStateResponseData> initializeState(
            RequestContext context, InitializeShareGroupStateRequestData request);

    /** Reads it. */
    CompletableFuture<ReadShareGroupStateResponseData> readState(
            RequestContext context, ReadShareGroupStateRequestData request);

    /** Changes it. */
    CompletableFuture<WriteShareGroupStateResponseData> writeState(
            RequestContext context, WriteShareGroupStateRequestData request);

    /** Forgets it. */
    CompletableFuture<DeleteShareGroupStateResponseData> deleteState(
            RequestContext context, DeleteShareGroupStateRequestData request);

    /** Reads where a group stands. */
    CompletableFuture<ReadShareGroupStateSummaryResponseData> readSummary(
            RequestContext context, ReadShareGroupStateSummaryRequestData request);

    /** The same for the owner of a partition, wherever the coordinator is. */
    ShareStates states();

    /** How a group is configured now. */
    ShareGroupSettings settings(String group);
}
