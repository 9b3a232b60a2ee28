package io.varve.tiering.cache;

import io.netty.buffer.ByteBuf;
import io.varve.base.Invariant;
import io.varve.tiering.core.Block;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A block and the memory that it lies in, with a count of those who hold it. Whoever gets one from the cache holds it and releases it; the
 * memory goes back when nobody does, and nobody can get hold of it any more. Safe for any thread.
 */
public final class CachedBlock {

    private final Block block;
    private final ByteBuf memory;
    private final AtomicInteger holders = new AtomicInteger(1);

    /**
     * Held by the caller.
     *
     * @param block whose entries lie in {@code memory} from its first byte on
     * @param memory its reference is taken over
     */
    public CachedBlock(Block block, ByteBuf memory) {
        this.block = block;
        this.memory = memory;
    }

    /** What it holds; valid as long as the caller holds this. */
    public Block block() {
        return block;
    }

    /** Bytes of memory. */
    public int bytes() {
        return memory.capacity();
    }

    /** A part of the block that keeps its memory by a reference of its own, which is the receiver's. */
    public ByteBuf slice(int at, int bytes) {
        return memory.retainedSlice(at, bytes);
    }

    /** Takes hold of it for one more, unless everybody has let go: then it is gone. */
    public boolean tryHold() {
        int now;
        do {
            now = holders.get();
            if (now == 0) {
                return false;
            }
        } while (!holders.compareAndSet(now, now + 1));
        return true;
    }

    /** Takes hold of it for one more; the caller holds it already. */
    public void hold() {
        boolean isHeld = tryHold();
        Invariant.check(isHeld, "who takes hold of a block for somebody holds it");
    }

    /** Lets go. */
    public void release() {
        int left = holders.decrementAndGet();
        Invariant.check(left >= 0, "a block is let go of once by each holder", left);
        if (left == 0) {
            memory.release();
        }
    }
}
