package io.varve.tiering.offload;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.Semaphore;

/**
 * The memory of all uploads: a fixed number of buffers of one part each, and small ones for as many objects that are. They lie outside of the heap, are made when
 * they are first needed, and are used again and again for as long as the process lives: on the heap each would be larger than half of a collector's
 * region, and every few of them a pause of the process. Safe for any thread.
 *
 * <p>Ownership: whoever takes a buffer has it until it gives it back, which it does when the call that it was lent to is over, well or badly. A call that failed may
 * have been given up and still go on; what it reads from then on, if it reads at all, goes under the key of an attempt that will never count.
 *
 * <p>No deadlock: no upload has more buffers than its share, and there are as many as all shares together; those in flight come back when their call ends, which its deadline
 * sees to.
 */
final class PartBuffers {

    /** Of a part. */
    private static final int SMALL_SHARE = 8;

    private final int partBytes;
    private final int smallBytes;
    private final Semaphore permits;
    private final ArrayDeque<ByteBuffer> idleWhole = new ArrayDeque<>();
    private final ArrayDeque<ByteBuffer> idleSmall = new ArrayDeque<>();

    /** @param buffers of a part each */
    PartBuffers(int partBytes, int buffers) {
        this.partBytes = partBytes;
        this.smallBytes = Math.max(1, partBytes / SMALL_SHARE);
        this.permits = new Semaphore(buffers, true);
    }

    /**
     * An empty buffer, from 0 to its capacity; waits for it.
     *
     * @param bytesExpected of what it is for: most objects are far smaller than a part
     */
    ByteBuffer take(long bytesExpected) throws IOException {
        try {
            permits.acquire();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the offloader is closing");
        }
        try {
            return bytesExpected <= smallBytes ? idleOrNew(idleSmall, smallBytes) : idleOrNew(idleWhole, partBytes);
        } catch (IOException | RuntimeException | Error e) {
            permits.release();
            throw e;
        }
    }

    /** A buffer of a whole part in the place of a smaller one that is full, with its bytes. */
    ByteBuffer grow(ByteBuffer full) throws IOException {
        ByteBuffer whole = idleOrNew(idleWhole, partBytes).put(full.flip());
        keep(full);
        return whole;
    }

    /** Whether no larger one is to be had. */
    boolean isWhole(ByteBuffer buffer) {
        return buffer.capacity() == partBytes;
    }

    /** Gives back a buffer. */
    void give(ByteBuffer buffer) {
        keep(buffer);
        permits.release();
    }

    private synchronized void keep(ByteBuffer buffer) {
        (isWhole(buffer) ? idleWhole : idleSmall).push(buffer);
    }

    /** The one that was used last: of those that were never needed nothing is ever made. */
    private ByteBuffer idleOrNew(ArrayDeque<ByteBuffer> idle, int bytes) throws IOException {
        ByteBuffer kept;
        synchronized (this) {
            kept = idle.poll();
        }
        return kept == null ? outsideOfTheHeap(bytes) : kept.clear();
    }

    /** Such memory is bounded for the whole process, and others may have it: that passes. */
    private static ByteBuffer outsideOfTheHeap(int bytes) throws IOException {
        try {
            return ByteBuffer.allocateDirect(bytes);
        } catch (OutOfMemoryError e) {
            throw new IOException("no memory for a part of " + bytes + " bytes: " + e.getMessage(), e);
        }
    }
}
