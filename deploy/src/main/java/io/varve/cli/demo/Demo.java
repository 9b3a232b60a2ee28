package io.varve.cli.demo;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.cli.local.ClusterLayout;
import io.varve.cli.local.LocalCluster;
import io.varve.cli.process.ChildProcess;
import io.varve.cli.process.JavaCommand;
import io.varve.cli.report.SegmentsReport;
import io.varve.cli.role.RoleProcess;
import io.varve.cli.text.Progress;
import io.varve.cli.text.Units;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;

/**
 * The demo's steps. Metadata and bookies run in this process; brokers are processes of their own, so that kill -9 is kill -9. Used by one
 * thread.
 */
final class Demo implements AutoCloseable {

    private static final String TOPIC = "access-log";
    private static final Duration STEP_TIMEOUT = Duration.ofSeconds(120);
    private static final int SEGMENT_BYTES = 4 * 1024 * 1024;

    private final ClusterLayout layout;
    private final int partitions;
    private final PrintStream out;
    private final List<ChildProcess> brokers = new ArrayList<>();
    private LocalCluster cluster;

    Demo(ClusterLayout layout, int partitions, PrintStream out) {
        this.layout = layout;
        this.partitions = partitions;
        this.out = out;
    }

    /** @return whether every acknowledged record was read back, unchanged and in order */
    boolean run(DemoInput input) throws Exception {
        step("Starting a cluster: one metadata node, three bookies, an object store in " + layout.bucket());
        cluster = LocalCluster.start(layout, false, Map.of(), new SimpleMeterRegistry());
        ChildProcess first = startBroker(1);
        createTopic();

        Ledger written = new Ledger(partitions);
        try (DemoWriter writer = new DemoWriter(layout.bootstrap(), TOPIC, written)) {
            step("Writing " + input.name() + " to topic " + TOPIC + ", acks=all, idempotent");
            long writeNs = writer.write(input);
            rate("wrote", written, writeNs);

            step("Waiting until what is sealed lies in object storage and its local copies are gone");
            awaitCold();
            printSegments();

            step("Starting a second broker, and killing the first with -9 (pid " + first.pid() + ")");
            startBroker(2);
            long killedNs = System.nanoTime();
            first.kill();
            writer.touchEveryPartition("written after the broker was killed");
            out.println("  failover: every partition took a write again " + Units.duration(System.nanoTime() - killedNs)
                    + " after the kill");
        }

        step("Reading everything back from offset 0 through the new broker");
        long startNs = System.nanoTime();
        Ledger read = DemoReader.read(layout.bootstrap(), TOPIC, partitions);
        rate("read", read, System.nanoTime() - startNs);
        return verdict(written, read);
    }

    private boolean verdict(Ledger written, Ledger read) throws IOException {
        long coldRecords = coldRecords(cluster.metadata().view());
        out.println();
        out.println("  records acknowledged  " + Units.count(written.count()));
        out.println("  records read back     " + Units.count(read.count()) + ", " + Units.count(coldRecords)
                + " of them from object storage");
        out.println("  bytes in the bucket   " + Units.bytes(DirectorySize.of(layout.bucket())));
        for (int partition = 0; partition < partitions; partition++) {
            out.println("  partition " + partition + "           " + Units.count(read.count(partition))
                    + " records, sha-256 " + read.digest(partition).substring(0, 16));
        }
        List<String> differences = read.differencesFrom(written);
        differences.forEach(difference -> out.println("  WRONG " + difference));
        boolean passed = differences.isEmpty() && coldRecords > 0;
        if (coldRecords == 0) {
            out.println("  WRONG nothing came from object storage: the input is too small for a sealed segment");
        }
        out.println();
        out.println(passed ? "PASSED: every record is there, unchanged and in order." : "FAILED");
        return passed;
    }

    private ChildProcess startBroker(int id) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("broker", "--while-input-open"));
        layout.broker(id).forEach((key, value) -> arguments.addAll(List.of("--set", key + "=" + value)));
        ChildProcess broker = ChildProcess.start(
                "broker-" + id,
                JavaCommand.varve("512m", List.of(), arguments),
                RoleProcess.READY,
                layout.directory().resolve("logs").resolve("broker-" + id + ".log"));
        brokers.add(broker);
        try {
            broker.ready().get(STEP_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            broker.lastLines().forEach(line -> out.println("  | " + line));
            throw new DemoFailure("broker " + id + " did not start");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DemoFailure("interrupted");
        }
        return broker;
    }

    private void createTopic() throws Exception {
        Map<String, String> configs = Map.of(
                "segment.bytes", Integer.toString(SEGMENT_BYTES), "retention.ms", "-1", "local.retention.ms", "1000");
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", layout.bootstrap()))) {
            admin.createTopics(List.of(new NewTopic(TOPIC, partitions, (short) -1).configs(configs)))
                    .all()
                    .get(STEP_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    private void awaitCold() {
        long startNs = System.nanoTime();
        long deadlineNs = startNs + STEP_TIMEOUT.toNanos();
        long sealed = segments(cluster.metadata().view()).stream()
                .filter(Demo::isSealed)
                .count();
        try (Progress progress = Progress.of("offloading", OptionalLong.of(sealed))) {
            while (true) {
                List<SegmentDescriptor> segments = segments(cluster.metadata().view());
                sealed = segments.stream().filter(Demo::isSealed).count();
                long cold = segments.stream().filter(Demo::isCold).count();
                progress.to(cold);
                if (cold == sealed) {
                    break;
                }
                if (System.nanoTime() - deadlineNs > 0) {
                    printSegments();
                    throw new DemoFailure(cold + " of " + sealed + " sealed segments are in object storage alone after "
                            + STEP_TIMEOUT.toSeconds() + " s");
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            }
        }
        out.println("  took " + Units.duration(System.nanoTime() - startNs));
    }

    private void printSegments() {
        MetadataView view = cluster.metadata().view();
        view.topic(TOPIC)
                .ifPresent(topic ->
                        SegmentsReport.of(topic, view).table().lines().forEach(line -> out.println("  " + line)));
    }

    private static List<SegmentDescriptor> segments(MetadataView view) {
        List<SegmentDescriptor> segments = new ArrayList<>();
        view.topic(TOPIC).ifPresent(topic -> {
            for (PartitionState partition : view.partitions(topic.id())) {
                segments.addAll(partition.chain().segments());
            }
        });
        return segments;
    }

    private static boolean isSealed(SegmentDescriptor segment) {
        return segment.state() == SegmentDescriptor.State.SEALED && !segment.isEmpty();
    }

    private static boolean isCold(SegmentDescriptor segment) {
        return isSealed(segment) && segment.isOffloaded() && segment.replicas().isEmpty();
    }

    private static long coldRecords(MetadataView view) {
        return segments(view).stream()
                .filter(Demo::isCold)
                .mapToLong(segment -> segment.endOffset() - segment.startOffset())
                .sum();
    }

    private void step(String what) {
        out.println();
        out.println(what + " ...");
    }

    private void rate(String what, Ledger ledger, long nanos) {
        out.println("  " + what + " " + Units.count(ledger.count()) + " records, " + Units.bytes(ledger.bytes())
                + " in "
                + Units.duration(nanos) + ": " + Units.count(Units.perSecond(ledger.count(), nanos)) + " records/s, "
                + Units.bytes(Units.perSecond(ledger.bytes(), nanos)) + "/s");
    }

    @Override
    public void close() {
        brokers.forEach(ChildProcess::close);
        if (cluster != null) {
            cluster.close();
        }
    }
}
