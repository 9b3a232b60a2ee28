package io.varve.bookie.client;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieClient.ReadReply;

/** The replicas of one in-memory bookie, for tests of other packages. One owner. */
public final class MemoryReplicas {

    /** Of its only directory. */
    public static final long INCARNATION = 1;

    private final InMemoryBookie bookie = new InMemoryBookie(1, INCARNATION);

    /** {@code end} is -1 if there is none. */
    public record Answer(BookieStatus status, long end) {}

    public Answer open(PartitionId partition, SegmentId segment, int epoch, long start, long incarnation) {
        return toAnswer(bookie.open(partition, segment, epoch, start, incarnation));
    }

    public Answer append(SegmentId segment, int epoch, long first, long last, int crc, byte[] payload, long hw) {
        return toAnswer(bookie.append(segment, epoch, first, last, crc, payload, hw));
    }

    public void checkpoint(SegmentId segment, int epoch, long offset, byte[] state) {
        bookie.checkpoint(segment, epoch, offset, state);
    }

    public void seal(SegmentId segment, int epoch, long end) {
        bookie.seal(segment, epoch, end);
    }

    public FenceReply fence(FenceRequest request) {
        return bookie.fence(request);
    }

    public FenceReply describe(SegmentId segment, long incarnation) {
        return bookie.describe(segment, incarnation, -1);
    }

    public ReadReply read(SegmentId segment, long fromOffset, int maxBytes) {
        return bookie.read(segment, fromOffset, maxBytes);
    }

    public CheckpointReply readCheckpoint(SegmentId segment, long atMost) {
        return bookie.readCheckpoint(segment, atMost);
    }

    private static Answer toAnswer(InMemoryBookie.Answer answer) {
        return new Answer(answer.status(), answer.end());
    }
}
