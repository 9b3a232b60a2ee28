package io.varve.itest.sim;

import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.AppendListener;
import io.varve.bookie.client.AppendStream;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieClient;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.client.InMemoryBookies;
import io.varve.protocol.storage.EntryFormat;
import io.varve.sim.SimRandomness;
import java.nio.ByteBuffer;

/**
 * An owner that doesn't know that it is none any more, in its crudest form: it connects again to a bookie that was fenced against it and goes on appending
 * to its old segment. The real owners never connect twice to one segment, so nothing but the bookie's memory of its fence stands against this one.
 */
final class SimReconnectingZombie {

    private final InMemoryBookies bookies;
    private final FenceOracle fences;
    private final SimRandomness randomness;
    private final BookieClient client;

    SimReconnectingZombie(InMemoryBookies bookies, FenceOracle fences, SimRandomness randomness) {
        this.bookies = bookies;
        this.fences = fences;
        this.randomness = randomness;
        this.client = bookies.client("zombie");
    }

    /** Tries it on one bookie, with the replicas there that were seen to be fenced. */
    void tryAppending(int bookie) {
        for (SegmentId segment : bookies.segments(bookie)) {
            PartitionId partition = bookies.partition(bookie, segment);
            int epoch = bookies.epoch(bookie, segment);
            if (fences.isFencedAbove(bookie, partition, epoch) && randomness.percent(30)) {
                append(bookie, partition, segment, epoch);
            }
        }
    }

    private void append(int bookie, PartitionId partition, SegmentId segment, int epoch) {
        long end = bookies.end(bookie, segment);
        AppendStream stream = client.openAppend(
                new BookieAddress(new BookieId(bookie), "memory", bookie),
                partition,
                segment,
                epoch,
                end,
                0,
                new Deaf());
        ByteBuffer payload = ByteBuffer.allocate(100);
        stream.append(end, end, EntryFormat.checksum(end, end, payload), Unpooled.wrappedBuffer(payload), -1);
    }

    private static final class Deaf implements AppendListener {
        @Override
        public void onDurable(long durableEnd) {
            // The oracle looks into the bookie itself.
        }

        @Override
        public void onFailed(BookieStatus status, long replicaEnd) {
            // As it should.
        }
    }
}
