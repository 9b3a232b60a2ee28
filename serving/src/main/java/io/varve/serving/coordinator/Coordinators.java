package io.varve.serving.coordinator;

import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.FindCoordinatorRequestData;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.requests.RequestContext;

/**
 * All coordinators of this broker. Safe for any thread; nothing blocks. Futures never fail: trouble is an error code in the response.
 * They complete on the coordinators' threads: don't block those.
 */
public interface Coordinators extends AutoCloseable {

    /** The groups whose partition of {@code __consumer_offsets} this broker owns. */
    GroupCoordinators groups();

    /** What may be configured of a group. */
    ResourceRules groupConfigs();

    /** What share groups have of the partitions whose state is in a partition of {@code __share_group_state} that this broker owns. */
    ShareCoordinators shares();

    /** The transactional ids whose partition of {@code __transaction_state} this broker owns. */
    TransactionCoordinators transactions();

    /**
     * Which broker coordinates a group, a transactional id or a share partition, reached through the listener of the request. Creates
     * the internal topic on first use. All versions: the single key up to 3, batches from 4 on.
     */
    CompletableFuture<FindCoordinatorResponseData> findCoordinator(
            RequestContext context, FindCoordinatorRequestData request);

    /** Stops serving: what waits is answered with NOT_COORDINATOR. */
    @Override
    void close();
}
