package io.varve.bookie.store;

import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.SegmentReplica;
import io.varve.bookie.disk.Disk;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.storage.EntryFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Copies a sealed segment into a file of its own, which gets its final name, and then its record in the journal, when it is whole and durable. */
final class LocalSegmentImport implements SegmentImport {

    private static final Logger LOG = LoggerFactory.getLogger(LocalSegmentImport.class);

    private final SegmentDescriptor segment;
    private final DirectoryStore directory;
    private final Disk disk;
    private final String importName;
    private final SortedMap<Long, ByteBuffer> checkpoints = new TreeMap<>();
    private SettledFile file;
    private long nextOffset;
    private boolean closed;

    /** @param directory in which the caller {@link DirectoryStore#holdFiles holds} the segment's files; closing the import releases them */
    LocalSegmentImport(SegmentDescriptor segment, DirectoryStore directory) throws IOException {
        this.segment = segment;
        this.directory = directory;
        this.disk = directory.disk;
        this.importName = SegmentFiles.importing(segment.id());
        if (!disk.exists(importName) || !goOn()) {
            onDisk(() -> file = SettledFile.create(
                    disk, importName, segment.id(), segment.partition(), segment.epoch(), segment.startOffset()));
            nextOffset = segment.startOffset();
        }
    }

    /** Takes up what an import before this one has copied, as far as it is intact. */
    private boolean goOn() throws IOException {
        try (SettledFile begun = SettledFile.open(disk, importName, segment.id(), 0)) {
            Replica.Settled intact = begun.verify(segment.startOffset());
            file = SettledFile.open(disk, importName, segment.id(), intact.bytes());
            file.truncate();
            file.writeAgain(intact.bytes());
            nextOffset = intact.end();
            return true;
        } catch (IOException unusable) {
            return false;
        }
    }

    @Override
    public long nextOffset() {
        return nextOffset;
    }

    @Override
    public void write(ByteBuffer entries) throws IOException {
        int at = entries.position();
        long next = nextOffset;
        while (at < entries.limit() && next < segment.endOffset()) {
            if (!EntryFormat.isIntact(entries, at) || EntryFormat.firstOffset(entries, at) != next) {
                throw new IOException("segment " + segment.id() + ": the entry at offset " + next + " is not intact");
            }
            next = EntryFormat.lastOffset(entries, at) + 1;
            at += EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(entries, at);
        }
        if (next > segment.endOffset()) {
            throw new IOException("segment " + segment.id() + " has an entry across its end " + segment.endOffset());
        }
        ByteBuffer whole = entries.duplicate().limit(at);
        onDisk(() -> file.append(whole));
        nextOffset = next;
        entries.position(entries.limit());
    }

    @Override
    public void checkpoint(long offset, ByteBuffer state) throws IOException {
        if (offset < segment.startOffset() || offset > segment.endOffset()) {
            throw new IOException("segment " + segment.id() + " can't have a checkpoint at " + offset);
        }
        ByteBuffer copy = ByteBuffer.allocate(state.remaining()).put(state.duplicate());
        checkpoints.clear();
        checkpoints.put(offset, copy.flip());
    }

    @Override
    public void complete() throws IOException {
        BookieStatus status = submit().join();
        if (status != BookieStatus.OK) {
            throw new IOException("segment " + segment.id() + " could not be made known: " + status);
        }
    }

    /** As {@link #complete}, without waiting for the journal. */
    CompletableFuture<BookieStatus> submit() throws IOException {
        if (nextOffset != segment.endOffset()) {
            throw new IOException("segment " + segment.id() + " is copied up to " + nextOffset + " only");
        }
        onDisk(this::makeDurable);
        Replica replica = new Replica(
                new SegmentReplica(
                        segment.id(),
                        directory.shared.fence(segment.partition()),
                        segment.epoch(),
                        segment.startOffset(),
                        segment.endOffset(),
                        segment.endOffset(),
                        segment.endOffset(),
                        Integer.MAX_VALUE),
                directory,
                Replica.Phase.PENDING);
        replica.bytes = file.bytes();
        replica.settle(new Replica.Settled(segment.endOffset(), file.bytes()));
        replica.acceptedCheckpoints = CheckpointFile.references(checkpoints);
        replica.checkpoints = replica.acceptedCheckpoints;
        ImportOp op = new ImportOp(replica);
        directory.submit(op);
        return op.answer;
    }

    private void makeDurable() throws IOException {
        file.force();
        file.writeIndex(disk, segment.id());
        if (!checkpoints.isEmpty()) {
            keepCheckpointsOfReplaced();
            CheckpointFile.write(disk, segment.id(), checkpoints);
        }
        disk.rename(importName, SegmentFiles.data(segment.id()));
        disk.forceDirectory(SegmentFiles.DIRECTORY);
        directory.settledFiles().forget(segment.id());
    }

    /** Should the record of this copy not become durable, the replica that it was to replace must still find its own; others that the file may have go. */
    private void keepCheckpointsOfReplaced() throws IOException {
        Replica replaced = directory.replicas().get(segment.id());
        if (replaced == null) {
            return;
        }
        try {
            SortedMap<Long, ByteBuffer> here = CheckpointFile.read(disk, segment.id());
            for (CheckpointRef kept : replaced.checkpoints) {
                ByteBuffer state = here.get(kept.offset());
                if (kept.file() == CheckpointRef.SETTLED && state != null) {
                    checkpoints.putIfAbsent(kept.offset(), state);
                }
            }
        } catch (DamagedFileException lost) {
            LOG.warn("checkpoints=damaged segment={} why=\"{}\"", segment.id(), lost.getMessage());
        }
    }

    /** What can fail only because of the disk. */
    private interface DiskWork {
        void run() throws IOException;
    }

    private void onDisk(DiskWork work) throws IOException {
        try {
            work.run();
        } catch (IOException trouble) {
            directory.onTrouble("import", trouble);
            throw trouble;
        }
    }

    @Override
    public void abort() throws IOException {
        file.close();
        if (!directory.isOutOfService()) {
            disk.delete(importName);
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            directory.releaseFiles(segment.id());
        }
        try {
            file.close();
        } catch (IOException ignored) {
            // Nothing that was written through it counts before it is complete.
        }
    }
}
