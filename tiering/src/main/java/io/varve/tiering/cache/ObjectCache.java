package io.varve.tiering.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.varve.tiering.core.Block;
import io.varve.tiering.core.ObjectTail;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Blocks and tails of objects in memory, within one byte budget. Safe for any thread.
 *
 * <p>Design note: half of the budget is Caffeine's, for what was read. The other half is a queue for what was fetched ahead of readers and
 * hasn't been read yet, and is shared with what is on its way. Caffeine's admission weighs how often something was asked for, and a block
 * that nobody asked for yet always loses: without a place of their own, blocks would be thrown away just before their reader comes.
 */
public final class ObjectCache {

    private final Cache<Key, Cached> read;
    private final long stagedBytesMax;
    private final LinkedHashMap<Key, Block> staged = new LinkedHashMap<>();
    private long stagedBytes;

    /** @param bytesMax the budget of the process */
    public ObjectCache(long bytesMax) {
        this.stagedBytesMax = bytesMax / 2;
        this.read = Caffeine.newBuilder()
                .maximumWeight(bytesMax - stagedBytesMax)
                .weigher((Key key, Cached value) -> (int) Math.min(Integer.MAX_VALUE, value.bytes()))
                .executor(Runnable::run)
                .recordStats()
                .build();
    }

    private record Key(String object, int block) {
        static final int TAIL = -1;
    }

    private sealed interface Cached {
        long bytes();

        record OfBlock(Block block) implements Cached {
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
        return stagedBytesMax;
    }

    /** The tail of an object, if it is here. */
    public Optional<ObjectTail> tail(String object) {
        return read.getIfPresent(new Key(object, Key.TAIL)) instanceof Cached.OfTail found
                ? Optional.of(found.tail())
                : Optional.empty();
    }

    /** Keeps a tail. */
    public void put(String object, ObjectTail tail) {
        read.put(new Key(object, Key.TAIL), new Cached.OfTail(tail));
    }

    /** A block, if it is here, for a reader: from now on it counts as read. */
    public Optional<Block> block(String object, int block) {
        Key key = new Key(object, block);
        if (read.getIfPresent(key) instanceof Cached.OfBlock found) {
            return Optional.of(found.block());
        }
        Block ahead = unstage(key);
        if (ahead == null) {
            return Optional.empty();
        }
        read.put(key, new Cached.OfBlock(ahead));
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

    /** Keeps a block that a reader waited for. */
    public void putRead(String object, int block, Block entries) {
        read.put(new Key(object, block), new Cached.OfBlock(entries));
    }

    /** Keeps a block for a reader that is expected. The ones that have been waiting longest make room. */
    public void putAhead(String object, int block, Block entries) {
        synchronized (staged) {
            Block replaced = staged.put(new Key(object, block), entries);
            stagedBytes += entries.bytes() - (replaced == null ? 0 : replaced.bytes());
            Iterator<Map.Entry<Key, Block>> oldest = staged.entrySet().iterator();
            while (stagedBytes > stagedBytesMax && oldest.hasNext()) {
                stagedBytes -= oldest.next().getValue().bytes();
                oldest.remove();
            }
        }
    }

    /** Bytes held: read, and waiting to be read. */
    public long bytes() {
        long readBytes =
                read.policy().eviction().map(e -> e.weightedSize().orElse(0)).orElse(0L);
        synchronized (staged) {
            return readBytes + stagedBytes;
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

    private Block unstage(Key key) {
        synchronized (staged) {
            Block block = staged.remove(key);
            if (block != null) {
                stagedBytes -= block.bytes();
            }
            return block;
        }
    }
}
