package io.varve.serving.coordinator;

import io.varve.serving.core.share.ShareLimits;

/**
 * How a share group is configured.
 *
 * @param limits of deliveries
 * @param renewable whether members may renew their locks
 * @param reset where a group begins that has never stood anywhere
 * @param resetTimeMs with {@link Reset#TIME}, from when on
 * @param committedOnly whether records of transactions are delivered once those are committed, or at once
 */
public record ShareGroupSettings(
        ShareLimits limits, boolean renewable, Reset reset, long resetTimeMs, boolean committedOnly) {

    /** Where to begin. */
    public enum Reset {
        /** At the log's start. */
        EARLIEST,
        /** With what is written from now on. */
        LATEST,
        /** At a time. */
        TIME
    }
}
