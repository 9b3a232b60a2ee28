package io.varve.serving.request.data;

import io.varve.serving.log.PartitionLog;
import org.apache.kafka.common.protocol.Errors;

/** Whether a client's idea of a partition's epoch is ours (KIP-320). */
final class Epochs {

    private Epochs() {}

    /**
     * NONE, or who of the two is behind.
     *
     * @param believed the client's, -1 if it has none
     */
    static Errors check(int believed, PartitionLog log) {
        if (believed < 0 || believed == log.epoch()) {
            return Errors.NONE;
        }
        return believed < log.epoch() ? Errors.FENCED_LEADER_EPOCH : Errors.UNKNOWN_LEADER_EPOCH;
    }
}
