package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;

/** A stream's end at the client. */
final class ClientStream implements RpcStream {

    private final ClientConnection connection;
    private final RpcStreamHandler handler;
    long correlation;
    /** Whether its opening may have reached the server. */
    boolean sent;

    private volatile boolean over;

    ClientStream(ClientConnection connection, RpcStreamHandler handler) {
        this.connection = connection;
        this.handler = handler;
    }

    @Override
    public void execute(Runnable task) {
        connection.run(task);
    }

    @Override
    public void send(ByteBuf... parts) {
        if (over || !connection.run(() -> connection.send(this, parts))) {
            Frame.releaseAll(parts);
        }
    }

    @Override
    public void end(RpcStatus status, String message) {
        over = true;
        connection.run(() -> connection.end(this, status, message));
    }

    @Override
    public boolean isWritable() {
        return connection.isWritable();
    }

    void onMessage(ByteBuf body) {
        if (!over) {
            handler.onMessage(body);
        }
    }

    void onEnd(RpcStatus status, String message) {
        if (!over) {
            over = true;
            handler.onEnd(status, message);
        }
    }

    void onWritable() {
        if (!over) {
            handler.onWritable();
        }
    }
}
