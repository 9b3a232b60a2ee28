package io.varve.tiering.read;

/**
 * How objects are read.
 *
 * @param threads that check and unpack blocks
 * @param callsMax reads that the store is asked for at a time
 * @param cacheBytes of everything that is kept, waits to be read or is on its way
 * @param readBytesMax no single read answers with more, whatever was asked for
 * @param rangeBytes of a GET that fetches ahead
 * @param aheadBytesMax ahead of one reader
 * @param bytesPerSecond of all readers together; {@code 0} for no limit
 */
public record ReadSettings(
        int threads,
        int callsMax,
        long cacheBytes,
        int readBytesMax,
        int rangeBytes,
        long aheadBytesMax,
        long bytesPerSecond) {

    /** What is fetched ahead leaves a quarter of the calls, and at least one, to what somebody waits for; nobody has more calls than there are. */
    public int aheadCallsMax() {
        return Math.max(1, callsMax - Math.max(1, callsMax / 4));
    }
}
