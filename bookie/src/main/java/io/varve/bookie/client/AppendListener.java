package io.varve.bookie.client;

/**
 * What one replica says to the owner that appends to it. Called on the connection's event loop, one call at a time and in order; must
 * not block.
 */
public interface AppendListener {

    /**
     * Everything below {@code durableEnd} that this stream sent is durable there. Cumulative: the end only rises.
     *
     * @param durableEnd exclusive
     */
    void onDurable(long durableEnd);

    /**
     * The stream is over: nothing more is acknowledged through it. Called once, last, unless the owner closed the stream itself.
     *
     * @param status why; {@link BookieStatus#NO_ANSWER} if the connection broke or the deadline passed
     * @param replicaEnd the replica's end if it said so, else -1
     */
    void onFailed(BookieStatus status, long replicaEnd);
}
