package io.varve.bookie.store;

import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.SegmentReplica;
import io.varve.bookie.disk.Disk;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.storage.EntryFormat;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Copies a sealed segment into a file of its own, which gets its final name, and then its record in the journal, when it is whole and durable. */
final class LocalSegmentImport implements SegmentImport {

    private final SegmentDescriptor segment;
    private final DirectoryStore directory;
    private final Disk disk;
    private final String importName;
    private SettledFile file;
    private long nextOffset;

    LocalSegmentImport(SegmentDescriptor segment, DirectoryStore directory) throws IOException {
        this.segment = segment;
        this.directory = directory;
        this.disk = directory.disk;
        this.importName = SegmentFiles.importing(segment.id());
        if (!disk.exists(importName) || !goOn()) {
            file = SettledFile.create(
                    disk, importName, segment.id(), segment.partition(), segment.epoch(), segment.startOffset());
            nextOffset = segment.startOffset();
        }
    }

    /** Takes up what an import before this one has copied, as far as it is intact. */
    private boolean goOn() throws IOException {
        try (SettledFile begun = SettledFile.open(disk, importName, segment.id(), 0)) {
            Replica.Settled intact = begun.verify(segment.startOffset());
            file = SettledFile.open(disk, importName, segment.id(), intact.bytes());
            file.truncate();
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
        file.append(entries.duplicate().limit(at));
        nextOffset = next;
        entries.position(entries.limit());
    }

    @Override
    public void complete() throws IOException {
        if (nextOffset != segment.endOffset()) {
            throw new IOException("segment " + segment.id() + " is copied up to " + nextOffset + " only");
        }
        file.force();
        file.writeIndex(disk, segment.id());
        disk.rename(importName, SegmentFiles.data(segment.id()));
        disk.forceDirectory(SegmentFiles.DIRECTORY);
        directory.settledFiles().forget(segment.id());
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
        ImportOp op = new ImportOp(replica);
        directory.submit(op);
        BookieStatus status = op.answer.join();
        if (status != BookieStatus.OK) {
            throw new IOException("segment " + segment.id() + " could not be made known: " + status);
        }
    }

    @Override
    public void abort() throws IOException {
        file.close();
        disk.delete(importName);
        disk.delete(SegmentFiles.index(segment.id()));
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException ignored) {
            // Nothing that was written through it counts before it is complete.
        }
    }
}
