package io.varve.bookie.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** The best that a disk can do for a journal: a bare loop that writes groups of one size into a file of zeros, over and over, and fsyncs each. */
final class BareDisk implements AutoCloseable {

    private static final int MIB = 1024 * 1024;
    private static final long FILE_BYTES = 1024L * MIB;

    /** How long each write and fsync took, in nanoseconds. */
    final Histogram latencies = new Histogram(3);

    /** From when each was due, in {@link #runAt}. */
    final Histogram dueLatencies = new Histogram(3);

    private final Path path;
    private final FileChannel file;
    private long at;

    BareDisk(Path directory) throws IOException {
        path = directory.resolve("bare");
        file = FileChannel.open(
                path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
        ByteBuffer zeros = ByteBuffer.allocateDirect(MIB);
        for (long zeroed = 0; zeroed < FILE_BYTES; zeroed += MIB) {
            file.write(zeros.clear(), zeroed);
        }
        file.force(true);
    }

    /** Runs the loop; answers bytes per second. */
    double run(int groupBytes, int forSeconds) throws IOException {
        byte[] random = new byte[groupBytes];
        new SplittableRandom(2).nextBytes(random);
        ByteBuffer group = ByteBuffer.allocateDirect(groupBytes).put(random);
        long bytes = 0;
        long startNs = System.nanoTime();
        long untilNs = startNs + forSeconds * 1_000_000_000L;
        while (System.nanoTime() < untilNs) {
            at = at + groupBytes > FILE_BYTES ? 0 : at;
            long beginNs = System.nanoTime();
            file.write(group.flip().limit(groupBytes), at);
            file.force(false);
            latencies.recordValue(System.nanoTime() - beginNs);
            bytes += groupBytes;
            at += groupBytes;
        }
        return bytes / ((System.nanoTime() - startNs) / 1e9);
    }

    /**
     * Writes and fsyncs so many groups a second, due at even times as appends are, and counts from when each was due. The loop that never waits takes no notice of
     * a stall: one group of thousands is late in it. Here as many are as a stall makes late.
     */
    void runAt(long perSecond, int groupBytes, int forSeconds) throws IOException {
        ByteBuffer group = ByteBuffer.allocateDirect(groupBytes);
        long startNs = System.nanoTime();
        for (long count = 0; count < perSecond * forSeconds; count++) {
            long dueNs = awaitDue(startNs, count, perSecond);
            at = at + groupBytes > FILE_BYTES ? 0 : at;
            file.write(group.clear(), at);
            file.force(false);
            dueLatencies.recordValue(System.nanoTime() - dueNs);
            at += groupBytes;
        }
    }

    /** Waits until the event of that number is due, of so many a second; answers when that is. */
    static long awaitDue(long startNs, long number, long perSecond) {
        long dueNs = startNs + number * 1_000_000_000L / perSecond;
        for (long leftNs = dueNs - System.nanoTime(); leftNs > 0; leftNs = dueNs - System.nanoTime()) {
            LockSupport.parkNanos(leftNs);
        }
        return dueNs;
    }

    @Override
    public void close() throws IOException {
        file.close();
        Files.deleteIfExists(path);
    }
}
