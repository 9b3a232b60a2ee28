package io.varve.serving.coordinator;

import io.varve.serving.core.share.Deliveries;
import io.varve.serving.core.share.ShareKey;
import io.varve.serving.core.share.StateBatch;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.protocol.Errors;

/**
 * Where the owners of partitions keep what share groups have of them: with the share coordinators, here or at other brokers. Safe for any thread;
 * futures never fail, and complete within a deadline.
 */
public interface ShareStates {

    /** The start of a group that has never stood anywhere. */
    long NO_START = -1;

    /**
     * Reads what is stored, and bars owners of earlier epochs from storing.
     *
     * @param leaderEpoch the partition's
     */
    CompletableFuture<Stored> read(ShareKey key, int leaderEpoch);

    /**
     * Stores what has changed. NONE when it is durable; FENCED_STATE_EPOCH or FENCED_LEADER_EPOCH if somebody has reset the group or owns the
     * partition since: then nothing was or will be stored in this owner's name. Anything else says that it isn't known.
     */
    CompletableFuture<Errors> write(ShareKey key, int stateEpoch, int leaderEpoch, Deliveries.Write write);

    /**
     * What is stored.
     *
     * @param error why it isn't known; NONE also if there is nothing
     * @param stateEpoch to be named in writes
     * @param startOffset where the group stands, {@link #NO_START} if nowhere yet
     * @param batches from there on, in order
     */
    record Stored(Errors error, int stateEpoch, long startOffset, List<StateBatch> batches) {}
}
