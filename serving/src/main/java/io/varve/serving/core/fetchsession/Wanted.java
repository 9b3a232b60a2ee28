package io.varve.serving.core.fetchsession;

/**
 * What a consumer wants of one partition.
 *
 * @param fetchOffset the first offset it wants
 * @param bytesMax at most so many bytes, but for the first batch
 * @param leaderEpoch the epoch it believes in, -1 if it doesn't say
 * @param lastFetchedEpoch the epoch of its last record, -1 if it doesn't say
 */
public record Wanted(long fetchOffset, int bytesMax, int leaderEpoch, int lastFetchedEpoch) {}
