package io.varve.tiering.offload;

import java.nio.ByteBuffer;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Semaphore;

/**
 * The memory of all uploads: a fixed number of buffers of at most one part each. A buffer whose call failed is never used again, since the
 * call may still be sending from it; a fresh one takes its place. A few are kept for the next upload, the rest is left to the collector.
 * Safe for any thread.
 *
 * <p>No deadlock: a thread asks for a buffer only while it holds none, and those in flight come back when their call ends, which its
 * deadline sees to.
 */
final class PartBuffers {

    private static final int KEPT_MAX = 2;

    private final int partBytes;
    private final Semaphore permits;
    private final ArrayBlockingQueue<ByteBuffer> idle = new ArrayBlockingQueue<>(KEPT_MAX);

    PartBuffers(int partBytes, long bytesMax) {
        this.partBytes = partBytes;
        this.permits = new Semaphore((int) Math.max(1, bytesMax / partBytes), true);
    }

    /**
     * An empty buffer; waits for it. Most objects are far smaller than a part, so the first buffer of one need not be as large.
     *
     * @param bytesExpected of what it is for
     */
    ByteBuffer take(long bytesExpected) throws InterruptedException {
        permits.acquire();
        return bytesExpected < partBytes / 2 ? ByteBuffer.allocate((int) bytesExpected) : whole();
    }

    /** A buffer of a whole part in the place of a smaller one that is full, with its bytes. */
    ByteBuffer grow(ByteBuffer full) {
        return whole().put(full.flip());
    }

    /** Whether no larger one is to be had. */
    boolean isWhole(ByteBuffer buffer) {
        return buffer.capacity() == partBytes;
    }

    /** Gives back a buffer that nobody reads any longer. */
    void give(ByteBuffer buffer) {
        if (isWhole(buffer)) {
            idle.offer(buffer);
        }
        permits.release();
    }

    /** Gives back the room of a buffer that somebody may still read. */
    void abandon() {
        permits.release();
    }

    private ByteBuffer whole() {
        ByteBuffer kept = idle.poll();
        return kept == null ? ByteBuffer.allocate(partBytes) : kept.clear();
    }
}
