package io.varve.bookie.store;

/**
 * One data directory.
 *
 * @param path as configured
 * @param incarnation the random number in its cookie
 * @param state what it can be used for
 * @param freeBytes what may still be written, reserves taken off
 * @param totalBytes the file system's size
 * @param replicas how many it holds
 * @param slow whether its fsyncs take long at the moment
 */
public record DirectoryInfo(
        String path, long incarnation, State state, long freeBytes, long totalBytes, int replicas, boolean slow) {

    /** What a directory can be used for. */
    public enum State {
        /** Everything. */
        WRITABLE,
        /** Above its high mark: reads, fences, seals and deletions, and appends to what the cluster itself stands on while half of the reserve is left. */
        FULL,
        /** A write or an fsync failed: nothing until the process starts again (I-12). */
        OUT_OF_SERVICE
    }
}
