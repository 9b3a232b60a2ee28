package io.varve.bookie.store;

import io.varve.base.PartitionId;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.model.SegmentDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.zip.CRC32C;

/** A copy of a sealed segment from bookies that a simulation doesn't have: what it holds is what was submitted here, and some more. */
final class SimImport {

    private static final int ENTRY_HEADER_BYTES = 24;

    private final StoreOracle.Segment segment;
    private final SegmentDescriptor descriptor;
    private final List<StoreOracle.Entry> entries;
    private final byte[] checkpoint;
    private LocalSegmentImport open;
    private boolean submitted;

    private SimImport(
            StoreOracle.Segment segment,
            SegmentDescriptor descriptor,
            List<StoreOracle.Entry> entries,
            byte[] checkpoint) {
        this.segment = segment;
        this.descriptor = descriptor;
        this.entries = entries;
        this.checkpoint = checkpoint;
    }

    static SimImport of(StoreOracle.Segment segment, PartitionId partition, SplittableRandom random) {
        List<StoreOracle.Entry> entries = new ArrayList<>(segment.submitted.values());
        long end = segment.submittedEnd();
        for (int more = 1 + random.nextInt(8); more > 0; more--) {
            byte[] payload = new byte[random.nextInt(400)];
            random.nextBytes(payload);
            entries.add(new StoreOracle.Entry(end, end + random.nextInt(4), payload));
            end = entries.get(entries.size() - 1).last() + 1;
        }
        byte[] checkpoint = new byte[random.nextInt(300)];
        random.nextBytes(checkpoint);
        SegmentDescriptor descriptor = StoreFixture.sealed(segment.id, partition, segment.epoch, segment.start, end);
        return new SimImport(segment, descriptor, entries, checkpoint);
    }

    StoreOracle.Segment segment() {
        return segment;
    }

    long end() {
        return descriptor.endOffset();
    }

    /** Copies a little; answers whether all is copied. */
    boolean step(LocalSegmentStore store, SplittableRandom random) throws IOException {
        if (random.nextInt(20) == 0 && open != null) {
            open.abort();
            close();
        }
        if (open == null) {
            open = (LocalSegmentImport) store.importSegment(descriptor, 0);
        }
        for (StoreOracle.Entry entry : entries) {
            if (entry.first() == open.nextOffset()) {
                open.write(bytes(entry));
                if (random.nextInt(3) == 0) {
                    return false;
                }
            }
        }
        return open.nextOffset() == end();
    }

    /** Makes the copy known; what it holds may be found from now on. */
    CompletableFuture<BookieStatus> submit() throws IOException {
        open.checkpoint(end(), ByteBuffer.wrap(checkpoint));
        segment.checkpoints.put(end(), checkpoint);
        for (StoreOracle.Entry entry : entries) {
            segment.submitted.put(entry.first(), entry);
        }
        CompletableFuture<BookieStatus> answer = open.submit();
        submitted = true;
        return answer;
    }

    /** Whether it only remains to be known. */
    boolean isSubmitted() {
        return submitted;
    }

    /** The store that it was copied to is no more. */
    void onRestart() {
        open = null;
    }

    void close() {
        if (open != null) {
            open.close();
            open = null;
        }
    }

    private static ByteBuffer bytes(StoreOracle.Entry entry) {
        ByteBuffer bytes = ByteBuffer.allocate(ENTRY_HEADER_BYTES + entry.payload().length);
        bytes.putLong(entry.first()).putLong(entry.last()).putInt(entry.payload().length);
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), 0, bytes.position());
        crc.update(entry.payload());
        return bytes.putInt((int) crc.getValue()).put(entry.payload()).flip();
    }
}
