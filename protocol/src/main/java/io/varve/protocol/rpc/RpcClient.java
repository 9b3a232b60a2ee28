package io.varve.protocol.rpc;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Makes connections to Varve's own processes. Safe for any thread. */
public final class RpcClient implements AutoCloseable {

    private final RpcClientOptions options;
    private final Set<ClientConnection> connections = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    public RpcClient(RpcClientOptions options) {
        this.options = options;
    }

    /** Starts connecting, and keeps at it until the connection is closed. Each call makes another connection. */
    public RpcConnection connection(RpcTarget target, RpcConnection.Listener listener) {
        ClientConnection connection = new ClientConnection(options, target, listener, connections::remove);
        connections.add(connection);
        if (closed) {
            connection.close();
        } else {
            connection.start();
        }
        return connection;
    }

    /** {@link #connection(RpcTarget, RpcConnection.Listener)} for those who only call. */
    public RpcConnection connection(RpcTarget target) {
        return connection(target, RpcConnection.Listener.DEAF);
    }

    /** Closes all its connections. */
    @Override
    public void close() {
        closed = true;
        connections.forEach(ClientConnection::close);
    }
}
