package io.varve.bookie.journal;

import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.JournalReach;
import io.varve.bookie.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One file of the journal. Readers pin it, so that it is not used again under their hands. Safe for any thread.
 */
public final class JournalFile {

    private static final int RETIRED = Integer.MIN_VALUE / 2;

    private final long number;
    private final DiskFile file;
    private final JournalReach reaches;
    private final int tag;
    private final AtomicInteger pins = new AtomicInteger();
    /** What is durable of it. Flusher. */
    private long reach;

    /**
     * @param reaches how far ahead the file is declared to be written to; {@code null} if it is only read
     * @param tag of its records
     */
    JournalFile(long number, DiskFile file, JournalReach reaches, int tag) {
        this.number = number;
        this.file = file;
        this.reaches = reaches;
        this.tag = tag;
        this.reach = reaches == null ? 0 : reaches.first();
    }

    /** Rises from file to file, never reused. */
    public long number() {
        return number;
    }

    /**
     * Keeps the file from being used again, until {@link #unpin}.
     *
     * @return whether it is still what its number says
     */
    public boolean pin() {
        if (pins.incrementAndGet() > 0) {
            return true;
        }
        pins.decrementAndGet();
        return false;
    }

    /** Ends a {@link #pin} that succeeded. */
    public void unpin() {
        pins.decrementAndGet();
    }

    /** Refuses pins from now on, if there are none. */
    boolean retire() {
        return pins.compareAndSet(0, RETIRED);
    }

    /** Reads, as {@link DiskFile#read}. */
    public int read(ByteBuffer to, long position) throws IOException {
        return file.read(to, position);
    }

    /** Its length in bytes. */
    public long size() throws IOException {
        return file.size();
    }

    /** Writes a whole group and makes it durable. Flusher. */
    void writeGroup(ByteBuffer group, long position) throws IOException {
        long end = position + group.remaining();
        if (end > reach) {
            writeReach(end);
            file.force();
            reach = end;
        }
        file.write(group, position);
        long further = reaches.along(end, reach);
        if (further > reach) {
            writeReach(further);
        }
        file.force();
        reach = further;
    }

    private void writeReach(long to) throws IOException {
        file.write(JournalFormat.reachBlock(tag, to), reaches.groupsEnd());
    }

    void close() throws IOException {
        file.close();
    }
}
