package io.varve.tiering.core;

import io.varve.base.PartitionId;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How far to read ahead of whom. A reader is known by where it will go on: a read that begins where an earlier one ended is a sequential
 * reader's, and each of these doubles how far ahead is read, up to its share of the budget. So a reader that jumps about costs nothing,
 * one that runs gets long requests early, and two hundred of them get none rather than push each other's blocks out. Not safe for several
 * threads.
 */
public final class ReadAhead {

    private final long firstBytes;
    private final long readerBytesMax;
    private final long allBytesMax;
    private final int readersMax;
    private final long forgetAfterMs;
    private final LinkedHashMap<Position, Reader> readers = new LinkedHashMap<>();

    /**
     * @param firstBytes ahead after the first sequential read
     * @param readerBytesMax ahead of one reader
     * @param allBytesMax ahead of all readers together
     * @param readersMax remembered
     * @param forgetAfterMs a reader that doesn't come back is forgotten after that
     */
    public ReadAhead(long firstBytes, long readerBytesMax, long allBytesMax, int readersMax, long forgetAfterMs) {
        this.firstBytes = firstBytes;
        this.readerBytesMax = readerBytesMax;
        this.allBytesMax = allBytesMax;
        this.readersMax = readersMax;
        this.forgetAfterMs = forgetAfterMs;
    }

    private record Position(PartitionId partition, long offset) {}

    private record Reader(long depthBytes, String object, int aheadEnd, long seenMs) {}

    /**
     * Blocks to fetch ahead.
     *
     * @param from the first of them
     * @param end exclusive; {@code from} if there are none
     */
    public record Plan(int from, int end) {
        /** Whether there is nothing to fetch. */
        public boolean isEmpty() {
            return from >= end;
        }
    }

    /**
     * A read that was answered.
     *
     * @param object its key
     * @param fromOffset where it began
     * @param nextOffset where it ended
     * @param lastBlock the last block it touched
     */
    public Plan onRead(
            PartitionId partition,
            String object,
            BlockIndex index,
            long fromOffset,
            long nextOffset,
            int lastBlock,
            long nowMs) {
        forgetOld(nowMs);
        Reader before = readers.remove(new Position(partition, fromOffset));
        long depthBytes = before == null ? 0 : deeper(before.depthBytes());
        int aheadEnd = before != null && before.object().equals(object) ? before.aheadEnd() : 0;
        int from = Math.max(aheadEnd, lastBlock + 1);
        Plan plan = new Plan(from, from);
        // Only when half of what is ahead was used up: else every read would ask for one more small piece.
        if (bytesBetween(index, lastBlock + 1, from) <= depthBytes / 2) {
            plan = new Plan(from, endWithin(index, lastBlock + 1, from, depthBytes));
        }
        remember(
                new Position(partition, nextOffset), new Reader(depthBytes, object, Math.max(from, plan.end()), nowMs));
        return plan;
    }

    /** How far ahead is read of the reader that will go on at an offset; 0 if none will, or not in sequence. */
    public long depthBytes(PartitionId partition, long offset) {
        Reader reader = readers.get(new Position(partition, offset));
        return reader == null ? 0 : reader.depthBytes();
    }

    /**
     * How many of an object's first blocks to fetch for a reader that is still in the object before it.
     *
     * @param before what the reader has yet to read there
     * @param stepBytes only as many as make whole steps, or all there are: a GET for each step
     */
    public static int firstBlocks(BlockIndex index, long depthBytes, long before, long stepBytes) {
        long room = depthBytes - before;
        int end = 0;
        long stored = 0;
        long raw = 0;
        for (int block = 0; block < index.blocks(); block++) {
            raw += index.rawBytes(block);
            stored += index.storedBytes(block);
            if (raw > room) {
                return end;
            }
            boolean isStep = block + 1 == index.blocks() || stored + index.storedBytes(block + 1) > stepBytes;
            if (isStep) {
                end = block + 1;
                stored = 0;
            }
        }
        return end;
    }

    /** How many readers are remembered. */
    public int readers() {
        return readers.size();
    }

    private long deeper(long depthBytes) {
        long share = allBytesMax / (readers.size() + 1);
        long wanted = depthBytes == 0 ? firstBytes : 2 * depthBytes;
        return Math.min(Math.min(wanted, readerBytesMax), share);
    }

    private void remember(Position position, Reader reader) {
        readers.put(position, reader);
        if (readers.size() > readersMax) {
            Iterator<Position> oldest = readers.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
    }

    private void forgetOld(long nowMs) {
        Iterator<Map.Entry<Position, Reader>> oldest = readers.entrySet().iterator();
        while (oldest.hasNext() && nowMs - oldest.next().getValue().seenMs() > forgetAfterMs) {
            oldest.remove();
        }
    }

    private static long bytesBetween(BlockIndex index, int from, int end) {
        long bytes = 0;
        for (int block = from; block < Math.min(end, index.blocks()); block++) {
            bytes += index.rawBytes(block);
        }
        return bytes;
    }

    /** The end of the whole blocks from {@code from} on that lie within {@code depthBytes} of {@code start}. */
    private static int endWithin(BlockIndex index, int start, int from, long depthBytes) {
        long bytes = bytesBetween(index, start, from);
        int end = from;
        while (end < index.blocks() && bytes + index.rawBytes(end) <= depthBytes) {
            bytes += index.rawBytes(end);
            end++;
        }
        return end;
    }
}
