package io.varve.bookie.store;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.core.Fence;
import io.varve.bookie.disk.ChecksummedOutput;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * All that a directory knows besides the entries, as it was when a journal file was full: with it, the control records of that file and of all before it are
 * needed no more. Written beside the old one, fsynced, and renamed.
 *
 * <pre>
 *  "VSNP"4 | version 4 | incarnation 8 | file number 8 | next sequence 8
 *  | fences 4 | { topic 16 | partition 4 | epoch 4 }…
 *  | replicas 4 | { segment 8 | topic 16 | partition 4 | epoch 4 | start 8 | end 8 | high watermark 8 | sealed end 8 | seal epoch 4 | health 1
 *                 | bytes 8 | settled end 8 | settled bytes 8 | checkpoints 1 | { offset 8 | file 8 | position 8 | bytes 4 }… }…
 *  | crc32c 4
 * </pre>
 *
 * @param fileNumber what is in files up to this one is in here
 * @param nextSequence of the first record of the next file
 */
record Snapshot(long fileNumber, long nextSequence, List<FenceState> fences, List<ReplicaState> replicas) {

    private static final int MAGIC = 0x56534e50; // VSNP
    private static final int VERSION = 1;
    private static final String PREFIX = "snapshot-";
    private static final String NEW_SUFFIX = ".new";

    record FenceState(PartitionId partition, int epoch) {}

    record ReplicaState(
            SegmentId segment,
            PartitionId partition,
            int epoch,
            long startOffset,
            long end,
            long highWatermark,
            long sealedEnd,
            int sealEpoch,
            ReplicaInfo.Health health,
            long bytes,
            Replica.Settled settled,
            List<CheckpointRef> checkpoints) {

        /** As it is in the journal's order, durable or not: on the journal's thread. */
        static ReplicaState of(Replica replica) {
            return new ReplicaState(
                    replica.id(),
                    replica.state.fence().partition(),
                    replica.state.epoch(),
                    replica.state.startOffset(),
                    replica.state.acceptedEnd(),
                    replica.state.highWatermark(),
                    replica.state.sealedEnd(),
                    replica.state.sealEpoch(),
                    replica.health,
                    replica.bytes,
                    replica.acceptedSettled,
                    replica.acceptedCheckpoints);
        }
    }

    /** Of everything as it is in the journal's order: on the journal's thread. */
    static Snapshot of(long fileNumber, long nextSequence, Iterable<Fence> fences, Collection<Replica> replicas) {
        List<FenceState> fenceStates = new ArrayList<>();
        for (Fence fence : fences) {
            fenceStates.add(new FenceState(fence.partition(), fence.epoch()));
        }
        List<ReplicaState> states = new ArrayList<>(replicas.size());
        for (Replica replica : replicas) {
            if (replica.isLive()) {
                states.add(ReplicaState.of(replica));
            }
        }
        return new Snapshot(fileNumber, nextSequence, fenceStates, states);
    }

    static boolean isSnapshot(String name) {
        return name.startsWith(PREFIX);
    }

    static String name(long fileNumber) {
        return PREFIX + String.format("%016d", fileNumber);
    }

    /** The newest intact one, or {@code null}. */
    static Snapshot readNewest(Disk disk, long incarnation) throws IOException {
        List<String> names = new ArrayList<>(disk.list(""));
        names.removeIf(name -> !isSnapshot(name) || name.endsWith(NEW_SUFFIX));
        for (int at = names.size() - 1; at >= 0; at--) {
            try (DiskFile file = disk.open(names.get(at))) {
                ByteBuffer bytes = ChecksummedOutput.readWhole(file);
                Snapshot snapshot = bytes == null ? null : parse(bytes, incarnation);
                if (snapshot != null) {
                    return snapshot;
                }
            }
        }
        return null;
    }

    /** Makes it durable, and then deletes all older ones but one. */
    void write(Disk disk, long incarnation) throws IOException {
        String name = name(fileNumber);
        try (DiskFile file = disk.create(name + NEW_SUFFIX)) {
            ChecksummedOutput out = new ChecksummedOutput(file);
            out.putInt(MAGIC)
                    .putInt(VERSION)
                    .putLong(incarnation)
                    .putLong(fileNumber)
                    .putLong(nextSequence);
            out.putInt(fences.size());
            for (FenceState fence : fences) {
                put(out, fence.partition);
                out.putInt(fence.epoch);
            }
            out.putInt(replicas.size());
            for (ReplicaState replica : replicas) {
                put(out, replica);
            }
            out.finish();
        }
        disk.rename(name + NEW_SUFFIX, name);
        disk.forceDirectory("");
        List<String> older = new ArrayList<>(disk.list(""));
        older.removeIf(other -> !isSnapshot(other) || other.compareTo(name) >= 0);
        for (int at = 0; at < older.size() - 1; at++) {
            disk.delete(older.get(at));
        }
    }

    private static void put(ChecksummedOutput out, PartitionId partition) throws IOException {
        out.putLong(partition.topic().high()).putLong(partition.topic().low()).putInt(partition.index());
    }

    private static void put(ChecksummedOutput out, ReplicaState replica) throws IOException {
        out.putLong(replica.segment.value());
        put(out, replica.partition);
        out.putInt(replica.epoch)
                .putLong(replica.startOffset)
                .putLong(replica.end)
                .putLong(replica.highWatermark)
                .putLong(replica.sealedEnd)
                .putInt(replica.sealEpoch)
                .putByte(replica.health.ordinal())
                .putLong(replica.bytes)
                .putLong(replica.settled.end())
                .putLong(replica.settled.bytes())
                .putByte(replica.checkpoints.size());
        for (CheckpointRef checkpoint : replica.checkpoints) {
            out.putLong(checkpoint.offset())
                    .putLong(checkpoint.file())
                    .putLong(checkpoint.position())
                    .putInt(checkpoint.stateBytes());
        }
    }

    private static Snapshot parse(ByteBuffer in, long incarnation) {
        if (in.remaining() < 36 || in.getInt() != MAGIC || in.getInt() != VERSION || in.getLong() != incarnation) {
            return null;
        }
        long fileNumber = in.getLong();
        long nextSequence = in.getLong();
        int fenceCount = in.getInt();
        List<FenceState> fences = new ArrayList<>();
        for (int at = 0; at < fenceCount; at++) {
            fences.add(new FenceState(partition(in), in.getInt()));
        }
        int replicaCount = in.getInt();
        List<ReplicaState> replicas = new ArrayList<>();
        for (int at = 0; at < replicaCount; at++) {
            replicas.add(new ReplicaState(
                    new SegmentId(in.getLong()),
                    partition(in),
                    in.getInt(),
                    in.getLong(),
                    in.getLong(),
                    in.getLong(),
                    in.getLong(),
                    in.getInt(),
                    ReplicaInfo.Health.values()[in.get()],
                    in.getLong(),
                    new Replica.Settled(in.getLong(), in.getLong()),
                    checkpoints(in)));
        }
        return new Snapshot(fileNumber, nextSequence, fences, replicas);
    }

    private static PartitionId partition(ByteBuffer in) {
        return new PartitionId(new TopicId(in.getLong(), in.getLong()), in.getInt());
    }

    private static List<CheckpointRef> checkpoints(ByteBuffer in) {
        int count = in.get();
        List<CheckpointRef> checkpoints = new ArrayList<>();
        for (int at = 0; at < count; at++) {
            checkpoints.add(new CheckpointRef(in.getLong(), in.getLong(), in.getLong(), in.getInt()));
        }
        return List.copyOf(checkpoints);
    }
}
