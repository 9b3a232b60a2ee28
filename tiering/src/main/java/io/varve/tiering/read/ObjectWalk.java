package io.varve.tiering.read;

import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import io.varve.tiering.core.Block;
import io.varve.tiering.core.BlockCompression;
import io.varve.tiering.core.BlockIndex;
import io.varve.tiering.core.ObjectFooter;
import io.varve.tiering.core.ObjectFormat;
import io.varve.tiering.core.ObjectFormatException;
import io.varve.tiering.core.ObjectHeader;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.core.Sections;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.RangeTarget;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/**
 * Reads a whole object from end to end and checks every byte of it: header, blocks, the entries in them, sections, index, footer. Blocks
 * the calling thread; holds two ranges at a time, one that is checked and one that is on its way.
 */
public final class ObjectWalk {

    private final ObjectStore store;
    private final BlockCompression compression;
    private final int rangeBytes;
    private final Memory memory;

    /** {@link #ObjectWalk(ObjectStore, BlockCompression, int, Memory)} with memory from the heap for each range and block. */
    public ObjectWalk(ObjectStore store, BlockCompression compression, int rangeBytes) {
        this(store, compression, rangeBytes, Memory.HEAP);
    }

    /**
     * @param rangeBytes asked for in one GET, unless a single block is longer
     * @param memory nobody writes into it any more when {@link #verify} has ended
     */
    public ObjectWalk(ObjectStore store, BlockCompression compression, int rangeBytes, Memory memory) {
        this.store = store;
        this.compression = compression;
        this.rangeBytes = rangeBytes;
        this.memory = memory;
    }

    /** What ranges and blocks are put into. */
    public interface Memory {

        /** Anew each time. */
        Memory HEAP = new Memory() {
            @Override
            public ByteBuffer range(int turn, int bytes) {
                return ByteBuffer.allocate(bytes);
            }

            @Override
            public ByteBuffer unpacked(int bytes) {
                return ByteBuffer.allocate(bytes);
            }
        };

        /**
         * For a range, from 0 to its limit.
         *
         * @param turn counts the ranges of an object; memory may be used again for the next but one
         */
        ByteBuffer range(int turn, int bytes);

        /** For a block, from 0 to its limit; may be used again for the next. */
        ByteBuffer unpacked(int bytes);
    }

    /**
     * Checks an object.
     *
     * @param length it must have
     * @param blocks is handed every block in order, to be kept only as long as the memory is left alone
     * @return its tail
     * @throws RemoteReadException if a byte of it isn't as it was written, or can't be had
     */
    public ObjectTail verify(String key, long length, Consumer<Block> blocks) {
        ObjectStore.Stat stat = get(key, store.head(key))
                .orElseThrow(() -> new RemoteReadException(Kind.MISSING, key + " is not there", null));
        if (stat.length() != length) {
            throw new RemoteReadException(Kind.CORRUPT, key + " has " + stat.length() + " bytes, not " + length, null);
        }
        ObjectTail tail = get(key, ObjectReads.tail(store, key, length));
        try {
            checkHeader(key, tail);
            checkBlocks(key, tail, blocks);
            checkSections(key, tail);
        } catch (ObjectFormatException e) {
            throw ObjectReads.malformed(key, e);
        }
        return tail;
    }

    private void checkHeader(String key, ObjectTail tail) throws ObjectFormatException {
        ByteBuffer bytes = get(key, store.get(key, 0, ObjectFormat.HEADER_BYTES));
        ObjectHeader header = ObjectHeader.decode(bytes);
        ObjectFooter footer = tail.footer();
        ObjectHeader wanted = new ObjectHeader(footer.partition(), footer.attemptId(), footer.startOffset());
        if (!header.equals(wanted) || Sections.crc(bytes) != footer.headerCrc()) {
            throw ObjectFormatException.corrupt("the header and the footer disagree");
        }
    }

    private void checkBlocks(String key, ObjectTail tail, Consumer<Block> blocks) throws ObjectFormatException {
        BlockIndex index = tail.index();
        Range now = range(key, index, 0, 0);
        try {
            for (int turn = 1; !now.isEmpty(); turn++) {
                Range next = range(key, index, now.end(), turn);
                try {
                    checkBlocks(key, tail, now, blocks);
                } finally {
                    now.target().close();
                    now = next;
                }
            }
        } finally {
            now.target().close();
        }
    }

    private void checkBlocks(String key, ObjectTail tail, Range range, Consumer<Block> blocks)
            throws ObjectFormatException {
        get(key, range.coming());
        for (int block = range.from(); block < range.end(); block++) {
            int at = (int) (tail.index().position(block) - tail.index().position(range.from()));
            ByteBuffer stored = range.bytes().slice(at, tail.index().storedBytes(block));
            blocks.accept(Block.open(stored, tail, block, compression, memory::unpacked));
        }
    }

    /**
     * Blocks that come in one GET.
     *
     * @param end exclusive
     * @param target closed when nothing may be written into {@code bytes} any more
     */
    private record Range(int from, int end, ByteBuffer bytes, RangeTarget target, CompletableFuture<Void> coming) {

        boolean isEmpty() {
            return from == end;
        }
    }

    private Range range(String key, BlockIndex index, int from, int turn) {
        int end = runEnd(index, from);
        int bytes =
                from == end ? 0 : (int) (index.position(end - 1) + index.storedBytes(end - 1) - index.position(from));
        ByteBuffer into = memory.range(turn, bytes);
        RangeTarget target = new RangeTarget(List.of(into));
        CompletableFuture<Void> coming =
                bytes == 0 ? CompletableFuture.completedFuture(null) : store.fill(key, index.position(from), target);
        return new Range(from, end, into, target, coming);
    }

    /** The end, exclusive, of the blocks that are read in one GET with {@code from}. */
    private int runEnd(BlockIndex index, int from) {
        int end = from;
        long bytes = 0;
        while (end < index.blocks() && (end == from || bytes + index.storedBytes(end) <= rangeBytes)) {
            bytes += index.storedBytes(end);
            end++;
        }
        return end;
    }

    private void checkSections(String key, ObjectTail tail) throws ObjectFormatException {
        for (ObjectFooter.Section section : tail.footer().sections()) {
            Sections.check(get(key, store.get(key, section.position(), section.bytes())), section);
        }
    }

    private static <T> T get(String key, CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw ObjectReads.failed(key, e);
        }
    }
}
