package io.varve.tiering.api;

import java.io.IOException;

/** Drops what uploads in parts left behind that nobody will complete: their bookie was killed, and parts are paid for until they are dropped. */
@FunctionalInterface
public interface UploadSweep {

    /**
     * Drops uploads of this cluster that were begun long ago.
     *
     * @param olderThanMs by the store's clock; far more than any upload takes
     * @return how many were dropped
     */
    int drop(long olderThanMs) throws IOException;
}
