package io.varve.itest.tier;

import io.varve.cli.process.ChildProcess;
import io.varve.itest.cluster.Await;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A {@link TailProducer} under way, and what it says of a time. */
final class TailLoad implements AutoCloseable {

    private static final Duration END_MAX = Duration.ofSeconds(30);
    private static final int SECONDS_MAX = 3_600;

    private final ChildProcess process;
    private final int perSecond;
    private final long[] micros;
    private int count;
    private boolean measuring;

    /** Starts it, with {@code perSecond} records a second. */
    TailLoad(String bootstrap, String topic, int partitions, int perSecond, Path logs) throws IOException {
        this.perSecond = perSecond;
        this.micros = new long[SECONDS_MAX * perSecond];
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                TailProducer.class.getName(),
                bootstrap,
                topic,
                Integer.toString(partitions),
                Integer.toString(perSecond));
        process = ChildProcess.start("tail", command, "micros", logs.resolve("tail.log"), this::onLine);
    }

    private synchronized void onLine(String line) {
        if (measuring && line.startsWith("micros ")) {
            for (String one : line.substring("micros ".length()).split(" ")) {
                long value = Long.parseLong(one);
                micros[count++] = value < 0 ? Long.MAX_VALUE : value;
            }
        }
    }

    /** The time, within {@code seconds}, from when a record was due to its acknowledgement that 99 of 100 records stay within, in microseconds. */
    long p99Micros(int seconds, Duration patience) {
        return p99Micros(() -> count() >= seconds * perSecond, patience);
    }

    /** {@link #p99Micros(int, Duration)} of the time until something is over, in which a second at least goes by. */
    long p99Micros(BooleanSupplier isOver, Duration patience) {
        synchronized (this) {
            count = 0;
            measuring = true;
        }
        Await.until("the end of a measurement", patience, () -> isOver.getAsBoolean() && count() > 0);
        synchronized (this) {
            measuring = false;
            Arrays.sort(micros, 0, count);
            return micros[count * 99 / 100];
        }
    }

    private synchronized int count() {
        return count;
    }

    @Override
    public void close() {
        process.closeInput();
        process.awaitExit(END_MAX);
        process.close();
    }
}
