package io.varve.tiering.tools;

import io.varve.protocol.storage.EntryFormat;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.core.BlockIndex;
import io.varve.tiering.core.ObjectFooter;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.StoreFailures;
import io.varve.tiering.read.ObjectReads;
import io.varve.tiering.read.ObjectWalk;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;

/** {@code varve object inspect|verify|cat KEY}: an object says what it is, is checked byte for byte, or is written out. */
public final class ObjectInspect {

    private static final int RANGE_BYTES = 8 * 1024 * 1024;

    private final ObjectStore store;
    private final PrintStream out;

    public ObjectInspect(ObjectStore store, PrintStream out) {
        this.store = store;
        this.out = out;
    }

    /**
     * Prints what the object says of itself, without reading its data.
     *
     * @param blocks also a line for each block
     * @throws RemoteReadException with one line
     */
    public void inspect(String key, boolean blocks) {
        ObjectTail tail = get(key, ObjectReads.tail(store, key, length(key)));
        ObjectFooter footer = tail.footer();
        out.printf("object        %s%n", key);
        out.printf("format        %d.%d%n", tail.major(), tail.minor());
        out.printf("bytes         %d (entries: %d)%n", tail.length(), footer.rawBytes());
        out.printf("crc32c        %08x%n", tail.crc());
        out.printf("cluster       %s%n", footer.clusterId());
        out.printf(
                "partition     %s (%s) %d%n",
                footer.topicName(),
                footer.partition().topic(),
                footer.partition().index());
        out.printf("offsets       %d to %d%n", footer.startOffset(), footer.endOffset() - 1);
        out.printf("entries       %d in %d blocks%n", footer.entries(), footer.blocks());
        out.printf("newest record %s%n", time(footer.maxTimestampMs()));
        out.printf("written       %s by attempt %d%n", time(footer.createdMs()), footer.attemptId());
        for (ObjectFooter.Segment segment : footer.segments()) {
            out.printf(
                    "segment       %s epoch %d, offsets %d to %d, %d bytes, sealed %s%n",
                    segment.id(),
                    segment.epoch(),
                    segment.startOffset(),
                    segment.endOffset() - 1,
                    segment.bytes(),
                    time(segment.sealedMs()));
        }
        for (ObjectFooter.Section section : footer.sections()) {
            out.printf(
                    "section       type %d, tag %d, %d bytes at %d%n",
                    section.type(), section.tag(), section.bytes(), section.position());
        }
        if (blocks) {
            printBlocks(tail.index());
        }
    }

    /**
     * Reads and checks the whole object.
     *
     * @throws RemoteReadException with one line that says what is wrong with it
     */
    public void verify(String key) {
        AtomicLong entries = new AtomicLong();
        ObjectTail tail = new ObjectWalk(store, Lz4FrameCompression.INSTANCE, RANGE_BYTES)
                .verify(
                        key,
                        length(key),
                        block -> entries.addAndGet(
                                block.entriesFrom(0, Integer.MAX_VALUE, true).size()));
        out.printf(
                "%s: %d bytes, %d entries, offsets %d to %d: intact%n",
                key,
                tail.length(),
                entries.get(),
                tail.footer().startOffset(),
                tail.footer().endOffset() - 1);
    }

    /**
     * Prints a line for each entry, or its payload's bytes.
     *
     * @param raw writes the record batches themselves, as a Kafka log segment holds them
     * @throws RemoteReadException with one line
     */
    public void cat(String key, boolean raw) {
        new ObjectWalk(store, Lz4FrameCompression.INSTANCE, RANGE_BYTES).verify(key, length(key), block -> {
            for (ByteBuffer entry : block.entriesFrom(0, Integer.MAX_VALUE, true)) {
                if (raw) {
                    writePayload(entry);
                } else {
                    out.printf(
                            "%d to %d: %d bytes, crc32c %08x%n",
                            EntryFormat.firstOffset(entry, 0),
                            EntryFormat.lastOffset(entry, 0),
                            EntryFormat.payloadLength(entry, 0),
                            EntryFormat.crc(entry, 0));
                }
            }
        });
        out.flush();
    }

    private void printBlocks(BlockIndex index) {
        for (int block = 0; block < index.blocks(); block++) {
            out.printf(
                    "block         %d: from offset %d, %d bytes at %d (%d raw), newest %s%n",
                    block,
                    index.firstOffset(block),
                    index.storedBytes(block),
                    index.position(block),
                    index.rawBytes(block),
                    time(index.maxTimestampMs(block)));
        }
    }

    private void writePayload(ByteBuffer entry) {
        byte[] payload = new byte[entry.remaining() - EntryFormat.HEADER_BYTES];
        entry.get(EntryFormat.HEADER_BYTES, payload);
        out.write(payload, 0, payload.length);
    }

    private long length(String key) {
        Optional<ObjectStore.Stat> stat = get(key, store.head(key));
        return stat.orElseThrow(
                        () -> new RemoteReadException(RemoteReadException.Kind.MISSING, key + " is not there", null))
                .length();
    }

    private static String time(long ms) {
        return ms < 0 ? "-" : Instant.ofEpochMilli(ms).toString();
    }

    private static <T> T get(String key, CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw ObjectReads.failed(key, StoreFailures.root(e));
        }
    }
}
