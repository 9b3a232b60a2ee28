package io.varve.tiering.read;

/**
 * How objects are read.
 *
 * @param threads that check and unpack blocks
 * @param cacheBytes of everything that is kept, waits to be read or is on its way
 * @param readBytesMax no single read answers with more, whatever was asked for
 * @param rangeBytes of a GET that fetches ahead
 * @param aheadBytesMax ahead of one reader
 */
public record ReadSettings(int threads, long cacheBytes, int readBytesMax, int rangeBytes, long aheadBytesMax) {}
