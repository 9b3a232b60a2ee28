package io.varve.metadata.model;

import java.util.Objects;

/**
 * The offloaded stretch of a chain that was moved out of Raft into manifest objects in the bucket: everything from the chain's
 * start to {@code endOffset}. The cluster's metadata holds this pointer and nothing else of it, however long the stretch is.
 *
 * @param key the key of the root manifest object
 * @param generation raised with each root written; a root is never overwritten
 * @param startOffset the first offset described
 * @param endOffset exclusive; the start of the first segment that Raft still describes itself
 * @param segments how many segments it describes
 * @param bytes how many bytes of objects it describes
 * @param maxTimestampMs the largest record time in the stretch, {@code -1} if unknown
 * @param length the root's length in bytes
 * @param crc32c the root's checksum
 */
public record ManifestRef(
        String key,
        long generation,
        long startOffset,
        long endOffset,
        long segments,
        long bytes,
        long maxTimestampMs,
        long length,
        int crc32c) {
    public ManifestRef {
        Objects.requireNonNull(key, "key");
    }
}
