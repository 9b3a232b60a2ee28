package io.varve.metadata.api;

import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import java.util.concurrent.CompletableFuture;

/** A node's standing registration. Heartbeats run inside; losing the connection makes the client come back under the same session. */
public interface NodeSession extends AutoCloseable {

    /** Completes, with the reason, when the service has declared this session dead. The node must register again or stop. */
    CompletableFuture<String> lost();

    /**
     * Whether the service confirmed this session so recently that nobody can have declared it dead. Liveness only: no invariant rests on it.
     */
    boolean confirmed();

    /** Changes what a broker can be used for. */
    CompletableFuture<Void> setBrokerState(BrokerInfo.State state);

    /** Changes what a bookie can be used for, and what it says of its disks. */
    CompletableFuture<Void> setBookieState(BookieInfo.State state, long freeBytes, long totalBytes);

    /** Ends the session gracefully: the service need not wait for a time-out. */
    @Override
    void close();
}
