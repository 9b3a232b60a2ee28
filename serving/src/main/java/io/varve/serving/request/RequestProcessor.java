package io.varve.serving.request;

import java.util.concurrent.CompletableFuture;

/** Works on requests. The seam between connections and handlers. */
@FunctionalInterface
public interface RequestProcessor {

    /**
     * Begins to work on a request. Called on the connection's event loop, in the order in which the requests came; must not block.
     *
     * @return what comes of it. Completes within the request's deadline on any thread.
     *     It should not fail; if it does, the client is answered with an unknown server error
     */
    CompletableFuture<Answer> process(ClientRequest request);
}
