package io.varve.tiering.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.core.PlannerSettings;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.metadata.testing.StepClock;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.SealedSegmentSource;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.offload.OffloadWorker;
import io.varve.tiering.offload.UploadSettings;
import io.varve.tiering.read.ObjectWalk;
import io.varve.tiering.scrub.Scrubber;
import io.varve.tiering.testing.DyingObjectStore;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Bookies are killed at every step of offload, commit, local deletion and deletion from the bucket, between any two calls to the store and
 * between the store and the metadata, whose real state machine and planners they are driven by; answers of the metadata get lost, and its leader dies before and after a command is committed. After
 * every step every offset that the chain promises is somewhere (I-1, I-9, I-10); in the end everything is read back from the bucket byte
 * for byte, and after the scrub the bucket holds what the metadata names and nothing else (I-11). Cases S6, S19, C16.1 and C16.3.
 */
class OffloadCrashSimulation {

    private static final int SEEDS = Math.max(1, Integer.getInteger("varve.simulation.seeds", 200) / 5);
    private static final int STEPS = 120;

    @Test
    void nothingIsLostAndNothingIsLeftBehindWhereverAProcessDies() {
        long crashes = 0;
        long offloaded = 0;
        long deleted = 0;
        long kept = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            Run run = new Run(seed, Bug.NONE);
            OnePartition.run(seed, run);
            crashes += run.crashes;
            offloaded += run.commits;
            deleted += run.replicasDeleted;
            kept += run.copiesKept;
        }
        assertThat(crashes).as("processes died").isGreaterThan(10L * SEEDS);
        assertThat(offloaded).as("offloads were committed").isGreaterThan(5L * SEEDS);
        assertThat(deleted).as("local copies were deleted").isGreaterThan(5L * SEEDS);
        assertThat(kept).as("local copies were kept").isGreaterThan(SEEDS);
    }

    @ParameterizedTest
    @EnumSource(value = Bug.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aPlantedBugIsFound(Bug bug) {
        OnePartition.assertFound(SEEDS, seed -> new Run(seed, bug));
    }

    /** What the histories must be able to find. */
    enum Bug {
        NONE,
        /** An upload that died is committed as if it had been verified. */
        COMMIT_WITHOUT_VERIFYING,
        /** Local copies are deleted when their upload begins. */
        DELETE_LOCAL_AT_UPLOAD,
        /** A deletion from the bucket takes another object with it. */
        DELETE_ANOTHER_OBJECT,
        /** Of the segments that become one object the last is left out, and committed with the others. */
        MERGE_LEAVES_ONE_OUT,
        /** Local copies are deleted without a look at the object that takes their place. */
        DELETE_LOCAL_UNSEEN
    }

    /** One history. */
    private static final class Run implements OnePartition.History {

        private final Bug bug;
        private final SplittableRandom random;
        private final OnePartition log;
        private final StepClock clock;
        private final MemoryObjectStore bucket;
        private final InMemoryMetadata metadata;
        private final MetadataClient client;
        private final PartitionId partition;
        private final String clusterId;
        private final Map<Long, TestSegments.Segment> written = new TreeMap<>();
        private final Map<BookieId, TreeSet<Long>> disks = new TreeMap<>();
        /** Objects that the store has lost for a while, though it had confirmed them. */
        private final Map<String, byte[]> away = new TreeMap<>();

        private int crashes;
        private int commits;
        private int replicasDeleted;
        private int copiesKept;

        Run(long seed, Bug bug) {
            this.bug = bug;
            random = new SplittableRandom(seed);
            PlannerSettings settings = new PlannerSettings(
                    1_000, 16_000, 4_000, 3_000, 20_000, 300_000, 30_000, 600_000, 2, 2, 8, 4_000, 2, 600_000);
            for (int id = 1; id <= 3; id++) {
                disks.put(new BookieId(id), new TreeSet<>());
            }
            log = new OnePartition(
                    seed,
                    settings,
                    Map.of(
                            "local.retention.ms", "2000",
                            "retention.ms", "-1",
                            "retention.bytes", random.nextBoolean() ? "-1" : "20000"));
            clock = log.clock;
            bucket = log.bucket;
            metadata = log.metadata;
            client = log.client;
            partition = log.id;
            clusterId = log.clusterId;
        }

        @Override
        public void go() throws Exception {
            for (int step = 0; step < STEPS; step++) {
                switch (random.nextInt(6)) {
                    case 0 -> write();
                    case 5 -> loseAnObjectOrFindIt();
                    case 1 -> {
                        clock.advance(random.nextInt(5_000));
                        if (random.nextInt(8) == 0) {
                            metadata.killLeader();
                        }
                        metadata.plan();
                    }
                    default -> work(random.nextInt(3) == 0);
                }
                assertEverythingIsSomewhere();
            }
            settle();
            assertReadBack();
            assertBucketIsClean();
        }

        /** The owner seals what it wrote and opens the next segment. */
        private void write() {
            SegmentDescriptor open = log.open();
            long id = open.id().value();
            TestSegments.Segment segment =
                    TestSegments.segment(id, open.startOffset(), 1 + random.nextInt(12), 200, random.nextBoolean());
            open.replicas().forEach(replica -> disks.get(replica.bookie()).add(id));
            written.put(id, segment);
            SegmentDescriptor sealed = segment.descriptor();
            log.roll(sealed.endOffset(), sealed.bytes(), sealed.maxTimestampMs());
        }

        /** A bookie does one of its tasks, and may die on the way. */
        private void work(boolean dies) throws Exception {
            List<BookieTask> tasks = log.tasks();
            if (tasks.isEmpty()) {
                return;
            }
            BookieTask task = tasks.get(random.nextInt(tasks.size()));
            DyingObjectStore store =
                    new DyingObjectStore(bucket, dies ? random.nextInt(14) : Long.MAX_VALUE, random.nextBoolean());
            switch (random.nextInt(12)) {
                case 0, 1 -> metadata.loseAnswers(1);
                case 2 -> metadata.killLeaderAtNextCommand(true);
                case 3 -> metadata.killLeaderAtNextCommand(false);
                default -> {}
            }
            if (task instanceof BookieTask.Offload offload) {
                offload(offload, store);
            } else if (task instanceof BookieTask.DeleteReplica deletion) {
                deleteReplica(deletion, store, dies);
            } else if (task instanceof BookieTask.DeleteObject deletion) {
                deleteObject(deletion, store);
            }
            crashes += store.isDead() || dies ? 1 : 0;
            metadata.endFaults();
        }

        /** A store that forgets what it confirmed, while somebody still has a copy; what it forgot comes back by somebody's hand. */
        private void loseAnObjectOrFindIt() {
            if (!away.isEmpty()) {
                away.forEach(bucket::overwrite);
                away.clear();
                return;
            }
            List<String> held = new ArrayList<>();
            for (SegmentDescriptor segment : log.state().chain().segments()) {
                segment.object().filter(this::isHeldByBookies).ifPresent(object -> held.add(object.key()));
            }
            if (!held.isEmpty()) {
                String key = held.get(random.nextInt(held.size()));
                away.put(key, bucket.objects().get(key));
                bucket.delete(key).join();
            }
        }

        private boolean isHeldByBookies(ObjectRef object) {
            return log.state().chain().segments().stream()
                    .filter(segment -> segment.object().equals(Optional.of(object)))
                    .allMatch(segment -> isOnADisk(segment.id()));
        }

        private boolean isOnADisk(SegmentId segment) {
            return disks.values().stream().anyMatch(disk -> disk.contains(segment.value()));
        }

        /** S3: the object is looked at, then the copy goes, then that is reported; who dies between begins anew. */
        private void deleteReplica(BookieTask.DeleteReplica task, DyingObjectStore store, boolean dies)
                throws Exception {
            Optional<ObjectRef> object = metadata.view().segment(task.segment()).flatMap(SegmentDescriptor::object);
            if (object.isPresent() && bug != Bug.DELETE_LOCAL_UNSEEN) {
                boolean isThere;
                try (OffloadWorker worker = worker(store)) {
                    isThere = worker.isThere(object.get()).get(20, TimeUnit.SECONDS);
                } catch (java.util.concurrent.ExecutionException failed) {
                    assertThat(store.isDead()).as(failed.getMessage()).isTrue();
                    return;
                }
                if (!isThere) {
                    // Whose copy is gone already has nothing to offer: he tries again until the object is seen.
                    boolean isHeld =
                            disks.get(task.bookie()).contains(task.segment().value());
                    copiesKept += isHeld ? 1 : 0;
                    if (isHeld && !dies) {
                        OnePartition.ignoreLoss(() -> client.failTask(task.taskId(), "MISSING: its object")
                                .join());
                    }
                    return;
                }
            }
            if (dies && random.nextBoolean()) {
                return;
            }
            disks.get(task.bookie()).remove(task.segment().value());
            replicasDeleted++;
            if (!dies) {
                OnePartition.ignoreLoss(() -> client.completeTask(task.taskId()).join());
            }
        }

        private void offload(BookieTask.Offload task, DyingObjectStore store) throws Exception {
            List<SealedSegmentSource> sources = new ArrayList<>();
            for (SegmentId id : task.segments()) {
                assertThat(disks.get(task.bookie()))
                        .as("I-9: nobody deleted what is to be offloaded")
                        .contains(id.value());
                TestSegments.Segment held = written.get(id.value());
                if (bug == Bug.DELETE_LOCAL_AT_UPLOAD) {
                    disks.values().forEach(disk -> disk.remove(id.value()));
                }
                sources.add(new TestSegments.Segment(
                                metadata.view().segment(id).orElseThrow(), held.entries(), held.checkpoint())
                        .source());
            }
            boolean leavesOut = bug == Bug.MERGE_LEAVES_ONE_OUT && sources.size() > 1;
            long endOffset = sources.get(sources.size() - 1).segment().endOffset();
            if (leavesOut) {
                sources.remove(sources.size() - 1).close();
            }
            ObjectRef object;
            try (OffloadWorker worker = worker(store)) {
                object = worker.offload(
                                new Offloader.OffloadAttempt(task.taskId(), "orders", task.partition()), sources)
                        .get(20, TimeUnit.SECONDS);
            } catch (java.util.concurrent.ExecutionException failed) {
                assertThat(store.isDead()).as(failed.getMessage()).isTrue();
                if (bug == Bug.COMMIT_WITHOUT_VERIFYING) {
                    commitUnverified(task);
                    return;
                }
                // A restarted bookie finds the task given to its former life and reports it failed; or it never comes
                // back.
                if (random.nextBoolean()) {
                    OnePartition.ignoreLoss(
                            () -> client.failTask(task.taskId(), "restarted").join());
                }
                return;
            }
            if (store.isDead()) {
                return;
            }
            ObjectRef committed = leavesOut ? claiming(object, endOffset) : object;
            OnePartition.ignoreLoss(
                    () -> client.commitOffload(task.taskId(), committed).join());
            commits++;
        }

        private static ObjectRef claiming(ObjectRef object, long endOffset) {
            return new ObjectRef(
                    object.key(),
                    object.attemptId(),
                    object.length(),
                    object.crc32c(),
                    object.startOffset(),
                    endOffset,
                    object.maxTimestampMs());
        }

        private void commitUnverified(BookieTask.Offload task) {
            SegmentDescriptor first =
                    metadata.view().segment(task.segments().get(0)).orElseThrow();
            SegmentDescriptor last = metadata.view()
                    .segment(task.segments().get(task.segments().size() - 1))
                    .orElseThrow();
            String key = ObjectKeys.segment(clusterId, partition, first.startOffset(), task.taskId());
            ObjectRef claimed = new ObjectRef(key, task.taskId(), 1000, 0, first.startOffset(), last.endOffset(), -1);
            OnePartition.ignoreLoss(
                    () -> client.commitOffload(task.taskId(), claimed).join());
        }

        private void deleteObject(BookieTask.DeleteObject task, DyingObjectStore store) throws Exception {
            if (bug == Bug.DELETE_ANOTHER_OBJECT && !bucket.objects().isEmpty()) {
                bucket.delete(bucket.objects().firstKey()).join();
            }
            try (OffloadWorker worker = worker(store)) {
                worker.delete(task.key()).get(20, TimeUnit.SECONDS);
            } catch (java.util.concurrent.ExecutionException failed) {
                assertThat(store.isDead()).as(failed.getMessage()).isTrue();
                return;
            }
            if (!store.isDead()) {
                OnePartition.ignoreLoss(() -> client.completeTask(task.taskId()).join());
            }
        }

        private OffloadWorker worker(ObjectStore store) {
            return new OffloadWorker(
                    store,
                    clusterId,
                    new UploadSettings(1, 1, 1_000, 2, 512, true, 0),
                    clock,
                    new SimpleMeterRegistry(),
                    (where, fault) -> {
                        throw new AssertionError(where, fault);
                    });
        }

        private void assertEverythingIsSomewhere() {
            PartitionState state = log.state();
            long next = Math.max(
                    state.logStartOffset(),
                    state.chain().first().map(SegmentDescriptor::startOffset).orElse(0L));
            assertThat(next).isLessThanOrEqualTo(state.logStartOffset());
            for (SegmentDescriptor segment : state.chain().segments()) {
                if (segment.state() != SegmentDescriptor.State.SEALED || segment.isEmpty()) {
                    continue;
                }
                segment.replicas()
                        .forEach(replica -> assertThat(disks.get(replica.bookie()))
                                .as("a replica that is to be read is there (I-9)")
                                .contains(segment.id().value()));
                boolean remote = segment.object()
                        .map(o -> bucket.objects().containsKey(o.key())
                                && bucket.objects().get(o.key()).length == o.length())
                        .orElse(false);
                assertThat(isOnADisk(segment.id()) || remote)
                        .as("segment %s is held by somebody", segment.id())
                        .isTrue();
                segment.object()
                        .filter(o -> !away.containsKey(o.key()))
                        .ifPresent(o -> assertThat(remote)
                                .as("what is committed is in the bucket (I-10)")
                                .isTrue());
            }
        }

        /** Nothing goes wrong any longer, and time passes. */
        private void settle() throws Exception {
            away.forEach(bucket::overwrite);
            away.clear();
            for (int round = 0; round < 400; round++) {
                clock.advance(5_000);
                metadata.plan();
                List<BookieTask> tasks = log.tasks();
                for (int i = 0; i < tasks.size(); i++) {
                    work(false);
                }
                boolean allRemote = log.state().chain().segments().stream()
                        .filter(s -> s.state() == SegmentDescriptor.State.SEALED)
                        .allMatch(s -> s.isOffloaded() && s.replicas().isEmpty());
                if (tasks.isEmpty() && allRemote) {
                    return;
                }
            }
            throw new AssertionError("it never came to rest: " + metadata.view().tasks());
        }

        private void assertReadBack() {
            ObjectWalk walk = new ObjectWalk(bucket, Lz4FrameCompression.INSTANCE, 4_000);
            Map<Long, ByteBuffer> read = new TreeMap<>();
            Set<String> seen = new TreeSet<>();
            for (SegmentDescriptor segment : log.state().chain().segments()) {
                ObjectRef object = segment.object().orElse(null);
                if (object != null && seen.add(object.key())) {
                    walk.verify(
                            object.key(),
                            object.length(),
                            block -> block.entriesFrom(0, Integer.MAX_VALUE, true)
                                    .forEach(entry -> read.put(entry.getLong(0), entry)));
                }
            }
            for (TestSegments.Segment segment : written.values()) {
                if (segment.descriptor().startOffset() >= log.state().logStartOffset()) {
                    segment.entries()
                            .forEach(entry ->
                                    assertThat(read.get(entry.getLong(0))).isEqualTo(entry));
                }
            }
        }

        private void assertBucketIsClean() {
            Scrubber scrubber = new Scrubber(bucket, clusterId, clock, 0);
            scrubber.clean(scrubber.lookByView(metadata::view, listed -> {}));
            Scrubber.Report report = scrubber.lookByView(metadata::view, listed -> {});
            assertThat(report.isClean()).as(report.toString()).isTrue();
            assertThat(bucket.objects().keySet()).isEqualTo(log.named());
            assertThat(bucket.openUploads()).isZero();
        }
    }
}
