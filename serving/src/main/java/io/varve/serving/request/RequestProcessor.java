package io.varve.serving.request;

import io.varve.serving.session.ClientSession;
import java.util.concurrent.CompletableFuture;

/** Works on requests. The seam between connections and handlers. */
public interface RequestProcessor {

    /**
     * Begins to work on a request. Called on the connection's event loop, in the order in which the requests came; must not block.
     *
     * @return what comes of it. Completes within the request's deadline on any thread.
     *     It should not fail; if it does, the client is answered with an unknown server error
     */
    CompletableFuture<Answer> process(ClientRequest request);

    /** Told of each connection that has ended, on its event loop. Nothing of it follows. */
    default void onDisconnect(ClientSession session) {}

    /**
     * Told of each connection, on its event loop, before anything is read of it.
     *
     * @param address where it comes from
     * @return 0, or for how many milliseconds it is kept waiting before it is closed
     */
    default long onConnection(String address) {
        return 0;
    }
}
