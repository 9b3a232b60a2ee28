package io.varve.itest.cluster;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestHeader;

/** Single requests on a connection of their own, for what no client library asks for by itself or tells of. */
public final class RawRequest {

    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private RawRequest() {}

    /** What a broker answers to a request. */
    public static AbstractResponse ask(Node broker, AbstractRequest request) throws IOException {
        try (Socket socket = new Socket(broker.host(), broker.port())) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            RequestHeader header = new RequestHeader(request.apiKey(), request.version(), "raw", 1);
            ByteBuffer frame = request.serializeWithHeader(header);
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            out.writeInt(frame.remaining());
            out.write(frame.array(), frame.arrayOffset() + frame.position(), frame.remaining());
            DataInputStream in = new DataInputStream(socket.getInputStream());
            byte[] answer = new byte[in.readInt()];
            in.readFully(answer);
            return AbstractResponse.parseResponse(ByteBuffer.wrap(answer), header);
        }
    }
}
