package io.varve.serving.partition;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.bookie.client.AppendListener;
import io.varve.bookie.client.AppendStream;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.storage.EntryFormat;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The streams to the replicas of one rewrite, under the owner's epoch: what fences the owner stops them too (I-4, I-14). A stream that fails is left; what is
 * written counts while as many are left as acknowledge an entry. Used on the compaction's loop; bookies' answers hop onto it.
 */
final class RewriteStreams {

    private final PartitionLoop loop;
    private final SegmentDescriptor rewrite;
    private final Runnable onChange;
    private final AppendStream[] streams;
    private final long[] durableEnds;
    private long sentEnd;
    private boolean fenced;

    /** @param onChange runs on the loop when more became durable, or a stream failed */
    RewriteStreams(
            PartitionContext context,
            PartitionLoop loop,
            PartitionId id,
            SegmentDescriptor rewrite,
            Runnable onChange) {
        this.loop = loop;
        this.rewrite = rewrite;
        this.onChange = onChange;
        List<Replica> replicas = rewrite.replicas();
        streams = new AppendStream[replicas.size()];
        durableEnds = new long[replicas.size()];
        sentEnd = rewrite.startOffset();
        for (int r = 0; r < streams.length; r++) {
            Optional<BookieAddress> address = context.addressOf(replicas.get(r).bookie());
            if (address.isPresent()) {
                streams[r] = context.bookies()
                        .openAppend(
                                address.get(),
                                id,
                                rewrite.id(),
                                rewrite.epoch(),
                                rewrite.startOffset(),
                                replicas.get(r).incarnation(),
                                new Listener(r));
            }
        }
    }

    /** Sends the next batch to all that are left. Takes the reference over. */
    void append(long firstOffset, long lastOffset, ByteBuf payload) {
        int crc = EntryFormat.checksum(firstOffset, lastOffset, payload.nioBuffer());
        for (AppendStream stream : streams) {
            if (stream != null) {
                stream.append(firstOffset, lastOffset, crc, payload.retainedDuplicate(), rewrite.startOffset());
            }
        }
        payload.release();
        sentEnd = lastOffset + 1;
    }

    void checkpoint(long offset, ByteBuffer state) {
        for (AppendStream stream : streams) {
            if (stream != null) {
                stream.checkpoint(offset, Unpooled.wrappedBuffer(state.duplicate()));
            }
        }
    }

    /** Where the next batch has to begin. */
    long sentEnd() {
        return sentEnd;
    }

    /** Whether enough are left. */
    boolean isEnough() {
        int left = 0;
        for (AppendStream stream : streams) {
            left += stream == null ? 0 : 1;
        }
        return !fenced && left >= rewrite.acks();
    }

    /** The most that one of them has not confirmed. */
    long pendingBytes() {
        long most = 0;
        for (AppendStream stream : streams) {
            most = Math.max(most, stream == null ? 0 : stream.pendingBytes());
        }
        return most;
    }

    /** Whether all that are left hold durably what was sent. */
    boolean isAllDurable() {
        for (int r = 0; r < streams.length; r++) {
            if (streams[r] != null && durableEnds[r] < sentEnd) {
                return false;
            }
        }
        return true;
    }

    /** Those that hold durably what was sent. */
    TreeSet<BookieId> holders() {
        TreeSet<BookieId> holders = new TreeSet<>();
        for (int r = 0; r < streams.length; r++) {
            if (streams[r] != null && durableEnds[r] >= sentEnd) {
                holders.add(rewrite.replicas().get(r).bookie());
            }
        }
        return holders;
    }

    /** Leaves those that don't hold what was sent, and says which these are. */
    List<BookieId> leaveLaggards() {
        List<BookieId> left = new ArrayList<>();
        for (int r = 0; r < streams.length; r++) {
            if (streams[r] != null && durableEnds[r] < sentEnd) {
                streams[r].close();
                streams[r] = null;
                left.add(rewrite.replicas().get(r).bookie());
            }
        }
        return left;
    }

    /** Tells them that the segment has ended. */
    void seal() {
        for (AppendStream stream : streams) {
            if (stream != null) {
                stream.seal(sentEnd);
            }
        }
    }

    void close() {
        for (int r = 0; r < streams.length; r++) {
            if (streams[r] != null) {
                streams[r].close();
                streams[r] = null;
            }
        }
    }

    private final class Listener implements AppendListener {

        private final int replica;

        private Listener(int replica) {
            this.replica = replica;
        }

        @Override
        public void onDurable(long durableEnd) {
            loop.execute(() -> {
                if (streams[replica] != null) {
                    durableEnds[replica] = durableEnd;
                    onChange.run();
                }
            });
        }

        @Override
        public void onFailed(BookieStatus status, long replicaEnd) {
            loop.execute(() -> {
                fenced |= status == BookieStatus.FENCED;
                streams[replica] = null;
                onChange.run();
            });
        }
    }
}
