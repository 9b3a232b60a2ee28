package io.varve.itest.tier;

import io.varve.cli.process.ChildProcess;
import io.varve.itest.cluster.Await;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A {@link TailProducer} under way, and what it says of a time. */
final class TailLoad implements AutoCloseable {

    private static final Duration END_MAX = Duration.ofSeconds(30);

    private final ChildProcess process;
    private final int perSecond;
    private TailTimes gathering;

    /** Starts it, with {@code perSecond} records a second. */
    TailLoad(String bootstrap, String topic, int partitions, int perSecond, Path logs) throws IOException {
        this.perSecond = perSecond;
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
        if (gathering != null && line.startsWith("micros ")) {
            for (String one : line.substring("micros ".length()).split(" ")) {
                gathering.add(Long.parseLong(one));
            }
        }
    }

    /** Adds the times of the next {@code seconds}. */
    void gather(TailTimes times, int seconds, Duration patience) {
        int until = times.count() + seconds * perSecond;
        gather(times, () -> times.count() >= until, patience);
    }

    /** Adds the times until something is over, of a second at least. */
    void gather(TailTimes times, BooleanSupplier isOver, Duration patience) {
        int before = times.count();
        gatherInto(times);
        Await.until("the end of a measurement", patience, () -> isOver.getAsBoolean() && times.count() > before);
        gatherInto(null);
    }

    private synchronized void gatherInto(TailTimes times) {
        gathering = times;
    }

    @Override
    public void close() {
        process.closeInput();
        process.awaitExit(END_MAX);
        process.close();
    }
}
