package io.varve.protocol.rpc;

/**
 * What a server or a client allows.
 *
 * @param frameBytesMax the longest frame taken
 * @param inFlightMax calls of one connection in work at a time
 * @param inFlightBytesMax bytes of bodies of one connection in work at a time
 * @param totalBytesMax bytes of bodies of all connections in work at a time; each may have 64 KiB beyond it
 * @param connectionsMax connections a server takes
 * @param aliveMs after that long without a word, one is sent; at most a third of {@code silentMsMax}
 * @param silentMsMax a peer from whom nothing came for so long is taken for dead
 * @param connectMsMax how long an attempt to connect, and the hellos, may take
 * @param backoffMsMin the first wait before connecting again
 * @param backoffMsMax the longest
 */
public record RpcBounds(
        int frameBytesMax,
        int inFlightMax,
        long inFlightBytesMax,
        long totalBytesMax,
        int connectionsMax,
        int aliveMs,
        int silentMsMax,
        int connectMsMax,
        int backoffMsMin,
        int backoffMsMax) {

    /** What fits most uses. */
    public static final RpcBounds DEFAULT = new RpcBounds(
            66 * 1024 * 1024, 4096, 64L * 1024 * 1024, 512L * 1024 * 1024, 4096, 500, 3_000, 3_000, 20, 1_000);

    public RpcBounds {
        if (frameBytesMax < Frame.HEADER_BYTES || inFlightMax < 1 || inFlightBytesMax < 1 || connectionsMax < 1) {
            throw new IllegalArgumentException("A bound is positive");
        }
        if (totalBytesMax < inFlightBytesMax) {
            throw new IllegalArgumentException("One connection can't be allowed more than all together");
        }
        if (aliveMs < 1 || aliveMs > silentMsMax / 3) {
            throw new IllegalArgumentException("Two lost keep-alives in a row must not look like silence");
        }
    }

    /** The same with another limit of silence, and with keep-alives to fit. */
    public RpcBounds withSilence(int silentMsMax) {
        return new RpcBounds(
                frameBytesMax,
                inFlightMax,
                inFlightBytesMax,
                totalBytesMax,
                connectionsMax,
                Math.max(1, Math.min(aliveMs, silentMsMax / 6)),
                silentMsMax,
                connectMsMax,
                backoffMsMin,
                backoffMsMax);
    }

    /** The same with other amounts in work. */
    public RpcBounds withInFlight(int inFlightMax, long inFlightBytesMax, long totalBytesMax) {
        return new RpcBounds(
                frameBytesMax,
                inFlightMax,
                inFlightBytesMax,
                totalBytesMax,
                connectionsMax,
                aliveMs,
                silentMsMax,
                connectMsMax,
                backoffMsMin,
                backoffMsMax);
    }
}
