package io.varve.cli.role;

import java.util.concurrent.CompletableFuture;

/** A node that was started. */
public interface RunningNode extends AutoCloseable {

    /** Completes with the reason, in one line, when the node can't go on by itself: the process is to end. Never fails. */
    CompletableFuture<String> stopped();

    /** Drains and stops it. */
    @Override
    void close();

    /** A node of these two parts. */
    static RunningNode of(CompletableFuture<String> stopped, Runnable closing) {
        return new RunningNode() {
            @Override
            public CompletableFuture<String> stopped() {
                return stopped;
            }

            @Override
            public void close() {
                closing.run();
            }
        };
    }
}
