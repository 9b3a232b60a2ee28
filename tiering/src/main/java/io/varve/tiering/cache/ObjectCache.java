package io.varve.tiering.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.varve.base.Invariant;
import io.varve.tiering.core.ObjectTail;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;

/**
 * Blocks and tails of objects in memory, within one byte budget. Safe for any thread.
 *
 * <p>Design note: half of the budget is Caffeine's, for what was read. The other half is for what is on its way, and a queue for what was
 * fetched ahead of readers and hasn't been read yet. Caffeine's admission weighs how often something was asked for, and a block
 * that nobody asked for yet always loses: without a place of their own, blocks would be thrown away just before their reader comes.
 */
public final class ObjectCache implements AutoCloseable {

    private final Cache<Key, Cached> read;
    private final long aheadBytesMax;

    private final LinkedHashMap<Key, CachedBlock> staged = new LinkedHashMap<>();
    private long stagedBytes;
    private long comingBytes;
    private boolean closed;

    /** @param bytesMax the budget of the process */
    public ObjectCache(long bytesMax) {
        this.aheadBytesMax = bytesMax / 2;
        this.read = Caffeine.newBuilder()
                .maximumWeight(bytesMax - aheadBytesMax)
                .weigher((Key key, Cached value) -> (int) Math.min(Integer.MAX_VALUE, value.bytes()))
                .executor(Runnable::run)
                .removalListener((key, value, cause) -> {
                    if (value instanceof Cached.OfBlock gone) {
                        gone.block().release();
                    }
                })
                .recordStats()
                .build();
    }

    private record Key(String object, int block) {
        static final int TAIL = -1;
    }

    private sealed interface Cached {
        long bytes();

        record OfBlock(CachedBlock block) implements Cached {
            @Override
            public long bytes() {
                return block.bytes();
            }
        }

        record OfTail(ObjectTail tail) implements Cached {
            @Override
            public long bytes() {
                return tail.memoryBytes();
            }
        }
    }

    /** How much may be on its way and waiting to be read together. */
    public long aheadBytesMax() {
        return aheadBytesMax;
    }

    /** The tail of an object, if it is here. */
    public Optional<ObjectTail> tail(String object) {
        return read.getIfPresent(new Key(object, Key.TAIL)) instanceof Cached.OfTail found
                ? Optional.of(found.tail())
                : Optional.empty();
    }

    /** Keeps a tail. */
    public void put(String object, ObjectTail tail) {
        put(new Key(object, Key.TAIL), new Cached.OfTail(tail));
    }

    /** A block, if it is here, for a reader, who holds it from now on: it counts as read. */
    public Optional<CachedBlock> block(String object, int block) {
        Key key = new Key(object, block);
        if (read.getIfPresent(key) instanceof Cached.OfBlock found
                && found.block().tryHold()) {
            return Optional.of(found.block());
        }
        CachedBlock ahead = unstage(key);
        if (ahead == null) {
            return Optional.empty();
        }
        ahead.hold();
        keep(key, ahead);
        return Optional.of(ahead);
    }

    /** Whether a block is here; doesn't count as reading it. */
    public boolean holds(String object, int block) {
        Key key = new Key(object, block);
        if (read.asMap().containsKey(key)) {
            return true;
        }
        synchronized (staged) {
            return staged.containsKey(key);
        }
    }

    /** Keeps a block that a reader waited for; the caller's hold goes to the cache. */
    public void putRead(String object, int block, CachedBlock entries) {
        keep(new Key(object, block), entries);
    }

    private void keep(Key key, CachedBlock entries) {
        put(key, new Cached.OfBlock(entries));
        boolean isOpen;
        synchronized (staged) {
            isOpen = !closed;
        }
        if (!isOpen) {
            read.invalidate(key);
        }
    }

    /** Whoever puts something in makes room for it itself: Caffeine leaves that to whoever is at it, who may fall behind by as much again as the budget. */
    private void put(Key key, Cached value) {
        read.put(key, value);
        read.cleanUp();
    }

    /** Keeps a block for a reader that is expected; the caller's hold goes to the cache. The ones that have been waiting longest make room. */
    public void putAhead(String object, int block, CachedBlock entries) {
        List<CachedBlock> leaving = new ArrayList<>();
        synchronized (staged) {
            if (closed) {
                leaving.add(entries);
            } else {
                CachedBlock replaced = staged.put(new Key(object, block), entries);
                stagedBytes += entries.bytes();
                if (replaced != null) {
                    stagedBytes -= replaced.bytes();
                    leaving.add(replaced);
                }
                makeRoom(leaving);
            }
        }
        leaving.forEach(CachedBlock::release);
    }

    /**
     * Takes room for what is about to come; blocks that have been waiting longest for a reader give way. What is fetched ahead leaves half of all
     * room to what somebody waits for. What comes alone always fits.
     *
     * @return whether there is room; if so it is given back by {@link #arrived}
     */
    public boolean tryExpect(long bytes, boolean isAhead) {
        List<CachedBlock> leaving = new ArrayList<>();
        synchronized (staged) {
            long sum = comingBytes + bytes;
            boolean fits = comingBytes == 0 || sum <= (isAhead ? aheadBytesMax / 2 : aheadBytesMax);
            if (!fits) {
                return false;
            }
            comingBytes = sum;
            makeRoom(leaving);
        }
        leaving.forEach(CachedBlock::release);
        return true;
    }

    /** Gives back room that was taken for what was on its way: it is here, or it won't come. */
    public void arrived(long bytes) {
        synchronized (staged) {
            comingBytes -= bytes;
            Invariant.check(comingBytes >= 0, "bytes on their way are given back once", comingBytes);
        }
    }

    private void makeRoom(List<CachedBlock> leaving) {
        Iterator<CachedBlock> oldest = staged.values().iterator();
        while (stagedBytes + comingBytes > aheadBytesMax && oldest.hasNext()) {
            CachedBlock block = oldest.next();
            stagedBytes -= block.bytes();
            leaving.add(block);
            oldest.remove();
        }
    }

    /** Bytes held: read, waiting to be read, and on their way. */
    public long bytes() {
        long readBytes =
                read.policy().eviction().map(e -> e.weightedSize().orElse(0)).orElse(0L);
        synchronized (staged) {
            return readBytes + stagedBytes + comingBytes;
        }
    }

    /** Bytes on their way. */
    public long comingBytes() {
        synchronized (staged) {
            return comingBytes;
        }
    }

    /** Look-ups that found something. */
    public long hits() {
        return read.stats().hitCount();
    }

    /** Look-ups that did not, among them those that then found a block fetched ahead. */
    public long misses() {
        return read.stats().missCount();
    }

    /** Lets go of everything, and of whatever comes later. */
    @Override
    public void close() {
        List<CachedBlock> leaving;
        synchronized (staged) {
            closed = true;
            leaving = new ArrayList<>(staged.values());
            staged.clear();
            stagedBytes = 0;
        }
        leaving.forEach(CachedBlock::release);
        read.invalidateAll();
        read.cleanUp();
    }

    private CachedBlock unstage(Key key) {
        synchronized (staged) {
            CachedBlock block = staged.remove(key);
            if (block != null) {
                stagedBytes -= block.bytes();
            }
            return block;
        }
    }
}
