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
import java.nio.ByteBuffer;
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

    /** @param rangeBytes asked for in one GET, unless a single block is longer */
    public ObjectWalk(ObjectStore store, BlockCompression compression, int rangeBytes) {
        this.store = store;
        this.compression = compression;
        this.rangeBytes = rangeBytes;
    }

    /**
     * Checks an object.
     *
     * @param length it must have
     * @param blocks is handed every block in order
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
        int from = 0;
        int end = runEnd(tail.index(), 0);
        CompletableFuture<ByteBuffer> coming = run(key, tail.index(), from, end);
        while (from < end) {
            int nextEnd = runEnd(tail.index(), end);
            ByteBuffer bytes = get(key, coming);
            coming = run(key, tail.index(), end, nextEnd);
            for (int block = from; block < end; block++) {
                int at = (int) (tail.index().position(block) - tail.index().position(from));
                ByteBuffer stored = bytes.slice(at, tail.index().storedBytes(block));
                blocks.accept(Block.open(stored, tail, block, compression));
            }
            from = end;
            end = nextEnd;
        }
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

    private CompletableFuture<ByteBuffer> run(String key, BlockIndex index, int from, int end) {
        if (from == end) {
            return CompletableFuture.completedFuture(ByteBuffer.allocate(0));
        }
        long position = index.position(from);
        return store.get(key, position, (int) (index.position(end - 1) + index.storedBytes(end - 1) - position));
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
