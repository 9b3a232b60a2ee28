package io.varve.cli.local;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.TreeSet;
import java.util.function.IntSupplier;

/**
 * Ports of the loopback interface that nobody listens on, none given out twice. Another process can take one before it is used: that
 * then shows as a port taken.
 */
public final class FreePorts implements IntSupplier {

    private final TreeSet<Integer> given = new TreeSet<>();

    @Override
    public int getAsInt() {
        for (int tries = 0; tries < 1_000; tries++) {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                if (given.add(socket.getLocalPort())) {
                    return socket.getLocalPort();
                }
            } catch (IOException e) {
                throw new IllegalStateException("No free port on the loopback interface: " + e.getMessage(), e);
            }
        }
        throw new IllegalStateException("No free port on the loopback interface");
    }
}
