package io.varve.tiering.api;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;

/**
 * Copies of the cluster's metadata in the bucket, from which, with the objects beside them, a cluster can be made again that lost everything else. All methods
 * wait for the store, each call of which has its deadline. Safe for any thread.
 */
public interface MetadataBackups {

    /**
     * A backup.
     *
     * @param takenMs wall time
     * @param version of the metadata in it
     * @param bytes its length
     */
    record Backup(String key, long takenMs, long version, long bytes) {}

    /** Writes the metadata's bytes. */
    @FunctionalInterface
    interface Body {
        /** @param out not closed by this */
        void writeTo(OutputStream out) throws IOException;
    }

    /** Those that are there, the oldest first. */
    List<Backup> list() throws IOException;

    /**
     * Writes one and reads it back.
     *
     * @param takenMs later than that of any before
     * @return what is in the bucket now, verified
     */
    Backup save(long takenMs, long version, Body body) throws IOException;

    /**
     * Deletes the oldest.
     *
     * @param keep how many stay
     * @return how many were deleted
     */
    int prune(int keep) throws IOException;

    /** Copies one into a file, which may be there already. */
    void load(Backup backup, Path file) throws IOException;
}
