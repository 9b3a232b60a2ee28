package io.varve.bookie.client;

import io.varve.protocol.rpc.RpcClientOptions;
import java.util.Objects;

/**
 * How a client of bookies runs.
 *
 * @param rpc the connections: who we are, loops, clock, bounds
 * @param appendSilenceMsMax an append stream on which something waits and nothing became durable for so long has failed
 * @param idleMsMax connections to a bookie that nobody used for so long are closed
 */
public record BookieClientOptions(RpcClientOptions rpc, long appendSilenceMsMax, long idleMsMax) {

    /** Long enough for a slow fsync, short enough for producers not to notice much. */
    public static final long APPEND_SILENCE_MS_DEFAULT = 5_000;

    /** Long enough for a segment that is written now and then. */
    public static final long IDLE_MS_DEFAULT = 300_000;

    public BookieClientOptions {
        Objects.requireNonNull(rpc, "rpc");
        if (appendSilenceMsMax < 1 || idleMsMax < 1) {
            throw new IllegalArgumentException("Time limits are positive");
        }
    }

    /** The defaults. */
    public static BookieClientOptions of(RpcClientOptions rpc) {
        return new BookieClientOptions(rpc, APPEND_SILENCE_MS_DEFAULT, IDLE_MS_DEFAULT);
    }
}
