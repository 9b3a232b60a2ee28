package io.varve.serving.partition;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.bookie.client.AppendListener;
import io.varve.bookie.client.AppendStream;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.model.Replica;
import io.varve.serving.core.partition.PartitionLeader;
import io.varve.serving.core.partition.SegmentWriter;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** The streams to the replicas of the segments that one owner writes. Used on the partition's loop; replicas' answers hop onto it. */
final class SegmentStreams {

    private final PartitionContext context;
    private final PartitionLoop loop;
    private final OwnedLog log;
    private final TreeMap<Integer, AppendStream[]> streams = new TreeMap<>();

    SegmentStreams(PartitionContext context, PartitionLoop loop, OwnedLog log) {
        this.context = context;
        this.loop = loop;
        this.log = log;
    }

    void open(SegmentWriter writer) {
        AppendStream[] opened = new AppendStream[writer.replicas().size()];
        streams.put(writer.number(), opened);
        for (int r = 0; r < opened.length; r++) {
            Replica replica = writer.replicas().get(r);
            Listener listener = new Listener(writer.number(), r, replica.bookie());
            Optional<BookieAddress> address = context.addressOf(replica.bookie());
            if (address.isEmpty()) {
                loop.execute(() -> listener.fail(BookieStatus.NO_ANSWER));
                continue;
            }
            opened[r] = context.bookies()
                    .openAppend(
                            address.get(),
                            log.id(),
                            writer.segment(),
                            log.epoch(),
                            writer.startOffset(),
                            replica.incarnation(),
                            listener);
        }
    }

    void send(int writer, int replica, long first, long last, int crc, ByteBuf payload, long highWatermark) {
        AppendStream stream = stream(writer, replica);
        if (stream != null) {
            stream.append(first, last, crc, payload.retainedDuplicate(), highWatermark);
        }
    }

    void checkpoint(SegmentWriter writer, long offset, ByteBuffer state) {
        for (AppendStream stream : streams.getOrDefault(writer.number(), new AppendStream[0])) {
            if (stream != null) {
                stream.checkpoint(offset, Unpooled.wrappedBuffer(state.duplicate()));
            }
        }
    }

    void close(int writer, int replica, long sealOffset) {
        AppendStream[] opened = streams.get(writer);
        if (opened == null || opened[replica] == null) {
            return;
        }
        if (sealOffset >= 0) {
            opened[replica].seal(sealOffset);
        }
        opened[replica].close();
        forget(writer, replica);
    }

    long pendingBytes(int writer, int replica) {
        AppendStream stream = stream(writer, replica);
        return stream == null ? 0 : stream.pendingBytes();
    }

    void closeAll() {
        for (AppendStream[] opened : streams.values()) {
            for (AppendStream stream : opened) {
                if (stream != null) {
                    stream.close();
                }
            }
        }
        streams.clear();
    }

    private AppendStream stream(int writer, int replica) {
        AppendStream[] opened = streams.get(writer);
        return opened == null ? null : opened[replica];
    }

    private void forget(int writer, int replica) {
        AppendStream[] opened = streams.get(writer);
        opened[replica] = null;
        for (AppendStream stream : opened) {
            if (stream != null) {
                return;
            }
        }
        streams.remove(writer);
    }

    /** One replica's answers. Ends are cumulative, so while a hop waits for the loop later ends ride along with it. */
    private final class Listener implements AppendListener {

        private final int writer;
        private final int replica;
        private final BookieId bookie;
        private final AtomicBoolean hopping = new AtomicBoolean();
        private volatile long durableEnd = -1;

        private Listener(int writer, int replica, BookieId bookie) {
            this.writer = writer;
            this.replica = replica;
            this.bookie = bookie;
        }

        @Override
        public void onDurable(long end) {
            durableEnd = end;
            if (hopping.compareAndSet(false, true)) {
                loop.execute(this::deliver);
            }
        }

        private void deliver() {
            hopping.set(false);
            PartitionLeader<ByteBuf> leader = log.leader();
            if (stream(writer, replica) != null) {
                leader.onDurable(writer, replica, durableEnd);
            }
        }

        @Override
        public void onFailed(BookieStatus status, long replicaEnd) {
            loop.execute(() -> fail(status));
        }

        private void fail(BookieStatus status) {
            log.onStreamFailed(bookie, status);
            if (streams.containsKey(writer)) {
                forget(writer, replica);
            }
            if (status == BookieStatus.FENCED) {
                log.leader().onHigherFence();
            } else {
                log.leader().onStreamFailed(writer, replica);
            }
        }
    }
}
