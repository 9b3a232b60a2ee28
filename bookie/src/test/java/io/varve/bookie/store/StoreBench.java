package io.varve.bookie.store;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.BookieId;
import io.varve.protocol.runtime.SystemRandomness;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * One store against its own disk. Beside each case, a bare loop on the same disk that writes groups of the same size into a preallocated file and fsyncs each.
 *
 * <pre>
 *  StoreBench DIR                                 all cases of throughput and latency
 *  StoreBench DIR throughput BYTES SEGMENTS SECS  one of them
 *  StoreBench DIR latency PER_SECOND SECS
 *  StoreBench DIR open SEGMENTS                   memory, files and start-up time with so many open segments
 *  StoreBench DIR fill GIB                        appends so much, settles what must be, and dies in the middle of it
 *  StoreBench DIR reopen                          start-up time after that, and once more after a clean end
 * </pre>
 */
public final class StoreBench {

    private static final long MIB = 1024 * 1024;
    private static final int ROUNDS = 5;
    private static final long HELD_BYTES = 1024 * MIB;
    private static final long FILLED_BYTES = 1792 * MIB;

    private final Path directory;

    private StoreBench(Path directory) {
        this.directory = directory;
    }

    public static void main(String[] args) throws Exception {
        StoreBench bench = new StoreBench(Path.of(args[0]));
        String what = args.length > 1 ? args[1] : "all";
        switch (what) {
            case "throughput" ->
                bench.throughput(Integer.parseInt(args[2]), Integer.parseInt(args[3]), Integer.parseInt(args[4]));
            case "latency" -> bench.latency(Long.parseLong(args[2]), Integer.parseInt(args[3]));
            case "open" -> bench.open(Integer.parseInt(args[2]));
            case "fill" -> bench.fill(Integer.parseInt(args[2]));
            case "reopen" -> {
                bench.reopen(bench.options());
                bench.delete();
            }
            default -> {
                for (int entryBytes : new int[] {1024, 64 * 1024}) {
                    for (int segments : new int[] {1, 100, 10_000}) {
                        bench.throughput(entryBytes, segments, 2);
                    }
                }
                bench.latency(5000, 3);
            }
        }
    }

    private StoreOptions options() {
        return StoreOptions.defaults("bench", new BookieId(1), List.of(directory.resolve("store")));
    }

    private static LocalSegmentStore open(StoreOptions options) {
        return LocalSegmentStore.open(
                options,
                StoreFixture.CLOCK,
                SystemRandomness.INSTANCE,
                (where, fault) -> {
                    fault.printStackTrace();
                    Runtime.getRuntime().halt(1);
                },
                StoreListener.NONE,
                new SimpleMeterRegistry());
    }

    /** A store whose journal has been filled once and given back, as that of any bookie that has run for an hour. */
    private LocalSegmentStore openUsed() {
        LocalSegmentStore store = open(options());
        try (BenchLoad filler = new BenchLoad(store, 64 * 1024, 1, Long.MAX_VALUE)) {
            filler.fill(FILLED_BYTES);
            filler.deleteAll();
        }
        // The housekeeper looks again once a second.
        LockSupport.parkNanos(3_000_000_000L);
        return store;
    }

    /** In turns with the bare loop, because what a disk can do changes from minute to minute where it is shared. */
    private void throughput(int entryBytes, int segments, int seconds) throws Exception {
        try (LocalSegmentStore store = openUsed();
                BareDisk disk = new BareDisk(directory);
                BenchLoad load = new BenchLoad(store, entryBytes, segments, HELD_BYTES)) {
            load.run(4, Long.MAX_VALUE);
            load.takeLatencies();
            double[] rates = new double[ROUNDS];
            double[] bares = new double[ROUNDS];
            double[] ratios = new double[ROUNDS];
            Round all = new Round();
            for (int at = 0; at < ROUNDS; at++) {
                Round round = round(store, load, seconds);
                all.add(round);
                rates[at] = round.rate();
                bares[at] = disk.run(round.groupBytes(), Math.min(2, seconds));
                ratios[at] = rates[at] / bares[at];
            }
            Histogram latencies = load.takeLatencies();
            double rate = median(rates);
            System.out.printf(
                    "entry %6d B, %6d segments: %7.1f MiB/s, %8.0f entries/s, %5.0f groups/s of %4d KiB; bare loop %7.1f MiB/s, ratio %.2f (%s); "
                            + "device bytes per byte %.3f (process %.3f); processor time per entry %.2f us; ack p50 %.2f ms, p99 %.2f ms%n",
                    entryBytes,
                    segments,
                    rate / MIB,
                    rate / entryBytes,
                    rate / all.groupBytes(),
                    all.groupBytes() / 1024,
                    median(bares) / MIB,
                    median(ratios),
                    String.join(
                            " ",
                            Arrays.stream(ratios).mapToObj("%.2f"::formatted).toList()),
                    (double) all.used.deviceWriteBytes() / all.bytes,
                    (double) all.used.processWriteBytes() / all.bytes,
                    all.used.processorNs() / 1000.0 / (all.bytes / entryBytes),
                    latencies.getValueAtPercentile(50) / 1e6,
                    latencies.getValueAtPercentile(99) / 1e6);
        }
        delete();
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** What happened in some seconds. */
    private static final class Round {
        long bytes;
        long groups;
        double seconds;
        SystemCounters used = new SystemCounters(0, 0, 0);

        void add(Round other) {
            bytes += other.bytes;
            groups += other.groups;
            seconds += other.seconds;
            used = used.plus(other.used);
        }

        double rate() {
            return bytes / seconds;
        }

        int groupBytes() {
            return (int) Math.max(4096, bytes / groups / 4096 * 4096);
        }
    }

    private static Round round(LocalSegmentStore store, BenchLoad load, int seconds) throws IOException {
        Round round = new Round();
        long bytesBefore = load.bytes();
        long groupsBefore = store.groupsWritten();
        SystemCounters before = SystemCounters.now();
        long startNs = System.nanoTime();
        load.run(seconds, Long.MAX_VALUE);
        round.seconds = (System.nanoTime() - startNs) / 1e9;
        round.used = SystemCounters.now().since(before);
        round.bytes = load.bytes() - bytesBefore;
        round.groups = store.groupsWritten() - groupsBefore;
        return round;
    }

    private void latency(long perSecond, int seconds) throws Exception {
        try (LocalSegmentStore store = openUsed();
                BareDisk bare = new BareDisk(directory);
                BenchLoad load = new BenchLoad(store, 1024, 100, HELD_BYTES)) {
            load.run(3, perSecond);
            load.takeLatencies();
            long bytesBefore = load.bytes();
            long groupsBefore = store.groupsWritten();
            SystemCounters used = new SystemCounters(0, 0, 0);
            for (int at = 0; at < ROUNDS; at++) {
                SystemCounters before = SystemCounters.now();
                load.run(seconds, perSecond);
                used = used.plus(SystemCounters.now().since(before));
                bare.run(4096, Math.min(3, seconds));
                bare.runAt(perSecond, 4096, Math.min(3, seconds));
            }
            Histogram latencies = load.takeLatencies();
            System.out.printf(
                    "entry   1024 B,    100 segments at %d entries/s: %.0f groups/s; ack p50 %.3f ms, p99 %.3f ms; bare 4 KiB write and fsync at as many a second "
                            + "p50 %.3f ms, p99 %.3f ms, p99 ratio %.2f (without a pause p50 %.3f ms, p99 %.3f ms); device bytes per byte %.3f; processor time per entry %.2f us%n",
                    perSecond,
                    (store.groupsWritten() - groupsBefore) / (double) seconds / ROUNDS,
                    latencies.getValueAtPercentile(50) / 1e6,
                    latencies.getValueAtPercentile(99) / 1e6,
                    bare.dueLatencies.getValueAtPercentile(50) / 1e6,
                    bare.dueLatencies.getValueAtPercentile(99) / 1e6,
                    (double) latencies.getValueAtPercentile(99) / bare.dueLatencies.getValueAtPercentile(99),
                    bare.latencies.getValueAtPercentile(50) / 1e6,
                    bare.latencies.getValueAtPercentile(99) / 1e6,
                    (double) used.deviceWriteBytes() / (load.bytes() - bytesBefore),
                    used.processorNs() / 1000.0 / ((load.bytes() - bytesBefore) / 1024));
        }
        delete();
    }

    private void open(int segments) throws Exception {
        StoreOptions options = options();
        try (LocalSegmentStore store = open(options)) {
            long heapBefore = usedHeapBytes();
            try (BenchLoad load = new BenchLoad(store, 1024, segments, Long.MAX_VALUE)) {
                System.out.printf(
                        "%d segments made: heap %.1f MiB more, resident %.0f MiB, %d open files%n",
                        segments,
                        (usedHeapBytes() - heapBefore) / (double) MIB,
                        SystemCounters.residentBytes() / (double) MIB,
                        SystemCounters.openFiles());
                load.run(5, Long.MAX_VALUE);
                System.out.printf(
                        "after %d MiB of 1 KiB entries: heap %.1f MiB more, resident %.0f MiB, %d open files, %d files on disk%n",
                        load.bytes() / MIB,
                        (usedHeapBytes() - heapBefore) / (double) MIB,
                        SystemCounters.residentBytes() / (double) MIB,
                        SystemCounters.openFiles(),
                        filesOnDisk());
            }
        }
        reopen(options);
        delete();
    }

    private void fill(int gib) throws IOException {
        LocalSegmentStore store = open(options());
        BenchLoad load = new BenchLoad(store, 16 * 1024, 100, Long.MAX_VALUE);
        while (load.bytes() < gib * 1024 * MIB) {
            load.run(1, 20_000);
        }
        System.out.printf("%d MiB held in %d files%n", load.bytes() / MIB, filesOnDisk());
        load.run(1, 20_000);
        Runtime.getRuntime().halt(137);
    }

    private void reopen(StoreOptions options) throws IOException {
        for (int time = 0; time < 2; time++) {
            SystemCounters before = SystemCounters.now();
            long readBefore = SystemCounters.processReadBytes();
            long startNs = System.nanoTime();
            try (LocalSegmentStore store = open(options)) {
                System.out.printf(
                        "opened again: %d replicas after %.0f ms, %.0f MiB read, %.0f ms of processor time, heap %.1f MiB, resident %.0f MiB%n",
                        store.inventory().size(),
                        (System.nanoTime() - startNs) / 1e6,
                        (SystemCounters.processReadBytes() - readBefore) / (double) MIB,
                        SystemCounters.now().since(before).processorNs() / 1e6,
                        usedHeapBytes() / (double) MIB,
                        SystemCounters.residentBytes() / (double) MIB);
            }
        }
    }

    private static long usedHeapBytes() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private long filesOnDisk() throws IOException {
        try (var files = Files.walk(directory.resolve("store"))) {
            return files.filter(Files::isRegularFile).count();
        }
    }

    private void delete() throws IOException {
        try (var files = Files.walk(directory.resolve("store"))) {
            for (Path path : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
