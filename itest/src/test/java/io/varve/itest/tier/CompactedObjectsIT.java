package io.varve.itest.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.cli.link.MetadataLink;
import io.varve.cli.process.ChildProcess;
import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ChainText;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.CommandRun;
import io.varve.itest.cluster.KeyedLog;
import io.varve.itest.cluster.ProcessCluster;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * S22, and I-1, I-8, I-10, I-11, with real processes: a topic of which the bucket has the only copy, several segments an object, is compacted from there, while its owner and a bookie are killed. The newest of each key
 * stays, what was replaced is deleted, and bucket and metadata agree to the last key: scrubbed, verified, inspected, and looked at for a restoration.
 */
class CompactedObjectsIT {

    private static final String TOPIC = "states";
    private static final int KEYS = 100;
    private static final int RECORDS = 20_000;
    private static final int SEGMENT_BYTES = 128 * 1024;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    /** An upload of what compaction replaces meanwhile may go on for five minutes, as far as anybody knows; only then what it made is deleted. */
    private static final Duration PATIENCE_WITH_UPLOADS = Duration.ofMinutes(7);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    private final KeyedLog log = new KeyedLog(TOPIC, KEYS);
    private ProcessCluster cluster;
    private MetadataLink link;

    @Test
    void whatTheBucketAloneHoldsIsCompactedThroughTheDeathOfItsOwnerAndOfABookie() throws Exception {
        cluster = clusters.start(ClusterShape.of(1, 3, 2)
                .withBroker("log.cleaner.backoff.ms", "100")
                .withBookie("tiering.backup.interval.ms", "1000")
                .withMetadata("metadata.offload.delay.ms", "100")
                .withMetadata("metadata.upload.abandoned.ms", "5000")
                .withMetadata("metadata.offload.small.bytes", "1")
                .withMetadata("metadata.offload.merge.bytes", Integer.toString(4 * SEGMENT_BYTES)));
        try (MetadataLink open = MetadataLink.open(cluster.layout().metadataNodes(), PATIENCE)) {
            link = open;
            cluster.set(new ConfigResource(ConfigResource.Type.BROKER, ""), "metadata.object.grace.ms", "500");
            cluster.createTopic(
                    TOPIC,
                    1,
                    Map.of(
                            "segment.bytes",
                            Integer.toString(SEGMENT_BYTES),
                            "segment.ms",
                            "2000",
                            "retention.ms",
                            "-1",
                            "local.retention.bytes",
                            "0",
                            "remote.log.copy.disable",
                            "true",
                            "min.cleanable.dirty.ratio",
                            "0.01"));
            log.write(cluster.bootstrap(), 0, RECORDS);
            Await.until("all of it is sealed", PATIENCE, () -> seen(segment -> true), this::isAllSealed);
            ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, TOPIC);
            cluster.set(topic, "remote.log.copy.disable", "false");
            awaitAllIsInTheBucketAlone();
            List<ObjectRef> before = objects();
            assertThat(before.size())
                    .as("several segments an object, and several objects")
                    .isGreaterThan(3)
                    .isLessThan(sealed().size());
            int segmentsBefore = sealed().size();
            ChildProcess owner = cluster.broker(cluster.ownerOf(TOPIC, 0));

            cluster.set(topic, "cleanup.policy", "compact");
            Await.until(
                    "an object is compacted in part",
                    PATIENCE,
                    () -> seen(SegmentDescriptor::isCompacted),
                    () -> isAnObjectCut() || sealed().stream().allMatch(SegmentDescriptor::isCompacted));
            owner.kill();
            cluster.bookie(2).kill();
            log.write(cluster.bootstrap(), RECORDS, RECORDS + 2_000);
            cluster.launchBookie(2);
            Await.until(
                    "all of it is compacted",
                    PATIENCE,
                    () -> seen(SegmentDescriptor::isCompacted),
                    () -> isAllSealed() && sealed().stream().allMatch(SegmentDescriptor::isCompacted));
            awaitAllIsInTheBucketAlone();

            assertThat(sealed().size()).isLessThan(segmentsBefore);
            awaitOnlyWhatIsNamedIsLeft();
            assertThat(objects()).doesNotContainAnyElementsOf(before);
            assertCommandsAgree();
            assertReadsRight();

            cluster.killAll();
            cluster.startAll();
            assertReadsRight();
        }
    }

    /** Whether the first of an object's segments were replaced and others not yet, of which the next is rewritten by itself: what interrupts compaction there leaves the most to go wrong. */
    private boolean isAnObjectCut() {
        List<SegmentDescriptor> sealed = sealed();
        for (int i = 1; i < sealed.size(); i++) {
            SegmentDescriptor segment = sealed.get(i);
            boolean isRest = sealed.get(i - 1).isCompacted()
                    && !segment.isCompacted()
                    && segment.bytes() > SEGMENT_BYTES
                    && segment.object()
                            .filter(object -> object.startOffset() < segment.startOffset())
                            .isPresent();
            if (isRest) {
                return true;
            }
        }
        return false;
    }

    private void assertReadsRight() {
        assertThat(log.readBack(cluster.bootstrap(), PATIENCE))
                .as("most is gone")
                .isLessThan(RECORDS / 4);
    }

    private void assertCommandsAgree() {
        ok("", "bucket", "scrub", "--grace-hours", "0", "--metadata", servers());
        ok("0 problems", "verify", "topic", TOPIC, "--deep", "--metadata", servers());
        for (ObjectRef object : objects()) {
            String offsets = object.startOffset() + " to " + (object.endOffset() - 1);
            ok("offsets       " + offsets, "object", "inspect", object.key());
            ok("offsets " + offsets + ": intact", "object", "verify", object.key());
        }
        ok(
                object -> object.startsWith("0 to "),
                "object",
                "cat",
                objects().get(0).key());
        assertThat(run(
                                "restore",
                                "--from",
                                "file:" + cluster.layout().bucket(),
                                "--into",
                                clusters.directory().resolve("restored").toString(),
                                "--dry-run")
                        .output())
                .contains("found ")
                .doesNotContain("not restored: " + TOPIC);
    }

    private interface Line {
        boolean isRight(String line);
    }

    private void ok(Line line, String... arguments) {
        CommandRun run = run(arguments);
        assertThat(run.exitCode()).as(run.output()).isZero();
        assertThat(run.output().lines()).as(run.output()).anyMatch(line::isRight);
    }

    private void ok(String says, String... arguments) {
        ok(line -> line.contains(says), arguments);
    }

    private CommandRun run(String... arguments) {
        List<String> all = new ArrayList<>(Arrays.asList(arguments));
        if (!arguments[0].equals("restore")) {
            all.addAll(List.of("--set", "tiering.local.dir=" + cluster.layout().bucket()));
        }
        return CommandRun.of(all.toArray(String[]::new));
    }

    private String servers() {
        return cluster.layout().metadataServers();
    }

    /** By its age, in the end. */
    private boolean isAllSealed() {
        return chain().open()
                .filter(open -> open.startOffset() >= log.endOffset())
                .isPresent();
    }

    private void awaitAllIsInTheBucketAlone() {
        Await.until(
                "the bucket has the only copy of all of it",
                PATIENCE,
                () -> seen(CompactedObjectsIT::isInTheBucketAlone),
                () -> isAllSealed() && sealed().stream().allMatch(CompactedObjectsIT::isInTheBucketAlone));
    }

    private void awaitOnlyWhatIsNamedIsLeft() {
        Await.until(
                "what was replaced is gone from the bucket",
                PATIENCE_WITH_UPLOADS,
                this::namedAndThere,
                () -> named().equals(files()));
    }

    private String namedAndThere() {
        TreeSet<String> there = files();
        there.removeAll(named());
        TreeSet<String> missing = named();
        missing.removeAll(files());
        return "there without being named " + there + ", named without being there " + missing + ", "
                + seen(CompactedObjectsIT::isInTheBucketAlone) + "\nreplaced: "
                + link.client().view().replacedObjects();
    }

    private TreeSet<String> named() {
        TreeSet<String> named = new TreeSet<>();
        objects()
                .forEach(object -> named.add(Path.of(object.key()).getFileName().toString()));
        return named;
    }

    private TreeSet<String> files() {
        TreeSet<String> names = new TreeSet<>();
        Path partition = cluster.layout()
                .bucket()
                .resolve("objects/varve")
                .resolve(objects().get(0).key())
                .getParent();
        try (var files = Files.list(partition)) {
            files.filter(Files::isRegularFile)
                    .map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".seg"))
                    .forEach(names::add);
        } catch (IOException goneMeanwhile) {
            return new TreeSet<>();
        }
        return names;
    }

    private List<SegmentDescriptor> sealed() {
        return chain().segments().stream()
                .filter(s -> s.state() == SegmentDescriptor.State.SEALED)
                .toList();
    }

    private List<ObjectRef> objects() {
        return chain().segments().stream()
                .flatMap(segment -> segment.object().stream())
                .distinct()
                .toList();
    }

    private static boolean isInTheBucketAlone(SegmentDescriptor segment) {
        return segment.isOffloaded() && segment.replicas().isEmpty();
    }

    private String seen(Predicate<SegmentDescriptor> awaited) {
        return "written to " + log.endOffset() + ", "
                + ChainText.of(link.client().view(), TOPIC, 0, awaited);
    }

    private SegmentChain chain() {
        MetadataView view = link.client().view();
        PartitionId id = new PartitionId(view.topic(TOPIC).orElseThrow().id(), 0);
        return view.partition(id).orElseThrow().chain();
    }
}
