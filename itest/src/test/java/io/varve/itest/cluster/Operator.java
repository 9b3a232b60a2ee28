package io.varve.itest.cluster;

import io.varve.base.BookieId;
import io.varve.cli.link.MetadataLink;
import io.varve.cli.process.ChildProcess;
import io.varve.cli.report.ClusterReport;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;

/** Somebody who runs a cluster: looks at its metadata, and types {@code varve} commands. */
final class Operator implements AutoCloseable {

    private static final Duration CONNECT_PATIENCE = Duration.ofMinutes(1);
    private static final AtomicInteger COMMANDS = new AtomicInteger();

    private final ProcessCluster cluster;
    private final Path logs;
    private final MetadataLink link;

    Operator(ProcessCluster cluster, Path logs) {
        this.cluster = cluster;
        this.logs = logs;
        this.link = MetadataLink.open(cluster.layout().metadataNodes(), CONNECT_PATIENCE);
    }

    MetadataClient metadata() {
        return link.client();
    }

    MetadataView view() {
        return link.client().view();
    }

    /** Begins a command in a process of its own, with {@code --metadata} added. */
    ChildProcess type(String... words) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(words));
        arguments.add("--metadata=" + cluster.layout().metadataServers());
        return ChildProcess.start(
                String.join(" ", words),
                Distribution.command("128m", arguments),
                "never printed",
                logs.resolve("command-" + COMMANDS.incrementAndGet() + ".log"));
    }

    /** Runs a command that must succeed, in this process, with {@code --metadata} added, and returns what it printed. */
    String run(String... words) {
        List<String> arguments = new ArrayList<>(List.of(words));
        arguments.addAll(List.of("--metadata", cluster.layout().metadataServers()));
        CommandRun run = CommandRun.of(arguments.toArray(String[]::new));
        if (run.exitCode() != 0) {
            throw new AssertionError(String.join(" ", words) + " ended with " + run.exitCode() + ":\n" + run.output());
        }
        return run.output();
    }

    /** Waits until every segment has all its copies, or is in object storage, and no work is left. */
    void awaitWhole(Duration patience) {
        Await.until("all copies, and nothing left to do", patience, () -> report().toString(), () -> {
            ClusterReport report = report();
            return report.segmentsUnderReplicated() == 0 && !report.tasks().containsKey("CopyReplica");
        });
    }

    private ClusterReport report() {
        return ClusterReport.of(view(), List.of(), System.currentTimeMillis());
    }

    /** The bookies that the open segment of a partition is written to. */
    TreeSet<Integer> writtenTo(String topic, int partition) {
        TreeSet<Integer> bookies = new TreeSet<>();
        partition(topic, partition)
                .chain()
                .open()
                .ifPresent(open -> open.replicas()
                        .forEach(replica -> bookies.add(replica.bookie().value())));
        return bookies;
    }

    PartitionState partition(String topic, int partition) {
        MetadataView view = view();
        return view.topic(topic)
                .flatMap(t -> view.partition(new io.varve.base.PartitionId(t.id(), partition)))
                .orElseThrow();
    }

    /** Payload bytes of all sealed segments of which a bookie holds a copy. */
    long bytesOn(int bookie) {
        long bytes = 0;
        for (SegmentDescriptor segment : view().segmentsOn(new BookieId(bookie))) {
            bytes += Math.max(0, segment.bytes());
        }
        return bytes;
    }

    /** Whether no segment of a topic names a bookie. */
    boolean isFreeOf(String topic, int bookie) {
        MetadataView view = view();
        return view.partitions(view.topic(topic).orElseThrow().id()).stream()
                .flatMap(partition -> partition.chain().segments().stream())
                .flatMap(segment -> segment.replicas().stream())
                .map(Replica::bookie)
                .noneMatch(id -> id.value() == bookie);
    }

    @Override
    public void close() {
        link.close();
    }
}
