package io.varve.serving.partition;

import io.varve.metadata.api.MetadataException;
import io.varve.serving.core.partition.PartitionLeader.AllocationFailure;
import io.varve.serving.core.partition.PartitionLeader.Outcome;
import java.util.concurrent.CompletionException;

/** What a leader makes of the metadata service's answers. */
final class MetadataOutcome {

    private MetadataOutcome() {}

    /** Of a roll or a release. */
    static Outcome of(Throwable failure) {
        if (failure == null) {
            return Outcome.COMMITTED;
        }
        return switch (reason(failure)) {
            case STALE_EPOCH -> Outcome.SUPERSEDED;
            case CHAIN_MOVED -> Outcome.MOVED;
            case NOT_FOUND -> Outcome.SEGMENT_GONE;
            case UNAVAILABLE, NOT_ENOUGH_BOOKIES -> Outcome.NOT_DONE;
            // Whatever else it says, looking is always safe (I-17).
            default -> Outcome.UNKNOWN;
        };
    }

    /** Of an allocation. */
    static AllocationFailure ofAllocation(Throwable failure) {
        return switch (reason(failure)) {
            case STALE_EPOCH -> AllocationFailure.SUPERSEDED;
            case NOT_ENOUGH_BOOKIES -> AllocationFailure.NOT_ENOUGH_BOOKIES;
            default -> AllocationFailure.UNAVAILABLE;
        };
    }

    private static MetadataException.Reason reason(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof MetadataException refused ? refused.reason() : MetadataException.Reason.UNKNOWN_OUTCOME;
    }
}
