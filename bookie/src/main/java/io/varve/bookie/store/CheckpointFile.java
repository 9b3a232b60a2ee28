package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.SegmentId;
import io.varve.bookie.disk.ChecksummedOutput;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The checkpoints of a settled segment's owner, in a file of their own, so that they don't keep journal files from being used again.
 *
 * <pre>
 *  | "VCKP"4 | version 4 | segment 8 | { offset 8 | bytes 4 | state }… | crc32c 4 |
 * </pre>
 *
 * There is no index in it, because there are few of them, {@link CheckpointRef#KEPT} or one more, and it is read only when an owner takes over, or at a start that finds it
 * younger than its snapshot.
 */
final class CheckpointFile {

    private static final int MAGIC = 0x56434b50; // VCKP
    private static final int VERSION = 1;

    private CheckpointFile() {}

    /** Writes the file in place of the one there is. */
    static void write(Disk disk, SegmentId segment, SortedMap<Long, ByteBuffer> states) throws IOException {
        String name = SegmentFiles.checkpoints(segment);
        try (DiskFile file = disk.create(name + ".new")) {
            ChecksummedOutput out = new ChecksummedOutput(file);
            out.putInt(MAGIC).putInt(VERSION).putLong(segment.value());
            for (var state : states.entrySet()) {
                out.putLong(state.getKey())
                        .putInt(state.getValue().remaining())
                        .put(state.getValue().duplicate());
            }
            out.finish();
        }
        disk.rename(name + ".new", name);
    }

    /** All states by offset; empty if there is no file. */
    static SortedMap<Long, ByteBuffer> read(Disk disk, SegmentId segment) throws IOException {
        SortedMap<Long, ByteBuffer> states = new TreeMap<>();
        ByteBuffer in;
        try (DiskFile file = disk.open(SegmentFiles.checkpoints(segment))) {
            in = ChecksummedOutput.readWhole(file);
        } catch (NoSuchFileException missing) {
            return states;
        }
        if (in == null
                || in.remaining() < 16
                || in.getInt() != MAGIC
                || in.getInt() != VERSION
                || in.getLong() != segment.value()) {
            throw new DamagedFileException("the checkpoints of segment " + segment + " are damaged");
        }
        while (in.hasRemaining()) {
            long offset = in.getLong();
            int bytes = in.getInt();
            states.put(offset, in.slice(in.position(), bytes));
            in.position(in.position() + bytes);
        }
        return states;
    }

    /** One state, or {@code null}. */
    static ByteBuf read(Disk disk, SegmentId segment, long offset) throws IOException {
        ByteBuffer state = read(disk, segment).get(offset);
        return state == null ? null : Unpooled.wrappedBuffer(state);
    }

    /** References to states that are all here: the newest ones, as many as are kept. */
    static List<CheckpointRef> references(SortedMap<Long, ByteBuffer> states) {
        List<CheckpointRef> refs = List.of();
        for (var state : states.entrySet()) {
            int bytes = state.getValue().remaining();
            refs = CheckpointRef.add(refs, new CheckpointRef(state.getKey(), CheckpointRef.SETTLED, 0, bytes));
        }
        return refs;
    }

    /** The same references, pointing here for those that are here. */
    static List<CheckpointRef> repoint(List<CheckpointRef> refs, Iterable<Long> offsetsHere) {
        List<CheckpointRef> repointed = new ArrayList<>();
        for (CheckpointRef ref : refs) {
            CheckpointRef now = ref;
            for (long offset : offsetsHere) {
                if (ref.offset() == offset) {
                    now = new CheckpointRef(offset, CheckpointRef.SETTLED, 0, ref.stateBytes());
                }
            }
            repointed.add(now);
        }
        return List.copyOf(repointed);
    }
}
