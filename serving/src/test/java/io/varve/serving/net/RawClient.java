package io.varve.serving.net;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestHeader;

/** A socket that speaks frames, and does what no well-behaved client would. */
public final class RawClient implements AutoCloseable {

    private static final int TIMEOUT_MS = 20_000;

    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;
    private int correlation;

    /** @param port of the loopback interface */
    public RawClient(int port) throws IOException {
        socket = new Socket("127.0.0.1", port);
        socket.setSoTimeout(TIMEOUT_MS);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
        out = new DataOutputStream(socket.getOutputStream());
    }

    /** Sends bytes as they are. */
    public void sendRaw(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
    }

    /** Sends a frame: its length and {@code body}. */
    public void sendFrame(ByteBuffer body) throws IOException {
        byte[] bytes = new byte[body.remaining()];
        body.get(bytes);
        out.writeInt(bytes.length);
        out.write(bytes);
        out.flush();
    }

    /** Sends a request; answers its header, with which {@link #receive(RequestHeader)} reads the answer. */
    public RequestHeader send(AbstractRequest request) throws IOException {
        RequestHeader header = new RequestHeader(request.apiKey(), request.version(), "raw", ++correlation);
        sendFrame(request.serializeWithHeader(header));
        return header;
    }

    /** The next frame. */
    public ByteBuffer receive() throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return ByteBuffer.wrap(bytes);
    }

    /** The answer to a request; its correlation id must be right and not a byte may be left. */
    public AbstractResponse receive(RequestHeader header) throws IOException {
        ByteBuffer frame = receive();
        AbstractResponse response = AbstractResponse.parseResponse(frame, header);
        if (frame.hasRemaining()) {
            throw new AssertionError(frame.remaining() + " bytes follow the answer to " + header);
        }
        return response;
    }

    /** Sends a request and waits for its answer. */
    @SuppressWarnings("unchecked")
    public <T extends AbstractResponse> T call(AbstractRequest request) throws IOException {
        return (T) receive(send(request));
    }

    /** Whether the other side has closed, which is waited for. */
    public boolean isClosedByPeer() throws IOException {
        try {
            return in.read() < 0;
        } catch (java.net.SocketException reset) {
            return true;
        }
    }

    /** A request's frame with a version of one's own, whatever the body. */
    public static ByteBuffer frame(ApiKeys api, int version, int correlation, boolean flexible, byte[] body) {
        ByteBuffer frame = ByteBuffer.allocate(64 + body.length);
        frame.putShort(api.id).putShort((short) version).putInt(correlation);
        frame.putShort((short) 1).put((byte) 't');
        if (flexible) {
            // One tagged field that nobody knows: number 99, one byte.
            frame.put((byte) 1).put((byte) 99).put((byte) 1).put((byte) 7);
        }
        return frame.put(body).flip();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
