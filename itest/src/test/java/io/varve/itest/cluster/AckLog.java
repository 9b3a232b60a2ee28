package io.varve.itest.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/**
 * What was acknowledged: which record at which offset of which partition. Records are named by positive numbers. Safe for any thread.
 *
 * <p>It is the oracle of the process tests and knows nothing but what producers were told.
 */
public final class AckLog {

    private final List<Page> pages = new ArrayList<>();

    public AckLog(int partitions) {
        for (int partition = 0; partition < partitions; partition++) {
            pages.add(new Page());
        }
    }

    /** How many partitions. */
    public int partitions() {
        return pages.size();
    }

    /**
     * Enters an acknowledgement.
     *
     * @throws AssertionError if another record was acknowledged at that offset before (I-2)
     */
    public void acknowledged(int partition, long offset, long record) {
        Page page = pages.get(partition);
        synchronized (page) {
            page.enter(partition, offset, record);
        }
    }

    /** How many were acknowledged in all. */
    public long count() {
        long count = 0;
        for (Page page : pages) {
            synchronized (page) {
                count += page.count;
            }
        }
        return count;
    }

    /** Waits until so many were acknowledged in all. @throws AssertionError with how many were, if they aren't in time */
    public void awaitCount(long count, Duration patience) {
        Await.until(
                count + " records acknowledged",
                patience,
                () -> count() + ", ends "
                        + LongStream.range(0, partitions())
                                .map(partition -> end((int) partition))
                                .boxed()
                                .toList(),
                () -> count() >= count);
    }

    /** Waits until so many more were acknowledged than are now. */
    public void awaitMore(long more, Duration patience) {
        awaitCount(count() + more, patience);
    }

    /** The record acknowledged at an offset, 0 if none was. */
    public long at(int partition, long offset) {
        Page page = pages.get(partition);
        synchronized (page) {
            return offset < page.byOffset.length ? page.byOffset[(int) offset] : 0;
        }
    }

    /** One past the highest offset acknowledged. */
    public long end(int partition) {
        Page page = pages.get(partition);
        synchronized (page) {
            return page.end;
        }
    }

    private static final class Page {

        private long[] byOffset = new long[1024];
        private long end;
        private long count;

        void enter(int partition, long offset, long record) {
            if (offset >= byOffset.length) {
                byOffset = Arrays.copyOf(byOffset, (int) Math.max(offset + 1, 2L * byOffset.length));
            }
            long before = byOffset[(int) offset];
            if (before != 0) {
                throw new AssertionError("I-2: partition " + partition + " offset " + offset
                        + " was acknowledged to record " + before + " and to record " + record);
            }
            byOffset[(int) offset] = record;
            end = Math.max(end, offset + 1);
            count++;
        }
    }
}
