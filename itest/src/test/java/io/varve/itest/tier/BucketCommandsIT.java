package io.varve.itest.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.base.StartupException.Reason;
import io.varve.cli.link.MetadataLink;
import io.varve.itest.cluster.AckLog;
import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ChainText;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.CommandRun;
import io.varve.itest.cluster.NumberedProducer;
import io.varve.itest.cluster.ProcessCluster;
import io.varve.itest.cluster.ReadBack;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The operator's commands about the bucket, each in a process of its own, on the bucket of a running cluster. */
class BucketCommandsIT {

    private static final String TOPIC = "tiered";
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    private final AckLog acks = new AckLog(1);
    private ProcessCluster cluster;

    @Test
    void objectsAndTheBucketAreLookedIntoAndOrphansAreFoundAndDeletedAndNothingElseIs() throws Exception {
        cluster = clusters.start(ClusterShape.of(1, 3, 1)
                .withMetadata("metadata.offload.delay.ms", "100")
                .withMetadata("metadata.offload.small.wait.ms", "300")
                // A full segment is an object of its own, however late somebody looks.
                .withMetadata("metadata.offload.small.bytes", "131072")
                .withMetadata("metadata.offload.merge.bytes", "300000"));
        cluster.createTopic(
                TOPIC, 1, Map.of("segment.bytes", "262144", "segment.ms", "1500", "local.retention.ms", "1"));
        produce(1);
        awaitAllRemote();

        check();
        List<ObjectRef> objects = objects();
        assertThat(objects.size()).isGreaterThan(2);
        singleObjects(objects.get(0));
        ok("0 problems", "verify", "verify", "topic", TOPIC, "--deep", "--metadata", servers());

        anotherBucket();
        orphans(objects.get(0));
        damage(objects.get(1));
        pause();
    }

    private void check() throws IOException {
        CommandRun check = run("bucket", "check");
        assertThat(check.exitCode()).as(check.output()).isZero();
        CommandRun bad = CommandRun.ofProcess(
                clusters.directory(),
                "bucket",
                "check",
                "--set",
                "tiering.store=s3",
                "--set",
                "tiering.s3.bucket=none",
                "--set",
                "tiering.s3.endpoint=http://127.0.0.1:1",
                "--set",
                "tiering.s3.access.key=a",
                "--set",
                "tiering.s3.secret.key=b",
                "--set",
                "tiering.retry.ms=0");
        assertThat(bad.exitCode()).as(bad.output()).isEqualTo(Reason.NO_BUCKET.exitCode());
    }

    private void singleObjects(ObjectRef object) {
        String offsets = object.startOffset() + " to " + (object.endOffset() - 1);
        CommandRun inspect = run("object", "inspect", object.key());
        assertThat(inspect.exitCode()).as(inspect.output()).isZero();
        assertThat(inspect.output()).contains("offsets       " + offsets, "partition     " + TOPIC);
        CommandRun verify = run("object", "verify", object.key());
        assertThat(verify.exitCode()).as(verify.output()).isZero();
        assertThat(verify.output()).contains("offsets " + offsets + ": intact");
        CommandRun cat = run("object", "cat", object.key());
        assertThat(cat.exitCode()).as(cat.output()).isZero();
        assertThat(cat.output()
                        .lines()
                        .filter(line -> line.contains(" bytes, crc32c "))
                        .findFirst()
                        .orElseThrow())
                .startsWith(object.startOffset() + " to ");
        CommandRun absent = run("object", "verify", object.key() + "x");
        assertThat(absent.exitCode()).isEqualTo(1);
        assertThat(absent.output()).contains("is not there");
    }

    /** In a bucket that isn't the cluster's everything would seem to be lost: it is refused, and not called damage. */
    private void anotherBucket() throws IOException {
        Path other = clusters.directory().resolve("other-bucket");
        String key = "tiering.local.dir=" + other;
        assertThat(CommandRun.of("bucket", "check", "--set", key).exitCode()).isZero();
        Path file = clusters.directory().resolve("operator.properties");
        Files.writeString(file, key + "\nmetadata.servers=" + servers() + "\n");
        for (String[] command :
                List.of(new String[] {"verify", "topic", TOPIC}, new String[] {"bucket", "scrub", "--delete"})) {
            List<String> arguments = new ArrayList<>(List.of(command));
            arguments.addAll(List.of("--config", file.toString()));
            CommandRun run = CommandRun.of(arguments.toArray(String[]::new));
            assertThat(run.exitCode()).as(run.output()).isEqualTo(Reason.NO_BUCKET.exitCode());
            assertThat(run.output()).contains("has neither the mark").doesNotContain("WRONG", "MISSING");
        }
        Files.writeString(
                file, "tiering.local.dir=" + cluster.layout().bucket() + "\nmetadata.servers=" + servers() + "\n");
        CommandRun right = CommandRun.of("bucket", "scrub", "--config", file.toString());
        assertThat(right.exitCode()).as(right.output()).isZero();
    }

    /** I-11. */
    private void orphans(ObjectRef object) throws IOException {
        CommandRun clean = scrub();
        assertThat(clean.exitCode()).as(clean.output()).isZero();

        Path original = file(object.key());
        Path orphan = original.resolveSibling(
                original.getFileName().toString().replaceFirst("-[0-9a-f]{16}", "-00000000ffffffff"));
        Files.copy(original, orphan);
        Path foreign = cluster.layout().bucket().resolve("objects/varve/other-cluster/notes.txt");
        Files.createDirectories(foreign.getParent());
        Files.writeString(foreign, "ours");

        CommandRun found = scrub();
        assertThat(found.exitCode()).isEqualTo(1);
        assertThat(found.output())
                .contains(
                        "orphan: ",
                        orphan.getFileName().toString(),
                        "Nothing was changed; --delete would delete 1 orphan");
        assertThat(orphan).exists();

        CommandRun deleted = scrub("--delete");
        assertThat(deleted.exitCode()).as(deleted.output()).isZero();
        assertThat(deleted.output()).contains("Deleted 1 orphan of ");
        assertThat(orphan).doesNotExist();
        assertThat(original).exists();
        assertThat(foreign).exists();
        assertThat(scrub().exitCode()).isZero();
        ReadBack.of(cluster.bootstrap(), TOPIC, 1, PATIENCE).isExactly(acks);
    }

    /** What is damaged or missing is an alarm, and never deleted. */
    private void damage(ObjectRef object) throws IOException {
        Path file = file(object.key());
        Path kept = file.resolveSibling("kept.bytes");
        Files.copy(file, kept);
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 0x10;
        Files.write(file, bytes);
        CommandRun damaged = run("object", "verify", object.key());
        assertThat(damaged.exitCode()).isEqualTo(1);
        CommandRun deep = run("verify", "topic", TOPIC, "--deep", "--metadata", servers());
        assertThat(deep.exitCode()).isEqualTo(1);
        assertThat(deep.output()).contains(TOPIC + "-0: CORRUPT", "1 problem");

        Files.delete(file);
        CommandRun missing = scrub("--delete");
        assertThat(missing.exitCode()).isEqualTo(1);
        assertThat(missing.output()).contains("WRONG: " + object.key() + " is not there");
        Files.move(kept, file, StandardCopyOption.ATOMIC_MOVE);
        assertThat(scrub().exitCode()).isZero();
    }

    /** Uploads are paused, of the cluster and of a topic, and go on. */
    private void pause() throws Exception {
        long before = objects().size();
        ok("all topics: paused", "offload pause", "offload", "pause", "--metadata", servers());
        produce(20_001);
        Await.until("something waits", PATIENCE, () -> {
            return run("offload", "status", "--metadata", servers())
                    .output()
                    .contains("uploads are paused for the cluster");
        });
        assertThat(objects()).hasSize((int) before);
        CommandRun status = run("status", "--metadata", servers());
        assertThat(status.output()).contains("uploads are PAUSED");

        ok(TOPIC + ": paused", "pause", "offload", "pause", TOPIC, "--metadata", servers());
        ok("all topics: resumed", "resume", "offload", "resume", "--metadata", servers());
        assertThat(run("offload", "status", "--metadata", servers()).output())
                .contains("uploads are paused for the topic");
        ok(TOPIC + ": resumed", "resume", "offload", "resume", TOPIC, "--metadata", servers());
        awaitAllRemote();
        ReadBack.of(cluster.bootstrap(), TOPIC, 1, PATIENCE).isExactly(acks);
    }

    private void produce(long first) throws Exception {
        try (NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), TOPIC, 100, acks, PATIENCE)) {
            producer.start(first, 10_000, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
        }
    }

    private void ok(String says, String what, String... arguments) {
        CommandRun run = run(arguments);
        assertThat(run.exitCode()).as(what + ": " + run.output()).isZero();
        assertThat(run.output()).contains(says);
    }

    private CommandRun scrub(String... more) {
        List<String> arguments =
                new ArrayList<>(List.of("bucket", "scrub", "--grace-hours", "0", "--metadata", servers()));
        arguments.addAll(Arrays.asList(more));
        return run(arguments.toArray(String[]::new));
    }

    private CommandRun run(String... arguments) {
        List<String> all = new ArrayList<>(Arrays.asList(arguments));
        boolean needsStore = !arguments[0].equals("offload") && !arguments[0].equals("status");
        if (needsStore) {
            all.addAll(List.of("--set", "tiering.local.dir=" + cluster.layout().bucket()));
        }
        return CommandRun.of(all.toArray(String[]::new));
    }

    private String servers() {
        return cluster.layout().metadataServers();
    }

    private Path file(String key) {
        return cluster.layout().bucket().resolve("objects").resolve("varve").resolve(key);
    }

    private void awaitAllRemote() {
        Await.until("all of the topic is in the bucket alone", PATIENCE, this::seen, () -> {
            MetadataView view = view();
            Topic topic = view.topic(TOPIC).orElseThrow();
            var chain =
                    view.partition(new PartitionId(topic.id(), 0)).orElseThrow().chain();
            return chain.segments().stream()
                            .filter(s -> s.state() == SegmentDescriptor.State.SEALED)
                            .allMatch(s -> s.isOffloaded() && s.replicas().isEmpty())
                    && chain.last().orElseThrow().startOffset() == acks.end(0);
        });
    }

    private String seen() {
        return "written to " + acks.end(0) + ", "
                + ChainText.of(
                        view(), TOPIC, 0, s -> s.isOffloaded() && s.replicas().isEmpty());
    }

    private List<ObjectRef> objects() {
        MetadataView view = view();
        Topic topic = view.topic(TOPIC).orElseThrow();
        return view.partition(new PartitionId(topic.id(), 0)).orElseThrow().chain().segments().stream()
                .flatMap(segment -> segment.object().stream())
                .distinct()
                .toList();
    }

    private MetadataView view() {
        try (MetadataLink link = MetadataLink.open(cluster.layout().metadataNodes(), Duration.ofSeconds(60))) {
            return link.client().linearizable().join();
        }
    }
}
