package io.varve.serving.coordinator;

import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestContext;

/**
 * The coordinators that keep what share groups have of partitions: what brokers ask each other, and what the owner of a partition needs. Safe for any thread; nothing blocks. Futures never fail: trouble is an error code in the response.
 */
public interface ShareCoordinators {

    /**
     * Answers one of the five requests by which brokers ask each other for what is kept of partitions.
     *
     * @param request to initialize, read, write, delete or sum up the state of share groups
     */
    CompletableFuture<AbstractResponse> state(RequestContext context, AbstractRequest request);

    /** The way to all that for the owner of a partition, wherever the coordinator is. */
    ShareStates states();

    /** How a group is configured now. */
    ShareGroupSettings settings(String group);
}
