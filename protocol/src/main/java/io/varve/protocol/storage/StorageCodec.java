package io.varve.protocol.storage;

import io.netty.buffer.ByteBuf;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import java.util.ArrayList;
import java.util.List;

/**
 * The bodies of the calls to a bookie. Big-endian. Statuses are bytes whose meaning {@code io.varve.bookie.client.BookieStatus} gives.
 *
 * <pre>
 *  FENCE request     | count | count × ( topic high | topic low | partition | epoch | segment | incarnation ) |
 *                    |   4   |              8       |     8     |     4     |   4   |    8    |      8      |
 *  FENCE reply       | count | count × replica |
 *  DESCRIBE request  | segment | incarnation |
 *  DESCRIBE reply    | replica |
 *  replica           | status | end | high watermark | incarnation | sealed | fence epoch |
 *                    |   1    |  8  |       8        |      8      |   1    |      4      |
 *  READ request      | segment | from offset | bytes max | priority |
 *                    |    8    |      8      |     4     |    1     |
 *  READ reply        | status | end | high watermark | entries ({@link EntryFormat}, one after the other) |
 *                    |   1    |  8  |       8        |                                                     |
 *  CHECKPOINT request| segment | offset at most |
 *  CHECKPOINT reply  | status | offset | state |
 *                    |   1    |   8    |       |
 * </pre>
 *
 * Readers throw {@link IndexOutOfBoundsException} for what is cut short and {@link IllegalArgumentException} for numbers that can't be. What follows the
 * known fields of a request of fixed length is from a later version and ignored.
 */
public final class StorageCodec {

    /** The most fences in one request. */
    public static final int FENCES_MAX = 10_000;

    /** Bytes of a READ reply before the entries. */
    public static final int READ_REPLY_HEAD_BYTES = 17;

    /** Bytes of a CHECKPOINT reply before the state. */
    public static final int CHECKPOINT_REPLY_HEAD_BYTES = 9;

    /** Bytes of one replica. */
    public static final int REPLICA_BYTES = 30;

    private static final int FENCE_BYTES = 40;

    private StorageCodec() {}

    /** One fence to raise. */
    public record Fence(PartitionId partition, int epoch, SegmentId segment, long incarnation) {}

    /** What a bookie says of a replica. */
    public record ReplicaState(
            int status, long end, long highWatermark, long incarnation, boolean sealed, int fenceEpoch) {}

    /**
     * What is to be read.
     *
     * @param priority 0 recovery, 1 tail, 2 catch-up
     */
    public record Read(SegmentId segment, long fromOffset, int bytesMax, int priority) {}

    /** Bytes of a FENCE request. */
    public static int fencesBytes(int count) {
        return Integer.BYTES + count * FENCE_BYTES;
    }

    /** Writes a FENCE request. */
    public static void writeFences(ByteBuf to, List<Fence> fences) {
        to.writeInt(fences.size());
        for (Fence fence : fences) {
            writePartition(to, fence.partition());
            to.writeInt(fence.epoch()).writeLong(fence.segment().value()).writeLong(fence.incarnation());
        }
    }

    /** Reads a FENCE request. */
    public static List<Fence> readFences(ByteBuf from) {
        int count = readCount(from, FENCE_BYTES);
        List<Fence> fences = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            PartitionId partition = readPartition(from);
            fences.add(new Fence(partition, from.readInt(), new SegmentId(from.readLong()), from.readLong()));
        }
        return fences;
    }

    /** Writes a FENCE reply. */
    public static void writeReplicas(ByteBuf to, List<ReplicaState> replicas) {
        to.writeInt(replicas.size());
        for (ReplicaState replica : replicas) {
            writeReplica(to, replica);
        }
    }

    /** Reads a FENCE reply. */
    public static List<ReplicaState> readReplicas(ByteBuf from) {
        int count = readCount(from, REPLICA_BYTES);
        List<ReplicaState> replicas = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            replicas.add(readReplica(from));
        }
        return replicas;
    }

    /** Writes a DESCRIBE reply. */
    public static void writeReplica(ByteBuf to, ReplicaState replica) {
        to.writeByte(replica.status())
                .writeLong(replica.end())
                .writeLong(replica.highWatermark())
                .writeLong(replica.incarnation())
                .writeBoolean(replica.sealed())
                .writeInt(replica.fenceEpoch());
    }

    /** Reads a DESCRIBE reply. */
    public static ReplicaState readReplica(ByteBuf from) {
        return new ReplicaState(
                from.readUnsignedByte(),
                from.readLong(),
                from.readLong(),
                from.readLong(),
                from.readBoolean(),
                from.readInt());
    }

    /** Writes a DESCRIBE request, or with an offset in place of the incarnation a CHECKPOINT request. */
    public static void writeSegmentAndLong(ByteBuf to, SegmentId segment, long second) {
        to.writeLong(segment.value()).writeLong(second);
    }

    /** Writes a READ request. */
    public static void writeRead(ByteBuf to, Read read) {
        to.writeLong(read.segment().value())
                .writeLong(read.fromOffset())
                .writeInt(read.bytesMax())
                .writeByte(read.priority());
    }

    /** Reads a READ request. */
    public static Read readRead(ByteBuf from) {
        return new Read(readSegment(from), from.readLong(), from.readInt(), from.readUnsignedByte());
    }

    /** Writes a READ reply up to the entries, which follow as they are. */
    public static void writeReadReplyHead(ByteBuf to, int status, long end, long highWatermark) {
        to.writeByte(status).writeLong(end).writeLong(highWatermark);
    }

    /** Writes a CHECKPOINT reply up to the state, which follows as it is. */
    public static void writeCheckpointReplyHead(ByteBuf to, int status, long offset) {
        to.writeByte(status).writeLong(offset);
    }

    /** Reads a segment id. */
    public static SegmentId readSegment(ByteBuf from) {
        return new SegmentId(from.readLong());
    }

    static void writePartition(ByteBuf to, PartitionId partition) {
        to.writeLong(partition.topic().high())
                .writeLong(partition.topic().low())
                .writeInt(partition.index());
    }

    private static PartitionId readPartition(ByteBuf from) {
        return new PartitionId(new TopicId(from.readLong(), from.readLong()), from.readInt());
    }

    private static int readCount(ByteBuf from, int bytesEach) {
        int count = from.readInt();
        if (count < 0 || count > FENCES_MAX || (long) count * bytesEach > from.readableBytes()) {
            throw new IllegalArgumentException("A list of " + count + " does not fit");
        }
        return count;
    }
}
