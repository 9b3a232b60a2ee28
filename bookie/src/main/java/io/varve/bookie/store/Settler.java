package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.varve.base.SegmentId;
import io.varve.bookie.core.ReclaimPlanner;
import io.varve.bookie.disk.DiskFullException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves what must stay long out of the journal, into one sequential file per segment, so that the journal's files can be used again. In this order: copy, fsync,
 * a record in the journal that says so, and only when that is durable may the journal file go. What can't be read at the moment is passed over and tried again
 * later; it keeps its journal file. Belongs to one thread.
 */
final class Settler {

    private static final Logger LOG = LoggerFactory.getLogger(Settler.class);

    private static final int CHUNK_BYTES = 1024 * 1024;
    private static final SegmentId FIRST = new SegmentId(1);

    private final DirectoryStore directory;
    private final SegmentReader reader = new SegmentReader(ByteBufAllocator.DEFAULT);
    private final Pace pace;
    private SettledOp pending;
    /** The journal file that is being emptied, and the segment to go on with. */
    private long emptying = ReclaimPlanner.NONE;

    private SegmentId cursor = FIRST;
    /** Journal files up to this one keep something that can't be moved at the moment. */
    private long stuckUpTo = ReclaimPlanner.NONE;

    private boolean movedSomething;

    Settler(DirectoryStore directory, Pace pace) {
        this.directory = directory;
        this.pace = pace;
    }

    /**
     * Settles one segment, if the journal holds more than it should.
     *
     * @return whether there may be more to do at once
     * @throws IOException {@link DirectoryStore#onTrouble trouble} of the directory
     */
    boolean step() throws IOException {
        if (directory.isOutOfService() || !isDone(pending)) {
            return false;
        }
        pending = null;
        if (emptying == ReclaimPlanner.NONE && !chooseFile()) {
            return false;
        }
        Replica next = nextReplica();
        if (next == null) {
            stuckUpTo = movedSomething ? stuckUpTo : emptying;
            emptying = ReclaimPlanner.NONE;
            return true;
        }
        cursor = new SegmentId(next.id().value() + 1);
        if (directory.holdFiles(next.id())) {
            try {
                movedSomething |= settle(next);
            } finally {
                if (pending == null) {
                    directory.releaseFiles(next.id());
                }
            }
        }
        return true;
    }

    private boolean isDone(SettledOp op) throws IOException {
        if (op == null) {
            return true;
        }
        if (!op.answer.isDone()) {
            return false;
        }
        directory.settledFiles().forget(op.replica.id());
        if (!op.replica.isLive()) {
            directory.filesToDelete.add(op.replica.id());
        }
        directory.releaseFiles(op.replica.id());
        return true;
    }

    private boolean chooseFile() {
        StoreOptions options = directory.shared.options;
        if (directory.fullFiles().backlogBytes() <= options.unsettledBytesMax()) {
            return false;
        }
        emptying = ReclaimPlanner.toSettle(
                directory.fullFiles().needed().needed(),
                options.journalFileBytes(),
                options.unsettledBytesMax(),
                stuckUpTo);
        cursor = FIRST;
        movedSomething = false;
        if (emptying == ReclaimPlanner.NONE) {
            // From the oldest on again, after a pause.
            stuckUpTo = ReclaimPlanner.NONE;
            return false;
        }
        return true;
    }

    private Replica nextReplica() {
        for (Replica replica : directory.replicas().tailMap(cursor).values()) {
            if (replica.isLive() && replica.isIntact() && replica.isIn(emptying)) {
                return replica;
            }
        }
        return null;
    }

    /** Answers whether the replica has moved. */
    private boolean settle(Replica replica) throws IOException {
        long covered = directory.fullFiles().coveredNumber();
        Replica.Settled from = replica.settled;
        long target = Math.max(from.end(), replica.index.endInFilesUpTo(covered));
        Replica.Settled now = from;
        if (target > from.end()) {
            now = copy(replica, from, target);
            if (now == null) {
                return false;
            }
        }
        Checkpoints moved = moveCheckpoints(replica, covered);
        if (moved == null) {
            return false;
        }
        directory.disk.forceDirectory(SegmentFiles.DIRECTORY);
        pending = new SettledOp(replica, now, moved.here, moved.damaged);
        directory.submit(pending);
        directory.shared.metrics.settledBytes.increment(now.bytes() - from.bytes());
        LOG.debug("settled segment={} end={} bytes={}", replica.id(), now.end(), now.bytes());
        return true;
    }

    /** Copies entries, verified, up to {@code target}, durably; {@code null} if that had to be given up. */
    private Replica.Settled copy(Replica replica, Replica.Settled from, long target) throws IOException {
        try (SettledFile file = openFile(replica, from)) {
            if (file == null) {
                return null;
            }
            try {
                if (!copyEntries(replica, from.end(), target, file)) {
                    return null;
                }
                file.force();
                file.writeIndex(directory.disk, replica.id());
                return new Replica.Settled(target, file.bytes());
            } catch (DiskFullException full) {
                // Nothing of it counts: the room is needed for what does.
                file.truncateTo(from.bytes());
                throw full;
            }
        }
    }

    private boolean copyEntries(Replica replica, long from, long target, SettledFile file) throws IOException {
        long next = from;
        while (next < target) {
            ByteBuf entries = reader.readFromJournal(replica, next, target, CHUNK_BYTES);
            if (entries == null) {
                return false;
            }
            int bytes = entries.readableBytes();
            try {
                ByteBuffer chunk = entries.nioBuffer();
                next = SegmentReader.endOf(chunk);
                file.append(chunk);
            } finally {
                entries.release();
            }
            if (!pace.afterBytes(bytes)) {
                return false;
            }
        }
        return true;
    }

    /** {@code null} if the replica turned out to be damaged, or can't be read at the moment. */
    private SettledFile openFile(Replica replica, Replica.Settled from) throws IOException {
        String name = SegmentFiles.data(replica.id());
        if (from.bytes() == 0) {
            return SettledFile.create(
                    directory.disk,
                    name,
                    replica.id(),
                    replica.state.fence().partition(),
                    replica.state.epoch(),
                    replica.state.startOffset());
        }
        SettledFile file;
        try {
            file = SettledFile.open(directory.disk, name, replica.id(), from.bytes());
        } catch (DamagedFileException damaged) {
            directory.quarantine(replica, damaged.getMessage());
            return null;
        } catch (IOException unreadable) {
            directory.shared.metrics.error("read");
            LOG.warn("settle=put_off segment={} why=\"{}\"", replica.id(), unreadable.toString());
            return null;
        }
        if (file.bytes() != from.bytes()) {
            file.close();
            directory.quarantine(replica, "its settled file can't be read up to its end");
            return null;
        }
        file.truncate();
        return file;
    }

    /** What became of a replica's checkpoints: the offsets of those that are in its own file now, and of those that are damaged and can go. */
    private record Checkpoints(List<Long> here, List<Long> damaged) {}

    /**
     * Writes all checkpoints that are kept into the segment's own file, if one of them is in a journal file that should go; {@code null} if one of them can't be read
     * at the moment.
     */
    private Checkpoints moveCheckpoints(Replica replica, long covered) throws IOException {
        List<CheckpointRef> refs = replica.checkpoints;
        if (refs.stream().noneMatch(ref -> ref.file() != CheckpointRef.SETTLED && ref.file() <= covered)) {
            return new Checkpoints(List.of(), List.of());
        }
        SortedMap<Long, ByteBuffer> states = new TreeMap<>();
        List<Long> damaged = new ArrayList<>();
        for (CheckpointRef ref : refs) {
            ByteBuf state;
            try {
                state = reader.fetchCheckpoint(replica, ref);
            } catch (DamagedFileException found) {
                state = null;
            } catch (IOException unreadable) {
                directory.shared.metrics.error("read");
                LOG.warn("settle=put_off segment={} why=\"{}\"", replica.id(), unreadable.toString());
                return null;
            }
            if (state == null) {
                damaged.add(ref.offset());
            } else {
                ByteBuffer copy = ByteBuffer.allocate(state.readableBytes());
                state.readBytes(copy).release();
                states.put(ref.offset(), copy.flip());
            }
        }
        CheckpointFile.write(directory.disk, replica.id(), states);
        return new Checkpoints(new ArrayList<>(states.keySet()), damaged);
    }
}
