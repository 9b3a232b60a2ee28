package io.varve.tiering.cache;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

/**
 * The memory of blocks: outside of the heap, and used again and again.
 *
 * <p>Design note: blocks are large, live for seconds and come by the hundred each second. On the heap they are promoted and then collected
 * among what is old, which stops the whole process again and again for as long as a good many appends take; outside of it the collector
 * never sees them, and the socket takes them without a copy. Safe for any thread.
 */
public final class BlockMemory {

    private static final int PAGE_BYTES = 8 * 1024;

    /** Of 16 MiB, so that blocks of the usual size fill chunks well. */
    private static final int CHUNK_ORDER = 11;

    private final PooledByteBufAllocator pool =
            new PooledByteBufAllocator(true, 0, 1, PAGE_BYTES, CHUNK_ORDER, 0, 0, false);

    /** Memory with one reference, the caller's; its writer index is 0. */
    public ByteBuf take(int bytes) {
        return pool.directBuffer(bytes, bytes);
    }

    /** What the pool has from the system, used or not. */
    public long reservedBytes() {
        return pool.metric().usedDirectMemory();
    }
}
