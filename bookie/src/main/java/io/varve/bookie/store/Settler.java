package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.varve.bookie.core.ReclaimPlanner;
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
 * a record in the journal that says so, and only when that is durable may the journal file go. Belongs to one thread.
 */
final class Settler {

    private static final Logger LOG = LoggerFactory.getLogger(Settler.class);

    private static final int CHUNK_BYTES = 1024 * 1024;

    private final DirectoryStore directory;
    private final SegmentReader reader = new SegmentReader(ByteBufAllocator.DEFAULT);
    private final Pace pace;
    private SettledOp pending;

    /** Told after so many bytes were copied, to slow things down. */
    @FunctionalInterface
    interface Pace {
        /** @return whether to go on */
        boolean afterBytes(int bytes);
    }

    Settler(DirectoryStore directory, Pace pace) {
        this.directory = directory;
        this.pace = pace;
    }

    /**
     * Settles one segment, if the journal holds more than it should.
     *
     * @return whether there may be more to do at once
     * @throws IOException if the directory must go out of service (I-12)
     */
    boolean step() throws IOException {
        if (directory.isOutOfService()) {
            return false;
        }
        if (pending != null) {
            if (!pending.answer.isDone()) {
                return false;
            }
            directory.settledFiles().forget(pending.replica.id());
            if (!pending.replica.isLive()) {
                directory.filesToDelete.add(pending.replica.id());
            }
            pending = null;
        }
        StoreOptions options = directory.shared.options;
        if (directory.fullFiles().size() * options.journalFileBytes() <= options.unsettledBytesMax()) {
            return false;
        }
        long file = ReclaimPlanner.toSettle(
                directory.neededFullFiles(), options.journalFileBytes(), options.unsettledBytesMax());
        if (file == ReclaimPlanner.NONE) {
            return false;
        }
        for (Replica replica : directory.replicas().values()) {
            if (replica.isLive() && !replica.beingReplaced && replica.isIntact() && replica.isIn(file)) {
                return settle(replica);
            }
        }
        return false;
    }

    private boolean settle(Replica replica) throws IOException {
        long covered = directory.coveredNumber;
        Replica.Settled from = replica.settled;
        long target = Math.max(from.end(), replica.index.endInFilesUpTo(covered));
        Replica.Settled now = from;
        if (target > from.end()) {
            try (SettledFile file = openFile(replica, from)) {
                if (file == null) {
                    return true;
                }
                now = copy(replica, from, target, file);
                if (now == null) {
                    return false;
                }
                file.force();
                file.writeIndex(directory.disk, replica.id());
            }
        }
        List<Long> moved = moveCheckpoints(replica, covered);
        directory.disk.forceDirectory(SegmentFiles.DIRECTORY);
        pending = new SettledOp(replica, now, moved);
        directory.submit(pending);
        directory.shared.metrics.settledBytes.increment(now.bytes() - from.bytes());
        LOG.debug("settled segment={} end={} bytes={}", replica.id(), now.end(), now.bytes());
        return true;
    }

    /** {@code null} if the replica turned out to be damaged. */
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
        SettledFile file = SettledFile.open(directory.disk, name, replica.id(), from.bytes());
        if (file.bytes() != from.bytes()) {
            file.close();
            directory.quarantine(replica, "its settled file can't be read up to its end");
            return null;
        }
        file.truncate();
        return file;
    }

    /** Copies entries, verified, up to {@code target}; {@code null} if that had to be given up. */
    private Replica.Settled copy(Replica replica, Replica.Settled from, long target, SettledFile file)
            throws IOException {
        long next = from.end();
        while (next < target) {
            ByteBuf entries = reader.readFromJournal(replica, next, target, CHUNK_BYTES);
            if (entries == null) {
                return null;
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
                return null;
            }
        }
        return new Replica.Settled(next, file.bytes());
    }

    /** Writes all checkpoints that are kept into the segment's own file, if one of them is in a journal file that should go. */
    private List<Long> moveCheckpoints(Replica replica, long covered) throws IOException {
        List<CheckpointRef> refs = replica.checkpoints;
        if (refs.stream().noneMatch(ref -> ref.file() != CheckpointRef.SETTLED && ref.file() <= covered)) {
            return List.of();
        }
        SortedMap<Long, ByteBuffer> states = new TreeMap<>();
        for (CheckpointRef ref : refs) {
            ByteBuf state = reader.fetchCheckpoint(replica, ref);
            if (state != null) {
                ByteBuffer copy = ByteBuffer.allocate(state.readableBytes());
                state.readBytes(copy).release();
                states.put(ref.offset(), copy.flip());
            }
        }
        CheckpointFile.write(directory.disk, replica.id(), states);
        return new ArrayList<>(states.keySet());
    }
}
