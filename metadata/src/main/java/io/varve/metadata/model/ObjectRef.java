package io.varve.metadata.model;

import java.util.Objects;

/**
 * A verified object in the bucket. One object can hold several adjoining segments of one partition.
 *
 * @param key as {@link ObjectKeys} makes it, with the attempt id in it: never written twice
 * @param attemptId the upload's own number, given out by the metadata service
 * @param length bytes
 * @param crc32c of the object's footer, which covers the CRCs of everything else
 * @param startOffset the first offset held
 * @param endOffset exclusive
 * @param maxTimestampMs the largest record time held, {@code -1} if unknown
 */
public record ObjectRef(
        String key, long attemptId, long length, int crc32c, long startOffset, long endOffset, long maxTimestampMs) {
    public ObjectRef {
        Objects.requireNonNull(key, "key");
    }
}
