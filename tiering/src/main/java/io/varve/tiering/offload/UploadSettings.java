package io.varve.tiering.offload;

import io.varve.base.Invariant;

/**
 * How objects are written.
 *
 * @param uploadsMax segments uploaded at a time
 * @param queueMax further ones that wait
 * @param partBytes of a multipart upload's part; an object no larger is written by a single PUT
 * @param partsInFlightMax of one upload
 * @param blockBytes of a block before compression
 * @param compress whether blocks are compressed where it saves
 * @param bytesPerSecond of all uploads together; {@code 0} for no limit
 */
public record UploadSettings(
        int uploadsMax,
        int queueMax,
        int partBytes,
        int partsInFlightMax,
        int blockBytes,
        boolean compress,
        long bytesPerSecond) {
    public UploadSettings {
        Invariant.check(uploadsMax > 0 && partsInFlightMax > 0, "at least one upload of one part");
    }

    /** Parts in memory: of each upload those that are sent and one that is filled meanwhile. */
    int buffers() {
        return uploadsMax * (partsInFlightMax + 1);
    }
}
