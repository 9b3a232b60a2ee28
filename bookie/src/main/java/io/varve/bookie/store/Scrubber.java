package io.varve.bookie.store;

import io.netty.buffer.ByteBufAllocator;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import java.util.Map;

/**
 * Reads everything there is, from the first replica to the last and over again, and verifies it, so that damage is found while there are other copies. What it finds is
 * quarantined by the reader. Belongs to one thread.
 */
final class Scrubber {

    private static final int CHUNK_BYTES = 1024 * 1024;

    private final DirectoryStore directory;
    private final SegmentReader reader = new SegmentReader(ByteBufAllocator.DEFAULT);
    private SegmentId segment = new SegmentId(1);
    private long nextOffset = -1;

    Scrubber(DirectoryStore directory) {
        this.directory = directory;
    }

    /**
     * Verifies the next stretch.
     *
     * @return how many bytes it had, at least 1 to count the look itself; 0 if a round is over
     */
    int step() {
        Map.Entry<SegmentId, Replica> entry = directory.replicas().ceilingEntry(segment);
        if (entry == null) {
            segment = new SegmentId(1);
            nextOffset = -1;
            return 0;
        }
        Replica replica = entry.getValue();
        if (nextOffset < 0 || !replica.id().equals(segment)) {
            segment = replica.id();
            nextOffset = replica.state.startOffset();
        }
        if (replica.isLive() && replica.isIntact() && nextOffset < replica.state.durableEnd()) {
            ReadReply reply = reader.read(replica, nextOffset, CHUNK_BYTES);
            int bytes = reply.entries().readableBytes();
            if (reply.status() == BookieStatus.OK) {
                nextOffset = SegmentReader.endOf(reply.entries().nioBuffer());
                reply.entries().release();
                directory.shared.metrics.scrubbedBytes.increment(bytes);
                return bytes;
            }
        }
        segment = new SegmentId(segment.value() + 1);
        nextOffset = -1;
        return 1;
    }
}
