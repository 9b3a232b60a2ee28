package io.varve.tiering.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/** The way to a server, with what stands on such ways: whatever passes does so as it is, unless it is told otherwise. */
public final class FickleWire implements AutoCloseable {

    private static final String CONTINUE = "HTTP/1.1 100 ";
    private static final String HEADER_END = "\r\n\r\n";
    private static final int PIECE_BYTES = 64 * 1024;

    private final URI server;
    private final ServerSocket listener;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "fickle-wire");
        thread.setDaemon(true);
        return thread;
    });
    private final List<Socket> open = new ArrayList<>();
    private final AtomicInteger broken = new AtomicInteger();
    private volatile boolean breaksWhatIsUsedAgain;
    private volatile boolean swallowsContinue;

    /** To a server on this machine. */
    public FickleWire(URI server) throws IOException {
        this.server = server;
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        threads.execute(this::accept);
    }

    /** Where it begins. */
    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    /** A connection over which something was answered is reset when the next request comes: it went out while the server was closing it. */
    public void breakWhatIsUsedAgain(boolean on) {
        breaksWhatIsUsedAgain = on;
    }

    /** "100 Continue" is passed on to nobody. */
    public void swallowContinue() {
        swallowsContinue = true;
    }

    /** How many connections were reset so far. */
    public int broken() {
        return broken.get();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        synchronized (open) {
            for (Socket socket : open) {
                socket.close();
            }
        }
        threads.shutdownNow();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                Socket upstream = new Socket(server.getHost(), server.getPort());
                synchronized (open) {
                    open.add(client);
                    open.add(upstream);
                }
                Connection connection = new Connection(client, upstream);
                threads.execute(() -> connection.pump(true));
                threads.execute(() -> connection.pump(false));
            }
        } catch (IOException | RejectedExecutionException closed) {
            // It was told to end.
        }
    }

    private final class Connection {

        private final Socket client;
        private final Socket upstream;
        private volatile boolean answered;

        Connection(Socket client, Socket upstream) {
            this.client = client;
            this.upstream = upstream;
        }

        void pump(boolean isRequest) {
            byte[] piece = new byte[PIECE_BYTES];
            try (Socket from = isRequest ? client : upstream;
                    Socket to = isRequest ? upstream : client) {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
                    if (isRequest && answered && breaksWhatIsUsedAgain) {
                        broken.incrementAndGet();
                        client.setSoLinger(true, 0); // A reset, not an end.
                        return;
                    }
                    answered |= !isRequest;
                    int skipped = skipped(isRequest, piece, count);
                    out.write(piece, skipped, count - skipped);
                }
            } catch (IOException broke) {
                // One side is gone, so the other one goes.
            }
        }

        /** How many bytes of the beginning aren't passed on: the interim answer, which comes by itself or with the one after it. */
        private int skipped(boolean isRequest, byte[] piece, int count) {
            if (isRequest || !swallowsContinue) {
                return 0;
            }
            String text = new String(piece, 0, count, StandardCharsets.ISO_8859_1);
            return text.startsWith(CONTINUE) ? text.indexOf(HEADER_END) + HEADER_END.length() : 0;
        }
    }
}
