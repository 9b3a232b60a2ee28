package io.varve.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.function.IntSupplier;

/**
 * Ports for servers that a test starts, or starts again, at a port that it has to name before. They are a block of this process's own, below the range from which
 * systems give ports to whoever doesn't care: so nobody else takes one between its choice and its use, or while a server that the test killed is away, however many
 * test processes run side by side. The first port of a block is listened on for as long as the process lives, which keeps others from the block.
 *
 * <p>A port comes again only after all others of the block, and if nobody listens there then. Safe for any thread.
 */
public final class TestPorts implements IntSupplier {

    private static final int FIRST = 10_000;
    private static final int BLOCK = 100;
    private static final int BLOCKS = 220;

    private static TestPorts own;

    /** Never closed: the system does it when the process ends. */
    private final ServerSocket guard;

    private int given;

    private TestPorts(ServerSocket guard) {
        this.guard = guard;
    }

    /** This process's ports. */
    public static synchronized TestPorts own() {
        if (own == null) {
            own = takeBlock(FIRST, BLOCKS);
        }
        return own;
    }

    /** The first block at or after a port that no other process has. */
    static TestPorts takeBlock(int first, int blocks) {
        for (int block = 0; block < blocks; block++) {
            try {
                return new TestPorts(new ServerSocket(first + block * BLOCK, 1, InetAddress.getLoopbackAddress()));
            } catch (IOException taken) {
                continue;
            }
        }
        throw new IllegalStateException("Test processes have all blocks of ports from " + first);
    }

    /** A port that nobody listens on. */
    @Override
    public int getAsInt() {
        return inARow(1);
    }

    /** The first of so many ports in a row that nobody listens on. */
    public synchronized int inARow(int count) {
        for (int tries = 0; tries < BLOCK; tries++) {
            int first = given % (BLOCK - 1) + 1;
            if (first + count > BLOCK) {
                given += BLOCK - first; // round to the block's beginning
                continue;
            }
            given++;
            if (areFree(first, count)) {
                given += count - 1;
                return guard.getLocalPort() + first;
            }
        }
        throw new IllegalStateException("All ports of the block at " + guard.getLocalPort() + " are taken");
    }

    private boolean areFree(int first, int count) {
        for (int port = first; port < first + count; port++) {
            try {
                new ServerSocket(guard.getLocalPort() + port).close();
            } catch (IOException taken) {
                return false;
            }
        }
        return true;
    }
}
