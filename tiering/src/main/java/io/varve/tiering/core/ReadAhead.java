package io.varve.tiering.core;

import io.varve.base.PartitionId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How far to read ahead of whom. A reader is known by where it will go on: a read that begins where an earlier one ended is a sequential
 * reader's. Whenever such a reader had to wait for the store, twice as much is read ahead of it from then on, up to its share of the budget. So a
 * reader that jumps about costs nothing, one that runs gets as many long requests at a time as it takes to keep up with it, and two hundred of
 * them get none rather than push each other's blocks out.
 *
 * <p>What is ahead is asked for in whole requests, as soon as there is room for one more: they follow each other without a pause. Not safe for
 * several threads.
 */
public final class ReadAhead {

    private static final Plan NOTHING = new Plan(List.of(), false);

    private final long firstBytes;
    private final long readerBytesMax;
    private final long allBytesMax;
    private final long rangeBytes;
    private final int readersMax;
    private final long forgetAfterMs;
    private final LinkedHashMap<Position, Reader> readers = new LinkedHashMap<>();
    private int sequential;

    /**
     * @param firstBytes ahead after the first sequential read
     * @param readerBytesMax ahead of one reader
     * @param allBytesMax ahead of all readers together
     * @param rangeBytes of one request
     * @param readersMax remembered
     * @param forgetAfterMs a reader that doesn't come back is forgotten after that
     */
    public ReadAhead(
            long firstBytes,
            long readerBytesMax,
            long allBytesMax,
            long rangeBytes,
            int readersMax,
            long forgetAfterMs) {
        this.firstBytes = firstBytes;
        this.readerBytesMax = readerBytesMax;
        this.allBytesMax = allBytesMax;
        this.rangeBytes = rangeBytes;
        this.readersMax = readersMax;
        this.forgetAfterMs = forgetAfterMs;
    }

    private record Position(PartitionId partition, long offset) {}

    /** @param aheadEnd what lies before this offset was asked for */
    private record Reader(long depthBytes, long aheadEnd, long seenMs) {
        boolean isSequential() {
            return depthBytes > 0;
        }
    }

    /**
     * Neighbouring blocks to fetch in one request.
     *
     * @param object its place in the list that was asked about
     * @param end exclusive
     */
    public record Run(int object, int from, int end) {}

    /**
     * What to fetch now.
     *
     * @param wantsMore whether there would be room for blocks of the object after the last one that was asked about
     */
    public record Plan(List<Run> runs, boolean wantsMore) {}

    /**
     * A read that was answered.
     *
     * @param fromOffset where it began
     * @param nextOffset where it ended
     * @param waited whether for the store
     */
    public void onRead(PartitionId partition, long fromOffset, long nextOffset, boolean waited, long nowMs) {
        forgetOld(nowMs);
        Reader before = remove(new Position(partition, fromOffset));
        long depthBytes = before == null ? 0 : deeper(before.depthBytes(), waited);
        long aheadEnd = before == null ? 0 : before.aheadEnd();
        Position next = new Position(partition, nextOffset);
        Reader abreast = remove(next);
        if (abreast != null) {
            // Two who read the same at the same time are as one.
            depthBytes = Math.max(depthBytes, abreast.depthBytes());
            aheadEnd = Math.max(aheadEnd, abreast.aheadEnd());
        }
        put(next, new Reader(depthBytes, Math.max(aheadEnd, nextOffset), nowMs));
        if (readers.size() > readersMax) {
            remove(readers.keySet().iterator().next());
        }
    }

    /**
     * What to fetch for the reader that will go on at an offset. What is planned is not planned again.
     *
     * @param objects in which its log goes on, in order and as far as they are known; the offset lies in the first one or at its end
     */
    public Plan plan(PartitionId partition, long nextOffset, List<ObjectTail> objects) {
        Position position = new Position(partition, nextOffset);
        Reader reader = readers.get(position);
        if (reader == null || !reader.isSequential()) {
            return NOTHING;
        }
        Walk walk = new Walk(reader);
        boolean hasRoom = true;
        for (int i = 0; i < objects.size() && hasRoom; i++) {
            hasRoom = walk.through(objects.get(i), i, nextOffset);
        }
        readers.put(position, new Reader(reader.depthBytes(), walk.aheadEnd, reader.seenMs()));
        return new Plan(walk.runs, hasRoom);
    }

    /** Blocks in their order, from where the reader is to the end of its depth. */
    private final class Walk {

        private final List<Run> runs = new ArrayList<>();
        private final long depthBytes;
        private final long runBytesMax;
        private long aheadEnd;
        private long bytes;

        Walk(Reader reader) {
            this.depthBytes = reader.depthBytes();
            this.runBytesMax = Math.min(rangeBytes, depthBytes);
            this.aheadEnd = reader.aheadEnd();
        }

        /** @return whether there is room for more than this object has */
        boolean through(ObjectTail tail, int object, long nextOffset) {
            BlockIndex index = tail.index();
            long objectEnd = tail.footer().endOffset();
            int runFrom = -1;
            long runBytes = 0;
            int first = nextOffset >= objectEnd ? index.blocks() : Math.max(0, index.blockOf(nextOffset));
            for (int block = first; block < index.blocks(); block++) {
                if (bytes + index.rawBytes(block) > depthBytes) {
                    return false; // A run that has begun is left for when there is room for all of it.
                }
                bytes += index.rawBytes(block);
                if (index.firstOffset(block) < aheadEnd) {
                    continue;
                }
                runFrom = runFrom < 0 ? block : runFrom;
                runBytes += index.storedBytes(block);
                boolean isLast = block + 1 == index.blocks();
                if (isLast || runBytes + index.storedBytes(block + 1) > runBytesMax) {
                    runs.add(new Run(object, runFrom, block + 1));
                    aheadEnd = isLast ? objectEnd : index.firstOffset(block + 1);
                    runFrom = -1;
                    runBytes = 0;
                }
            }
            return bytes < depthBytes;
        }
    }

    /** How far ahead is read of the reader that will go on at an offset; 0 if none will, or not in sequence. */
    public long depthBytes(PartitionId partition, long offset) {
        Reader reader = readers.get(new Position(partition, offset));
        return reader == null ? 0 : reader.depthBytes();
    }

    /** How many readers are remembered. */
    public int readers() {
        return readers.size();
    }

    private long deeper(long depthBytes, boolean waited) {
        long share = allBytesMax / (sequential + 1);
        long grown = waited ? 2 * depthBytes : depthBytes;
        return Math.min(Math.min(depthBytes == 0 ? firstBytes : grown, readerBytesMax), share);
    }

    private void put(Position position, Reader reader) {
        readers.put(position, reader);
        sequential += reader.isSequential() ? 1 : 0;
    }

    private Reader remove(Position position) {
        Reader reader = readers.remove(position);
        sequential -= reader != null && reader.isSequential() ? 1 : 0;
        return reader;
    }

    private void forgetOld(long nowMs) {
        Iterator<Map.Entry<Position, Reader>> oldest = readers.entrySet().iterator();
        while (oldest.hasNext()) {
            Reader reader = oldest.next().getValue();
            if (nowMs - reader.seenMs() <= forgetAfterMs) {
                return;
            }
            sequential -= reader.isSequential() ? 1 : 0;
            oldest.remove();
        }
    }
}
