package io.varve.serving.net;

import java.util.List;

/**
 * How a broker listens.
 *
 * @param listeners where; at least one
 * @param ioThreads {@code num.network.threads}
 * @param frameBytesMax {@code socket.request.max.bytes}
 * @param requestMemoryBytes {@code queued.max.request.bytes}: request bytes of all connections together
 * @param connectionRequestsMax requests of one connection under way at once
 * @param connectionBytesMax request bytes of one connection under way at once
 * @param connectionsMax {@code max.connections}
 * @param connectionsPerAddressMax {@code max.connections.per.ip}
 * @param idleMs {@code connections.max.idle.ms}; not positive: never
 * @param stallMs a connection on which a request stops half way for so long is closed
 * @param backlog {@code socket.listen.backlog.size}
 */
public record KafkaServerOptions(
        List<Listener> listeners,
        int ioThreads,
        int frameBytesMax,
        long requestMemoryBytes,
        int connectionRequestsMax,
        long connectionBytesMax,
        int connectionsMax,
        int connectionsPerAddressMax,
        long idleMs,
        long stallMs,
        int backlog) {

    public KafkaServerOptions {
        listeners = List.copyOf(listeners);
    }

    /**
     * @param name such as {@code PLAINTEXT}
     * @param host the address to listen on; empty for all
     * @param port the port; 0 for any
     */
    public record Listener(String name, String host, int port) {}
}
