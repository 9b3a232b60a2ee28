package io.varve.tiering.offload;

import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;

/**
 * The memory of all uploads: a fixed number of buffers of one part each. A buffer whose call failed is never used again, since the call
 * may still be sending from it; a fresh one takes its place. Safe for any thread.
 *
 * <p>No deadlock: a thread asks for a buffer only while it holds none, and those in flight come back when their call ends, which its
 * deadline sees to.
 */
final class PartBuffers {

    private final int partBytes;
    private final Semaphore permits;
    private final ConcurrentLinkedQueue<ByteBuffer> idle = new ConcurrentLinkedQueue<>();

    PartBuffers(int partBytes, long bytesMax) {
        this.partBytes = partBytes;
        this.permits = new Semaphore((int) Math.max(1, bytesMax / partBytes), true);
    }

    /** An empty buffer of one part; waits for it. */
    ByteBuffer take() throws InterruptedException {
        permits.acquire();
        ByteBuffer buffer = idle.poll();
        return buffer == null ? ByteBuffer.allocate(partBytes) : buffer.clear();
    }

    /** Gives back a buffer that nobody reads any longer. */
    void give(ByteBuffer buffer) {
        idle.add(buffer);
        permits.release();
    }

    /** Gives back the room of a buffer that somebody may still read. */
    void abandon() {
        permits.release();
    }
}
