package io.varve.bookie.journal;

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
    private final AtomicInteger pins = new AtomicInteger();

    JournalFile(long number, DiskFile file) {
        this.number = number;
        this.file = file;
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

    void write(ByteBuffer from, long position) throws IOException {
        file.write(from, position);
    }

    void force() throws IOException {
        file.force();
    }

    void close() throws IOException {
        file.close();
    }
}
