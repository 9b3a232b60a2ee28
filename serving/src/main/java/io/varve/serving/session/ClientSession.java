package io.varve.serving.session;

import java.net.InetAddress;
import java.util.Objects;

/**
 * One client connection as request handlers see it. Written by the connection's event loop, read by any thread.
 */
public final class ClientSession {

    private final String connectionId;
    private final InetAddress address;
    private final int port;
    private final String listener;

    private volatile Software software = Software.UNKNOWN;

    /**
     * @param connectionId unique in this process, for logs and for Kafka's request context
     * @param address the client's
     * @param port the client's
     * @param listener the name of the listener it came in by
     */
    public ClientSession(String connectionId, InetAddress address, int port, String listener) {
        this.connectionId = Objects.requireNonNull(connectionId, "connectionId");
        this.address = Objects.requireNonNull(address, "address");
        this.port = port;
        this.listener = Objects.requireNonNull(listener, "listener");
    }

    /** Unique in this process. */
    public String connectionId() {
        return connectionId;
    }

    /** The client's address. */
    public InetAddress address() {
        return address;
    }

    /** The client's port. */
    public int port() {
        return port;
    }

    /** The listener it came in by. */
    public String listener() {
        return listener;
    }

    /** What it said of itself in ApiVersions (KIP-511). */
    public Software software() {
        return software;
    }

    /** Remembers what the client said of itself. */
    public void setSoftware(Software said) {
        this.software = Objects.requireNonNull(said, "said");
    }

    /** Address and port, for logs. */
    @Override
    public String toString() {
        return address.getHostAddress() + ":" + port;
    }

    /** A client library's name and version. */
    public record Software(String name, String version) {
        /** Before it said anything. */
        public static final Software UNKNOWN = new Software("unknown", "unknown");
    }
}
