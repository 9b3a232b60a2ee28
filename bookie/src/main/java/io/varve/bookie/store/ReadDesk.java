package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import java.util.concurrent.CompletableFuture;

/** Takes reads and has them done on threads of their own, near the tail on some and the rest on others, each with a budget of its own. Safe for any thread. */
final class ReadDesk implements AutoCloseable {

    private static final int READ_THREADS = 2;

    private final SegmentReader reader;
    private final SharedState shared;
    private final ReadLane tailReads;
    private final ReadLane catchUpReads;

    ReadDesk(SegmentReader reader, SharedState shared) {
        this.reader = reader;
        this.shared = shared;
        this.tailReads = new ReadLane("read-tail", READ_THREADS, shared.options.tailReadBytesMax());
        this.catchUpReads = new ReadLane("read-catch-up", READ_THREADS, shared.options.catchUpReadBytesMax());
    }

    /** As {@link SegmentStore#read}, of a replica that is here. */
    CompletableFuture<ReadReply> read(Replica replica, long fromOffset, int maxBytes, ReadPriority priority) {
        long end = replica.state.durableEnd();
        if (fromOffset >= end) {
            return CompletableFuture.completedFuture(SegmentReader.beyondEnd(replica, end));
        }
        ReadLane lane = priority == ReadPriority.CATCH_UP ? catchUpReads : tailReads;
        int charge = Math.max(1, maxBytes);
        CompletableFuture<ReadReply> answer = new CompletableFuture<>();
        boolean taken = lane.submit(charge, () -> answerRead(lane, charge, replica, fromOffset, maxBytes, answer));
        if (!taken) {
            answer.complete(SegmentReader.empty(BookieStatus.OVERLOADED, replica));
        }
        return answer;
    }

    private void answerRead(
            ReadLane lane,
            int charge,
            Replica replica,
            long fromOffset,
            int maxBytes,
            CompletableFuture<ReadReply> answer) {
        ReadReply reply;
        try {
            reply = reader.read(replica, fromOffset, maxBytes);
        } catch (Throwable fault) {
            lane.release(charge);
            shared.faults.onFault("read", fault);
            return;
        }
        if (reply.status() != BookieStatus.OK) {
            lane.release(charge);
            answer.complete(reply);
            return;
        }
        int held = Math.max(charge, reply.entries().capacity());
        lane.chargeMore(held - charge);
        ByteBuf charged = lane.charged(reply.entries(), held);
        answer.complete(new ReadReply(reply.status(), charged, reply.end(), reply.highWatermark()));
    }

    /** As {@link SegmentStore#readCheckpoint}, of a replica that is here. */
    CompletableFuture<CheckpointReply> readCheckpoint(Replica replica, long atMostOffset) {
        CompletableFuture<CheckpointReply> answer = new CompletableFuture<>();
        boolean taken = tailReads.submit(1, () -> answerCheckpoint(replica, atMostOffset, answer));
        if (!taken) {
            answer.complete(new CheckpointReply(BookieStatus.OVERLOADED, -1, Unpooled.EMPTY_BUFFER));
        }
        return answer;
    }

    private void answerCheckpoint(Replica replica, long atMostOffset, CompletableFuture<CheckpointReply> answer) {
        CheckpointReply reply;
        try {
            reply = reader.readCheckpoint(replica, atMostOffset);
        } catch (Throwable fault) {
            tailReads.release(1);
            shared.faults.onFault("read", fault);
            return;
        }
        int held = Math.max(1, reply.state().capacity());
        tailReads.chargeMore(held - 1);
        answer.complete(new CheckpointReply(reply.status(), reply.offset(), tailReads.charged(reply.state(), held)));
    }

    /** Bytes that reads at CATCH_UP hold at the moment. */
    long catchUpBytesHeld() {
        return catchUpReads.bytesHeld();
    }

    @Override
    public void close() {
        tailReads.close();
        catchUpReads.close();
    }
}
