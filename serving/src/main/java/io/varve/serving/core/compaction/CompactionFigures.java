package io.varve.serving.core.compaction;

/**
 * What a pass did so far.
 *
 * @param keys that were found in the dirty part
 * @param bytesRead of the second reading
 * @param bytesKept of what was handed on
 * @param recordsRead of the second reading, markers included
 * @param recordsKept of these
 * @param recordsWithoutKey that were left out because nothing can be said of them
 */
public record CompactionFigures(
        int keys, long bytesRead, long bytesKept, long recordsRead, long recordsKept, long recordsWithoutKey) {}
