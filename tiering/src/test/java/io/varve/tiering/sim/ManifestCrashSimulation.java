package io.varve.tiering.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.core.PlannerSettings;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.metadata.testing.StepClock;
import io.varve.tiering.api.ManifestEditor;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.core.OrphanScrub;
import io.varve.tiering.manifest.CachedManifests;
import io.varve.tiering.manifest.ManifestWalk;
import io.varve.tiering.manifest.ManifestWorker;
import io.varve.tiering.object.StoreFailures;
import io.varve.tiering.scrub.Scrubber;
import io.varve.tiering.testing.DyingObjectStore;
import io.varve.tiering.testing.MemoryObjectStore;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Bookies are killed at every step of building and pruning manifests: between any two calls to the store, and between the store and the metadata, whose real state machine and
 * planners they are driven by; answers of the metadata get lost, its leader dies before and after a command is committed, tasks are withdrawn and given to others while the first is still at it. After every step every offset from the
 * log's start on is described once, and its object is there (I-8, I-10, I-11); whoever still holds an old pointer gets what it asks for, or an error; in the end, after a scrub, the
 * bucket holds what is named and nothing else (S6, S10, S19). The oracle is the list of what was sealed.
 */
class ManifestCrashSimulation {

    private static final int SEEDS = Math.max(1, Integer.getInteger("varve.simulation.seeds", 200) / 4);
    private static final int STEPS = 400;
    private static final int MANIFEST_SEGMENTS_MIN = 3;
    private static final int SEGMENT_BYTES = 1_000;
    private static final int OBJECT_SEGMENTS_MAX = 3;
    /** The open segment, the object of the last sealed one (which stays), and fewer segments than are worth moving. */
    private static final int CHAIN_AT_REST = 1 + OBJECT_SEGMENTS_MAX + MANIFEST_SEGMENTS_MIN - 1;

    @Test
    void nothingIsLostAndNothingIsLeftBehindWhereverAProcessDies() {
        long crashes = 0;
        long built = 0;
        long pruned = 0;
        long lateRefused = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            Run run = new Run(seed, Bug.NONE, Ending.GOES_ON);
            OnePartition.run(seed, run);
            crashes += run.crashes;
            built += run.built;
            pruned += run.pruned;
            lateRefused += run.lateRefused;
        }
        assertThat(crashes).as("processes died").isGreaterThan(5L * SEEDS);
        assertThat(built).as("manifests were extended").isGreaterThan(5L * SEEDS);
        assertThat(pruned).as("manifests were pruned").isGreaterThan(2L * SEEDS);
        assertThat(lateRefused).as("of two builders one lost").isGreaterThan(SEEDS / 10);
    }

    @ParameterizedTest
    @EnumSource(value = Bug.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aPlantedBugIsFound(Bug bug) {
        OnePartition.assertFound(SEEDS, seed -> new Run(seed, bug, Ending.GOES_ON));
    }

    /** A topic that is deleted, a manifest that is lost: whoever clears away after them may die at every step as well. */
    @ParameterizedTest
    @EnumSource(value = Ending.class, mode = EnumSource.Mode.EXCLUDE, names = "GOES_ON")
    void whateverATopicComesToNothingIsLeftOfItWhereverAProcessDies(Ending ending) {
        long crashes = 0;
        long ends = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            Run run = new Run(seed, Bug.NONE, ending);
            OnePartition.run(seed, run);
            crashes += run.crashesAtTheEnd;
            ends += run.hasEnded ? 1 : 0;
        }
        assertThat(ends).as("histories that came to it").isGreaterThan(SEEDS / 2);
        assertThat(crashes).as("processes died while they cleared away").isGreaterThan(ends / 2);
    }

    /** What becomes of the topic in the end. */
    enum Ending {
        GOES_ON(false, false),
        TOPIC_DELETED(false, true),
        MANIFEST_LOST_AND_TOPIC_DELETED(true, true),
        MANIFEST_LOST_AND_PASSED_BY_THE_LOGS_START(true, false);

        private final boolean losesManifest;
        private final boolean deletesTopic;

        Ending(boolean losesManifest, boolean deletesTopic) {
            this.losesManifest = losesManifest;
            this.deletesTopic = deletesTopic;
        }
    }

    /** What the histories must be able to find. */
    enum Bug {
        NONE,
        /** A manifest whose writing died is committed as if it had been read back. */
        COMMIT_WITHOUT_READING_BACK,
        /** What a manifest describes is deleted one object too far. */
        PRUNE_TOO_FAR,
        /** Roots and leaves are deleted when the next ones are written, and not when those are committed. */
        DELETE_THE_OLD_BEFORE_THE_COMMIT,
        /** Nobody reads manifests when the bucket is scrubbed. */
        SCRUB_BY_THE_METADATA_ALONE
    }

    /** One history. */
    private static final class Run implements OnePartition.History {

        private static final int OFFSETS_EACH = 10;

        private final Bug bug;
        private final Ending ending;
        private final SplittableRandom random;
        private final OnePartition log;
        private final StepClock clock;
        private final MemoryObjectStore bucket;
        private final InMemoryMetadata metadata;
        private final MetadataClient client;
        private final PartitionId partition;
        private final String clusterId;
        /** What was sealed, by start offset: the oracle. */
        private final TreeMap<Long, Long> sealed = new TreeMap<>();

        private final List<ManifestRef> pointersSeen = new ArrayList<>();
        private final List<Runnable> lateCommits = new ArrayList<>();
        private int crashes;
        private int built;
        private int pruned;
        private int lateRefused;
        private int crashesAtTheEnd;
        private boolean hasEnded;

        Run(long seed, Bug bug, Ending ending) {
            this.bug = bug;
            this.ending = ending;
            random = new SplittableRandom(seed);
            PlannerSettings settings = new PlannerSettings(
                    1_000,
                    OBJECT_SEGMENTS_MAX * SEGMENT_BYTES,
                    1,
                    1_000,
                    20_000,
                    300_000,
                    30_000,
                    600_000,
                    4,
                    2,
                    8,
                    MANIFEST_SEGMENTS_MIN,
                    2,
                    600_000);
            log = new OnePartition(
                    seed,
                    settings,
                    Map.of(
                            "local.retention.ms", "2000",
                            "retention.ms", random.nextBoolean() ? "-1" : "400000",
                            "retention.bytes", random.nextBoolean() ? "-1" : "20000"));
            clock = log.clock;
            bucket = log.bucket;
            metadata = log.metadata;
            client = log.client;
            partition = log.id;
            clusterId = log.clusterId;
        }

        @Override
        public void go() {
            for (int step = 0; step < STEPS; step++) {
                switch (random.nextInt(8)) {
                    case 0 -> write();
                    case 1, 2 -> {
                        clock.advance(random.nextInt(15_000));
                        if (random.nextInt(8) == 0) {
                            metadata.killLeader();
                        }
                        metadata.plan();
                    }
                    case 3 -> deleteRecords();
                    case 4 -> {
                        if (random.nextInt(8) == 0) {
                            readByAnOldPointer();
                        }
                    }
                    default -> {
                        for (int tasks = 1 + random.nextInt(8); tasks > 0; tasks--) {
                            work(random.nextBoolean());
                        }
                    }
                }
                assertEverythingIsDescribedAndThere();
            }
            if (ending != Ending.GOES_ON) {
                end();
                return;
            }
            settle();
            assertEverythingIsDescribedAndThere();
            assertBucketIsClean();
        }

        /** It comes to its end, and for some time those die who clear away. */
        private void end() {
            Optional<ManifestRef> manifest = log.state().chain().manifest();
            if (ending.losesManifest && manifest.isEmpty()) {
                return; // This history has none.
            }
            if (ending.losesManifest) {
                lose(manifest.get());
            }
            hasEnded = true;
            if (ending.deletesTopic) {
                client.deleteTopic(partition.topic()).join();
            } else {
                long to = Math.max(log.state().logStartOffset(), log.open().startOffset());
                client.advanceLogStart(partition, 0, to).join();
            }
            int before = crashes;
            for (int round = 0; round < 400; round++) {
                clock.advance(5_000);
                metadata.plan();
                for (int tasks = metadata.view().tasks().size(); tasks > 0; tasks--) {
                    work(round < 100 && random.nextBoolean());
                }
                while (round > 100 && !lateCommits.isEmpty()) {
                    lateCommits.remove(0).run();
                }
            }
            crashesAtTheEnd = crashes - before;
            assertThat(metadata.view().tasks()).isEmpty();
            if (ending.deletesTopic) {
                assertThat(metadata.view().condemned()).isEmpty();
                assertThat(bucket.objects().keySet())
                        .as("what is left of the topic in the bucket")
                        .noneMatch(key -> key.startsWith(ObjectKeys.partitionPrefix(clusterId, partition)));
            } else {
                assertThat(log.state().chain().manifest())
                        .as("given up, since nobody may read what it named")
                        .isEmpty();
                assertThat(metadata.view().alarms()).isEmpty();
                assertThat(bucket.objects().keySet())
                        .as("parts of manifests")
                        .noneMatch(key -> key.startsWith(ObjectKeys.manifestPrefix(clusterId, partition)));
                assertEverythingIsDescribedAndThere();
                assertBucketIsClean();
            }
        }

        /** The store loses a part of it, or gives back something else. */
        private void lose(ManifestRef manifest) {
            List<String> parts = new ArrayList<>();
            new ManifestWalk(bucket, clusterId).walk(manifest, partition, 0, new ManifestWalk.Visitor() {
                @Override
                public void onManifest(String key, long length) {
                    parts.add(key);
                }

                @Override
                public void onSegment(SegmentDescriptor segment) {
                    // It stays.
                }
            });
            String lost = parts.get(random.nextInt(parts.size()));
            if (random.nextBoolean()) {
                bucket.overwrite(lost, new byte[bucket.objects().get(lost).length]);
            } else {
                bucket.delete(lost).join();
            }
        }

        /** The owner seals what it wrote and opens the next segment. */
        private void write() {
            long start = log.open().startOffset();
            log.roll(start + OFFSETS_EACH, SEGMENT_BYTES, clock.wallTimeMs());
            sealed.put(start, start + OFFSETS_EACH);
        }

        private void deleteRecords() {
            if (random.nextInt(6) == 0) {
                long start = log.state().logStartOffset();
                long to = start + random.nextInt(5 * OFFSETS_EACH);
                client.advanceLogStart(partition, 0, Math.min(to, log.open().startOffset()))
                        .join();
            }
        }

        /** A bookie does one of its tasks; one that works on a manifest may die on the way. */
        private void work(boolean dies) {
            if (!lateCommits.isEmpty() && random.nextInt(4) == 0) {
                lateCommits.remove(random.nextInt(lateCommits.size())).run();
            }
            List<BookieTask> tasks = log.tasks();
            if (tasks.isEmpty()) {
                return;
            }
            List<BookieTask> ofManifests = tasks.stream()
                    .filter(t -> t instanceof BookieTask.BuildManifest || t instanceof BookieTask.PruneManifest)
                    .toList();
            BookieTask task = !ofManifests.isEmpty() && random.nextInt(3) == 0
                    ? ofManifests.get(0)
                    : tasks.get(random.nextInt(tasks.size()));
            switch (random.nextInt(12)) {
                case 0, 1 -> metadata.loseAnswers(1);
                case 2 -> metadata.killLeaderAtNextCommand(true);
                case 3 -> metadata.killLeaderAtNextCommand(false);
                default -> {}
            }
            if (task instanceof BookieTask.Offload offload) {
                offload(offload);
            } else if (task instanceof BookieTask.DeleteReplica || task instanceof BookieTask.DeleteObject) {
                delete(task, dies);
            } else {
                DyingObjectStore store =
                        new DyingObjectStore(bucket, dies ? random.nextInt(8) : Long.MAX_VALUE, random.nextBoolean());
                edit(task, store);
                crashes += store.isDead() ? 1 : 0;
            }
            metadata.endFaults();
        }

        /** One that dies has deleted and not said so: it is ordered again. */
        private void delete(BookieTask task, boolean dies) {
            if (task instanceof BookieTask.DeleteObject deletion) {
                bucket.delete(deletion.key()).join();
            }
            if (!dies) {
                OnePartition.ignoreLoss(() -> client.completeTask(task.taskId()).join());
            }
        }

        /** That an upload may die is {@link OffloadCrashSimulation}'s matter: here it never does. */
        private void offload(BookieTask.Offload task) {
            SegmentDescriptor first =
                    metadata.view().segment(task.segments().get(0)).orElseThrow();
            SegmentDescriptor last = metadata.view()
                    .segment(task.segments().get(task.segments().size() - 1))
                    .orElseThrow();
            String key = ObjectKeys.segment(clusterId, partition, first.startOffset(), task.taskId());
            bucket.put(key, ByteBuffer.allocate(10 * task.segments().size())).join();
            ObjectRef object = new ObjectRef(
                    key,
                    task.taskId(),
                    10L * task.segments().size(),
                    1,
                    first.startOffset(),
                    last.endOffset(),
                    last.maxTimestampMs());
            OnePartition.ignoreLoss(
                    () -> client.commitOffload(task.taskId(), object).join());
        }

        private void edit(BookieTask task, DyingObjectStore store) {
            ManifestEditor.Edited edited;
            try {
                edited = task instanceof BookieTask.BuildManifest build
                        ? build(build, store)
                        : prune((BookieTask.PruneManifest) task, store);
            } catch (RemoteReadException failed) {
                assertThat(store.isDead() || hasEnded && ending.losesManifest)
                        .as(failed.getMessage())
                        .isTrue();
                if (bug == Bug.COMMIT_WITHOUT_READING_BACK && task instanceof BookieTask.BuildManifest build) {
                    commitUnread(build);
                } else if (random.nextBoolean()) {
                    // A restarted bookie finds the task given to its former life; or it never comes back.
                    OnePartition.ignoreLoss(
                            () -> client.failTask(task.taskId(), "restarted").join());
                }
                return;
            }
            if (store.isDead()) {
                return;
            }
            if (bug == Bug.DELETE_THE_OLD_BEFORE_THE_COMMIT) {
                edited.superseded().forEach(key -> bucket.delete(key).join());
            }
            Runnable commit = () -> commit(task, edited);
            if (random.nextInt(4) == 0) {
                // It hangs before it says so, until the task was given to somebody else, or not so long.
                lateCommits.add(commit);
            } else {
                commit.run();
            }
        }

        private ManifestEditor.Edited build(BookieTask.BuildManifest task, DyingObjectStore store) {
            List<SegmentDescriptor> added = metadata.view().partition(partition).stream()
                    .flatMap(state -> state.chain().from(task.startOffset()).values().stream())
                    .filter(s -> s.endOffset() >= 0 && s.endOffset() <= task.endOffset())
                    .toList();
            boolean isThere = !added.isEmpty() && added.get(0).startOffset() == task.startOffset();
            if (!isThere) {
                OnePartition.ignoreLoss(() ->
                        client.failTask(task.taskId(), "the chain moved on").join());
                return new ManifestEditor.Edited(Optional.empty(), List.of());
            }
            return new ManifestWorker(store, clusterId, new SimpleMeterRegistry())
                    .extend(partition, task.before(), task.taskId(), added);
        }

        private ManifestEditor.Edited prune(BookieTask.PruneManifest task, DyingObjectStore store) {
            long below = bug == Bug.PRUNE_TOO_FAR ? task.belowOffset() + 3 * OFFSETS_EACH : task.belowOffset();
            return new ManifestWorker(store, clusterId, new SimpleMeterRegistry())
                    .prune(partition, task.manifest(), task.taskId(), below, () -> true);
        }

        private void commit(BookieTask task, ManifestEditor.Edited edited) {
            if (task instanceof BookieTask.BuildManifest && edited.manifest().isEmpty()) {
                return;
            }
            boolean stands = metadata.view().tasks().contains(task);
            OnePartition.ignoreLoss(() -> client.commitManifest(task.taskId(), edited.manifest(), edited.superseded())
                    .join());
            if (!stands) {
                lateRefused++;
            } else if (task instanceof BookieTask.BuildManifest) {
                built++;
            } else {
                pruned++;
            }
            metadata.view()
                    .partition(partition)
                    .flatMap(state -> state.chain().manifest())
                    .ifPresent(pointersSeen::add);
        }

        private void commitUnread(BookieTask.BuildManifest task) {
            long start = task.before().map(ManifestRef::startOffset).orElse(task.startOffset());
            ManifestRef claimed = new ManifestRef(
                    ObjectKeys.manifestRoot(clusterId, partition, task.taskId()),
                    task.taskId(),
                    start,
                    task.endOffset(),
                    3,
                    3_000,
                    -1,
                    100,
                    1,
                    List.of(new ManifestRef.Mark(task.endOffset(), 3_000, -1)));
            OnePartition.ignoreLoss(() -> client.commitManifest(task.taskId(), Optional.of(claimed), List.of())
                    .join());
        }

        /** A reader of yesterday gets the segment that it asks for, or is told that it can't be read: never another, never none. */
        private void readByAnOldPointer() {
            if (pointersSeen.isEmpty()) {
                return;
            }
            ManifestRef old = pointersSeen.get(random.nextInt(pointersSeen.size()));
            long offset = old.startOffset() + random.nextLong(old.endOffset() - old.startOffset());
            CachedManifests manifests = new CachedManifests(
                    bucket, clusterId, 1 << 20, clock, new SimpleMeterRegistry(), at -> true, (what, fault) -> {
                        throw new AssertionError(what, fault);
                    });
            try {
                SegmentDescriptor found =
                        manifests.segmentAt(old, partition, offset).join().orElseThrow();
                Map.Entry<Long, Long> wanted = sealed.floorEntry(offset);
                assertThat(found.startOffset()).isEqualTo(wanted.getKey());
                assertThat(found.endOffset()).isEqualTo(wanted.getValue());
            } catch (CompletionException e) {
                assertThat(StoreFailures.root(e))
                        .isInstanceOfSatisfying(
                                RemoteReadException.class,
                                told -> assertThat(told.kind()).isEqualTo(RemoteReadException.Kind.MISSING));
                assertThat(log.state().chain().manifest())
                        .as("only what was replaced")
                        .isNotEqualTo(Optional.of(old));
            }
        }

        private void assertEverythingIsDescribedAndThere() {
            PartitionState state = log.state();
            TreeMap<Long, Long> described = new TreeMap<>();
            List<SegmentDescriptor> all = new ArrayList<>();
            state.chain()
                    .manifest()
                    .ifPresent(
                            manifest -> new ManifestWalk(bucket, clusterId).segments(manifest, partition, 0, all::add));
            all.addAll(state.chain().segments());
            for (SegmentDescriptor segment : all) {
                if (segment.state() != SegmentDescriptor.State.SEALED
                        || segment.endOffset() <= state.logStartOffset()) {
                    continue;
                }
                described.put(segment.startOffset(), segment.endOffset());
                segment.object()
                        .ifPresent(object -> assertThat(bucket.objects())
                                .as("the object of segment %s", segment.id())
                                .containsKey(object.key()));
                assertThat(segment.isOffloaded() || !segment.replicas().isEmpty())
                        .as("segment %s is held by somebody", segment.id())
                        .isTrue();
            }
            TreeMap<Long, Long> wanted = new TreeMap<>(sealed);
            wanted.values().removeIf(end -> end <= state.logStartOffset());
            assertThat(described).as("every sealed segment, once").isEqualTo(wanted);
        }

        /** Nobody dies any longer, and time passes. */
        private void settle() {
            for (int round = 0; round < 400; round++) {
                clock.advance(5_000);
                metadata.plan();
                int tasks = metadata.view().tasks().size();
                for (int i = 0; i < tasks; i++) {
                    work(false);
                }
                boolean isDone = metadata.view().tasks().isEmpty()
                        && lateCommits.isEmpty()
                        && log.state().chain().size() <= CHAIN_AT_REST
                        && metadata.plan() == 0;
                if (isDone && round > 80) {
                    return;
                }
                while (!lateCommits.isEmpty()) {
                    lateCommits.remove(0).run();
                }
            }
            throw new AssertionError("it never came to rest: tasks "
                    + metadata.view().tasks() + ", late commits " + lateCommits.size() + ", " + log.state());
        }

        private void assertBucketIsClean() {
            clock.advance(1);
            Scrubber scrubber = new Scrubber(bucket, clusterId, clock, 0);
            Scrubber.Report dry = scrubber.lookByView(metadata::view, listed -> {});
            assertThat(dry.wrong()).isEmpty();
            assertThat(dry.counts()).doesNotContainKey(OrphanScrub.Verdict.UNKNOWN);
            if (bug == Bug.SCRUB_BY_THE_METADATA_ALONE) {
                Set<String> named = log.named();
                List.copyOf(bucket.objects().keySet()).stream()
                        .filter(key -> !named.contains(key))
                        .forEach(key -> bucket.delete(key).join());
                assertEverythingIsDescribedAndThere();
            }
            scrubber.clean(dry);
            assertThat(scrubber.lookByView(metadata::view, listed -> {}).isClean())
                    .isTrue();
            Set<String> named = log.named();
            log.state()
                    .chain()
                    .manifest()
                    .ifPresent(manifest -> new ManifestWalk(bucket, clusterId)
                            .walk(manifest, partition, 0, new ManifestWalk.Visitor() {
                                @Override
                                public void onManifest(String key, long length) {
                                    named.add(key);
                                }

                                @Override
                                public void onSegment(SegmentDescriptor segment) {
                                    named.add(segment.object().orElseThrow().key());
                                }
                            }));
            assertThat(bucket.objects().keySet()).isEqualTo(named);
            assertEverythingIsDescribedAndThere();
        }
    }
}
