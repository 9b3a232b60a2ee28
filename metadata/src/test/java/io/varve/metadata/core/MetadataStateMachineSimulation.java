package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.protocol.meta.BookieStateProto;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.CompleteTaskCommand;
import io.varve.protocol.meta.ConfirmReplicaCommand;
import io.varve.protocol.meta.DeleteTopicCommand;
import io.varve.protocol.meta.FailTaskCommand;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.PlanCommand;
import io.varve.protocol.meta.ReportLostReplicaCommand;
import io.varve.protocol.meta.SealProto;
import io.varve.protocol.meta.SetBookieStateCommand;
import io.varve.sim.SimSeeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random commands at the state machine and its planners, with owners that are honest but late, bookies that die, lose directories, fail their work and report twice. The oracles keep books
 * of their own: where copies were put and who was ordered to delete them.
 */
class MetadataStateMachineSimulation {

    private static final int STEPS = 400;

    /** So many are not deleted: in each of them something is to happen. */
    private static final int TOPICS_MIN = 4;

    /** Shorter than a run: objects are deleted while it goes on. */
    private static final String OBJECT_GRACE_MS = "500";

    /** Over all seeds. */
    private static final AtomicInteger rewrites = new AtomicInteger();

    @AfterAll
    static void someRewritesTookTheirPlace() {
        assertThat(rewrites).as("rewrites that took their place").hasPositiveValue();
    }

    static LongStream seeds() {
        return SimSeeds.oneIn(2);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsItsInvariantsUnderAnyCommands(long seed) {
        Run run = new Run(seed);
        for (int step = 0; step < STEPS; step++) {
            run.step();
            run.check();
        }
        run.finish();
        rewrites.addAndGet(run.rewritesSeen);
        run.checkReplayAndSnapshot();
        assertThat(new Run(seed).replayed(STEPS))
                .as("the same seed gives the same state")
                .isEqualTo(run.digestAfterSteps);
    }

    /** What an object holds of a partition. */
    private record Held(PartitionId partition, long startOffset, long endOffset) {

        static Held of(BookieTask.Offload offload, ObjectRef object) {
            return new Held(offload.partition(), object.startOffset(), object.endOffset());
        }
    }

    /** One seed's. */
    static final class Run {
        final Cluster cluster;
        private final SplittableRandom random;
        private final Map<PartitionId, Integer> epochs = new TreeMap<>();
        private final Map<PartitionId, Long> starts = new TreeMap<>();
        private final Map<SegmentId, Long> ends = new TreeMap<>();
        private final Set<SegmentId> everGiven = new TreeSet<>();
        private final Set<Long> tasksGiven = new TreeSet<>();

        /** Copies that bookies hold by what the metadata said: put there by allocation or copy, gone only by a completed deletion or with the directory. */
        private final Map<SegmentId, Set<BookieId>> held = new TreeMap<>();

        /** Objects that the bucket holds, and what of: there from the commit on, gone by a completed deletion or a pruning. */
        private final Map<String, Held> bucket = new TreeMap<>();

        private final ModelManifests manifests = new ModelManifests("c");
        private final List<MetadataCommand.Builder> lateCommands = new ArrayList<>();
        private int recordsSeen;
        private int rewritesSeen;
        private int nextName;
        private long nextDirectory = 1;
        private long digestAfterSteps;

        Run(long seed) {
            this(seed, new Cluster());
        }

        Run(long seed, Cluster formed) {
            cluster = formed;
            random = new SplittableRandom(seed);
            cluster.settings = new PlannerSettings(
                    500, 1 << 20, 1 << 10, 5_000, 20_000, 300_000, 3_000, 10_000, 2, 2, 4, 3, 2, 60_000);
            cluster.clusterConfig("metadata.object.grace.ms", OBJECT_GRACE_MS);
            int bookies = 3 + random.nextInt(3);
            for (int id = 1; id <= bookies; id++) {
                registerBookie(id, true);
            }
            for (int id = 1; id <= 1 + random.nextInt(3); id++) {
                cluster.broker(id);
            }
        }

        long replayed(int steps) {
            for (int i = 0; i < steps; i++) {
                step();
            }
            return cluster.image().digest();
        }

        private void registerBookie(int id, boolean fresh) {
            BookieId bookie = new BookieId(id);
            List<Long> directories = cluster.image()
                    .bookie(bookie)
                    .filter(b -> !fresh)
                    .map(b -> b.incarnations())
                    .orElseGet(() -> List.of(nextDirectory++, nextDirectory++));
            if (fresh) {
                held.values().forEach(holders -> holders.remove(bookie));
            }
            cluster.done(Cluster.registerBookie(
                    id, random.nextLong() | 1, "rack" + id % 2, true, directories.toArray(Long[]::new)));
        }

        void step() {
            cluster.nowMs += random.nextInt(400);
            switch (random.nextInt(22)) {
                case 0 ->
                    cluster.apply(cluster.createTopic(
                            "t" + nextName++,
                            1 + random.nextInt(4),
                            1 + random.nextInt(3),
                            "segment.bytes",
                            "2048",
                            "retention.ms",
                            random.nextBoolean() ? "-1" : "20000",
                            "local.retention.ms",
                            random.nextBoolean() ? "-2" : "5000",
                            "cleanup.policy",
                            random.nextInt(3) == 0 ? "compact" : "delete",
                            "remote.storage.enable",
                            random.nextInt(3) == 0 ? "false" : "true"));
                case 1 -> deleteSomeTopic();
                case 2 -> expireSomebody();
                case 3 -> bringSomebodyBack();
                case 4, 5, 6, 7, 8 -> ownerRolls();
                case 9 -> somePartition().ifPresent(p -> apply(Cluster.allocate(p.id(), p.epoch())));
                case 10 -> ownerReleases();
                case 11 ->
                    somePartition()
                            .ifPresent(p ->
                                    apply(Cluster.advance(p.id(), p.epoch(), p.logStartOffset() + random.nextInt(30))));
                case 12, 13 -> plan();
                case 14, 15, 16 -> bookieReports();
                case 17 -> reportAboutReplica();
                case 18 -> drainOrNot();
                case 19, 20 -> ownerRewrites();
                default -> sendLate();
            }
            digestAfterSteps = cluster.image().digest();
        }

        private CommandReply apply(MetadataCommand.Builder command) {
            if (random.nextInt(10) == 0) {
                lateCommands.add(command.clone());
            }
            return cluster.apply(command);
        }

        /** The planners look at an image; what they propose may arrive when the state has moved on, and more than once. */
        private void plan() {
            Plan plan = Planner.plan(cluster.image(), cluster.nowMs, cluster.settings, cluster.cursor);
            cluster.cursor = plan.next();
            MetadataCommand.Builder command = MetadataCommand.newBuilder()
                    .setPlan(PlanCommand.newBuilder().addAllSteps(plan.steps()));
            if (random.nextInt(3) == 0) {
                lateCommands.add(command);
            } else {
                applyPlan(command);
            }
        }

        /** Whatever the planners propose, and however late: no segment has fewer copies than it should because of it. */
        private void applyPlan(MetadataCommand.Builder command) {
            Map<SegmentId, Integer> before = new TreeMap<>();
            for (SegmentId id : cluster.image().segmentIndex().localOnly()) {
                before.put(id, cluster.segment(id).replicas().size());
            }
            cluster.done(command);
            for (SegmentId id : cluster.image().segmentIndex().localOnly()) {
                SegmentDescriptor segment = cluster.segment(id);
                cluster.image()
                        .topic(segment.partition().topic())
                        .ifPresent(topic -> assertThat(segment.replicas().size())
                                .as("copies after a plan")
                                .isGreaterThanOrEqualTo(Math.min(before.get(id), topic.replicas())));
            }
        }

        private void sendLate() {
            if (!lateCommands.isEmpty()) {
                MetadataCommand.Builder late = lateCommands.remove(random.nextInt(lateCommands.size()));
                if (late.hasPlan()) {
                    applyPlan(late);
                } else {
                    cluster.apply(late);
                }
            }
        }

        private Optional<PartitionState> somePartition() {
            List<PartitionState> all = partitions();
            return all.isEmpty() ? Optional.empty() : Optional.of(all.get(random.nextInt(all.size())));
        }

        private void deleteSomeTopic() {
            List<Topic> topics = List.copyOf(cluster.image().topics());
            if (topics.size() > TOPICS_MIN) {
                Topic topic = topics.get(random.nextInt(topics.size()));
                cluster.done(MetadataCommand.newBuilder()
                        .setDeleteTopic(DeleteTopicCommand.newBuilder().setId(ProtoModel.toProto(topic.id()))));
            }
        }

        private void expireSomebody() {
            if (random.nextBoolean()) {
                cluster.expireBroker(
                        1 + random.nextInt(cluster.image().brokers().size()));
            } else {
                cluster.expireBookie(
                        1 + random.nextInt(cluster.image().bookies().size()));
            }
        }

        private void bringSomebodyBack() {
            if (random.nextBoolean()) {
                cluster.broker(1 + random.nextInt(cluster.image().brokers().size()));
            } else {
                registerBookie(1 + random.nextInt(cluster.image().bookies().size()), random.nextInt(6) == 0);
            }
        }

        private SealProto.Builder honestSeal(SegmentDescriptor open) {
            List<Integer> live = new ArrayList<>();
            for (Replica replica : open.replicas()) {
                if (held.getOrDefault(open.id(), Set.of()).contains(replica.bookie())) {
                    live.add(replica.bookie().value());
                }
            }
            int[] holders =
                    live.stream().limit(1 + random.nextInt(3)).mapToInt(i -> i).toArray();
            long end = open.startOffset() + (holders.length == 0 ? 0 : random.nextInt(20));
            return Cluster.seal(open, end, holders.length == 0 ? new int[] {99} : holders)
                    .setBytes((end - open.startOffset()) * 100)
                    .setMaxTimestampMs(cluster.nowMs - random.nextInt(1_000));
        }

        private void ownerRolls() {
            somePartition().ifPresent(p -> {
                CommandReply allocated = apply(Cluster.allocate(p.id(), p.epoch()));
                check();
                if (!allocated.hasRejection()) {
                    SealProto.Builder seal =
                            p.chain().open().map(this::honestSeal).orElse(null);
                    apply(Cluster.roll(p.id(), p.epoch(), seal, new SegmentId(allocated.getSegment())));
                }
            });
        }

        /** Asks for a rewrite of some neighbours, and exchanges it for them at once, late, or never. */
        private void ownerRewrites() {
            List<PartitionState> all = partitions();
            all.removeIf(p -> someNeighbours(p).isEmpty());
            if (!all.isEmpty()) {
                ownerRewrites(all.get(random.nextInt(all.size())));
            }
        }

        private void ownerRewrites(PartitionState p) {
            List<SegmentDescriptor> inputs = someNeighbours(p);
            CommandReply allocated = apply(Cluster.allocateRewrite(p.id(), p.epoch(), inputs));
            check();
            if (allocated.hasRejection()) {
                return;
            }
            SegmentDescriptor rewrite = cluster.segment(new SegmentId(allocated.getSegment()));
            int[] holders = held.get(rewrite.id()).stream()
                    .limit(1 + random.nextInt(3))
                    .mapToInt(BookieId::value)
                    .toArray();
            MetadataCommand.Builder replace = Cluster.replace(
                    p.id(),
                    p.epoch(),
                    Cluster.seal(rewrite, rewrite.endOffset(), holders).setMaxTimestampMs(cluster.nowMs),
                    inputs);
            if (random.nextBoolean()) {
                long length = rewrite.endOffset() - rewrite.startOffset();
                replace.getReplaceSegmentsBuilder()
                        .setCompactedEnd(rewrite.startOffset() + 1 + random.nextLong(length));
            }
            switch (random.nextInt(4)) {
                case 0 -> lateCommands.add(replace);
                case 1 -> {
                    // Its owner forgot it, or was lost.
                }
                default -> apply(replace);
            }
        }

        private List<SegmentDescriptor> someNeighbours(PartitionState partition) {
            List<SegmentDescriptor> sealed = partition.chain().segments().stream()
                    .filter(segment -> segment.state() == SegmentDescriptor.State.SEALED)
                    .toList();
            if (sealed.isEmpty()) {
                return List.of();
            }
            int from = random.nextInt(sealed.size());
            return sealed.subList(from, from + 1 + random.nextInt(Math.min(4, sealed.size() - from)));
        }

        private void ownerReleases() {
            somePartition()
                    .ifPresent(p -> apply(Cluster.release(
                            p.id(),
                            p.epoch(),
                            p.chain().open().map(this::honestSeal).orElse(null))));
        }

        private void bookieReports() {
            List<BookieTask> tasks = List.copyOf(cluster.image().tasks());
            for (int i = 0; i < Math.min(tasks.size(), 1 + random.nextInt(8)); i++) {
                report(tasks.get(random.nextInt(tasks.size())));
            }
        }

        private void report(BookieTask task) {
            boolean alive = cluster.image()
                    .bookie(task.bookie())
                    .filter(b -> b.state() != BookieInfo.State.GONE)
                    .isPresent();
            boolean stands = cluster.image().tasks().contains(task);
            if (!alive || !stands) {
                return;
            }
            if (random.nextInt(5) == 0) {
                apply(MetadataCommand.newBuilder()
                        .setFailTask(FailTaskCommand.newBuilder().setTask(task.taskId())));
            } else if (task instanceof BookieTask.Offload offload) {
                ObjectRef object = cluster.objectOf(offload);
                bucket.put(object.key(), Held.of(offload, object));
                apply(Cluster.commit(offload, object));
            } else if (task instanceof BookieTask.BuildManifest build) {
                apply(manifests.built(build, cluster.image()));
            } else if (task instanceof BookieTask.PruneManifest prune) {
                bucket.keySet().removeAll(manifests.deletedBy(prune));
                check();
                apply(manifests.pruned(prune));
            } else {
                carryOut(task);
                apply(MetadataCommand.newBuilder()
                        .setCompleteTask(CompleteTaskCommand.newBuilder().setTask(task.taskId())));
            }
        }

        private void carryOut(BookieTask task) {
            if (task instanceof BookieTask.DeleteReplica delete) {
                held.getOrDefault(delete.segment(), new TreeSet<>()).remove(delete.bookie());
            } else if (task instanceof BookieTask.CopyReplica copy) {
                held.computeIfAbsent(copy.segment(), s -> new TreeSet<>()).add(copy.bookie());
            } else if (task instanceof BookieTask.DeleteObject delete) {
                Held gone = bucket.remove(delete.key());
                if (gone != null) {
                    checkRestorable(gone);
                }
            }
        }

        /** Should all bookies be lost now: what they alone have the newest form of was once in the bucket, and is still there in an older one. */
        private void checkRestorable(Held gone) {
            PartitionState partition =
                    cluster.image().partition(gone.partition()).orElse(null);
            if (partition == null) {
                return;
            }
            for (SegmentDescriptor segment : partition.chain().segments()) {
                long from = Math.max(Math.max(gone.startOffset(), segment.startOffset()), partition.logStartOffset());
                long to = Math.min(gone.endOffset(), segment.endOffset());
                while (segment.state() == SegmentDescriptor.State.SEALED && !segment.isOffloaded() && from < to) {
                    from = heldInBucketUpTo(partition.id(), from);
                }
            }
        }

        private long heldInBucketUpTo(PartitionId partition, long offset) {
            return bucket.values().stream()
                    .filter(held -> held.partition().equals(partition)
                            && held.startOffset() <= offset
                            && held.endOffset() > offset)
                    .mapToLong(Held::endOffset)
                    .max()
                    .orElseThrow(
                            () -> new AssertionError("I-11 of " + partition + " a restoration would miss " + offset));
        }

        private void reportAboutReplica() {
            somePartition().ifPresent(p -> {
                List<SegmentDescriptor> segments = List.copyOf(p.chain().segments());
                if (segments.isEmpty()) {
                    return;
                }
                SegmentDescriptor segment = segments.get(random.nextInt(segments.size()));
                BookieId bookie = new BookieId(
                        1 + random.nextInt(cluster.image().bookies().size()));
                boolean isThere = held.getOrDefault(segment.id(), Set.of()).contains(bookie);
                if (isThere && random.nextInt(4) != 0) {
                    apply(MetadataCommand.newBuilder()
                            .setConfirmReplica(ConfirmReplicaCommand.newBuilder()
                                    .setSegment(segment.id().value())
                                    .setBookie(bookie.value())));
                } else {
                    apply(MetadataCommand.newBuilder()
                            .setReportLostReplica(ReportLostReplicaCommand.newBuilder()
                                    .setSegment(segment.id().value())
                                    .setBookie(bookie.value())));
                }
            });
        }

        private void drainOrNot() {
            int id = 1 + random.nextInt(cluster.image().bookies().size());
            cluster.done(MetadataCommand.newBuilder()
                    .setSetBookieState(SetBookieStateCommand.newBuilder()
                            .setId(id)
                            .setState(
                                    random.nextInt(3) == 0
                                            ? BookieStateProto.BOOKIE_DRAINING
                                            : BookieStateProto.BOOKIE_WRITABLE)));
        }

        /** Everything that must be true after each command. */
        void check() {
            MetadataImage image = cluster.image();
            noteNewSegmentsAndTasks(image);
            for (Topic topic : image.topics()) {
                for (PartitionState partition : image.partitions(topic.id())) {
                    checkPartition(partition);
                }
            }
            checkIndexes(image);
        }

        private void noteNewSegmentsAndTasks(MetadataImage image) {
            List<MetadataRecord> fresh = cluster.records.subList(recordsSeen, cluster.records.size());
            for (MetadataRecord record : fresh) {
                if (record.hasStretchReplaced()) {
                    rewritesSeen++;
                    SegmentDescriptor segment =
                            ProtoModel.fromProto(record.getStretchReplaced().getSegment());
                    assertThat(ends.putIfAbsent(segment.id(), segment.endOffset()))
                            .as("a rewrite takes its place once")
                            .isNull();
                    assertThat(segment.replicas())
                            .as("I-1 a rewrite is held before what it replaces goes")
                            .hasSizeGreaterThanOrEqualTo(segment.acks());
                } else if (record.hasSegment()) {
                    SegmentDescriptor segment = ProtoModel.fromProto(record.getSegment());
                    if (segment.state() == SegmentDescriptor.State.PENDING) {
                        assertThat(everGiven.add(segment.id()))
                                .as("segment ids are never reused")
                                .isTrue();
                        Set<BookieId> holders = held.computeIfAbsent(segment.id(), s -> new TreeSet<>());
                        segment.replicas().forEach(r -> holders.add(r.bookie()));
                    }
                    if (segment.state() == SegmentDescriptor.State.SEALED) {
                        Long before = ends.putIfAbsent(segment.id(), segment.endOffset());
                        assertThat(before).as("a seal is final").isIn(null, segment.endOffset());
                    }
                } else if (record.hasTask()) {
                    assertThat(tasksGiven.add(record.getTask().getId()))
                            .as("task ids are never reused")
                            .isTrue();
                }
            }
            recordsSeen = cluster.records.size();
        }

        private void checkPartition(PartitionState partition) {
            int epoch = epochs.merge(partition.id(), partition.epoch(), Math::max);
            assertThat(partition.epoch()).as("epochs only rise").isEqualTo(epoch);
            long start = starts.merge(partition.id(), partition.logStartOffset(), Math::max);
            assertThat(partition.logStartOffset()).as("log starts only rise").isEqualTo(start);
            long expected = checkManifest(partition);
            for (SegmentDescriptor segment : partition.chain().segments()) {
                checkObject(partition, segment);
                assertThat(expected == -1 || segment.startOffset() == expected)
                        .as("I-8 contiguous")
                        .isTrue();
                assertThat(expected != SegmentDescriptor.UNSEALED
                                || segment == partition.chain().first().orElseThrow())
                        .as("I-8 only the last is open")
                        .isTrue();
                expected = segment.endOffset();
                checkCopies(partition, segment);
            }
        }

        /** What a pointer describes adjoins, and is in the bucket as far as it may be read; answers where the chain has to go on. */
        private long checkManifest(PartitionState partition) {
            ManifestRef manifest = partition.chain().manifest().orElse(null);
            if (manifest == null) {
                return -1;
            }
            long expected = manifest.startOffset();
            for (SegmentDescriptor segment : manifests.described(manifest)) {
                assertThat(segment.startOffset()).as("I-8 contiguous").isEqualTo(expected);
                expected = segment.endOffset();
                checkObject(partition, segment);
            }
            assertThat(manifest.endOffset()).as("I-8 to the end").isEqualTo(expected);
            assertThat(partition.logStartOffset())
                    .as("nothing readable was pruned")
                    .isGreaterThanOrEqualTo(manifest.startOffset());
            return expected;
        }

        private void checkObject(PartitionState partition, SegmentDescriptor segment) {
            if (segment.endOffset() > partition.logStartOffset()) {
                segment.object()
                        .ifPresent(object -> assertThat(bucket)
                                .as("I-11 what may be read is there")
                                .containsKey(object.key()));
            }
        }

        /** Readable data that is in the chain is in object storage or on a bookie that was never ordered to delete it. */
        private void checkCopies(PartitionState partition, SegmentDescriptor segment) {
            if (segment.state() != SegmentDescriptor.State.SEALED
                    || segment.isOffloaded()
                    || segment.endOffset() <= partition.logStartOffset()) {
                return;
            }
            for (Replica replica : segment.replicas()) {
                boolean ordered = cluster.image().tasksOf(replica.bookie()).stream()
                        .anyMatch(task -> task instanceof BookieTask.DeleteReplica delete
                                && delete.segment().equals(segment.id()));
                assertThat(ordered)
                        .as("I-9 a replica that counts is not ordered to be deleted")
                        .isFalse();
                boolean incarnationIsThere = cluster.image()
                        .bookie(replica.bookie())
                        .filter(b -> b.incarnations().contains(replica.incarnation()))
                        .isPresent();
                assertThat(incarnationIsThere)
                        .as("I-5 a replica that counts is in a directory in service")
                        .isTrue();
                assertThat(held.get(segment.id()))
                        .as("a replica that counts is there")
                        .contains(replica.bookie());
            }
        }

        private void checkIndexes(MetadataImage image) {
            Set<SegmentId> localOnly = new TreeSet<>();
            Set<SegmentId> inBoth = new TreeSet<>();
            Map<BookieId, Integer> written = new TreeMap<>();
            int[] placed = new int[1];
            image.forEachSegment(segment -> {
                assertThat(image.find(segment.id())).isSameAs(segment);
                placed[0] += segment.state() == SegmentDescriptor.State.PENDING ? 0 : 1;
                if (segment.state() != SegmentDescriptor.State.SEALED) {
                    segment.replicas().forEach(r -> written.merge(r.bookie(), 1, Integer::sum));
                } else if (!segment.isOffloaded()) {
                    localOnly.add(segment.id());
                } else if (!segment.replicas().isEmpty()
                        || !segment.unconfirmed().isEmpty()) {
                    inBoth.add(segment.id());
                }
            });
            assertThat(image.segmentIndex().places()).hasSize(placed[0]);
            assertThat(Set.copyOf(image.segmentIndex().localOnly())).isEqualTo(localOnly);
            assertThat(Set.copyOf(image.segmentIndex().inBoth())).isEqualTo(inBoth);
            assertThat(new TreeMap<>(image.segmentIndex().writtenOn())).isEqualTo(written);
        }

        /** Faults stop; everybody is there and does its work: nothing may be left to do. */
        void finish() {
            for (int id = 1; id <= cluster.image().bookies().size(); id++) {
                registerBookie(id, false);
                cluster.done(MetadataCommand.newBuilder()
                        .setSetBookieState(SetBookieStateCommand.newBuilder()
                                .setId(id)
                                .setState(BookieStateProto.BOOKIE_WRITABLE)));
            }
            check();
            for (int round = 0; round < 400; round++) {
                cluster.nowMs += 5_000;
                int steps = cluster.planOnce();
                check();
                for (BookieTask task : cluster.image().tasks()) {
                    finishTask(task);
                }
                check();
                boolean isDone = cluster.image().tasks().isEmpty()
                        && cluster.image().taskIndex().deadObjects().values().stream()
                                .allMatch(this::isAllThatIsLeft)
                        && cluster.image()
                                .taskIndex()
                                .manifests()
                                .deadStretches()
                                .isEmpty()
                        && cluster.image().partitionIndex().condemned().isEmpty()
                        && partitions().stream().noneMatch(this::isHeadLeftInRaft);
                if (steps == 0 && isDone && cluster.cursor.isAtStart()) {
                    return;
                }
            }
            throw new AssertionError("Work is left: " + cluster.image().tasks() + " "
                    + cluster.image().taskIndex().deadObjects() + " "
                    + partitions().stream().filter(this::isHeadLeftInRaft).toList());
        }

        /** Of a rewrite whose every copy is lost there is only what it replaced: that stays for a restoration (ADR 0091). */
        private boolean isAllThatIsLeft(DeadObject dead) {
            if (!dead.isTheOnlyOneInTheBucket(cluster.image())) {
                return false;
            }
            DeadObject.Held held = dead.held().orElseThrow();
            return cluster.partition(held.partition()).chain().segments().stream()
                    .filter(segment ->
                            segment.startOffset() < held.endOffset() && segment.endOffset() > held.startOffset())
                    .allMatch(segment ->
                            segment.isOffloaded() || segment.replicas().isEmpty());
        }

        /** Whether so much of a chain's head is in object storage alone that it ought to be in a manifest. */
        private boolean isHeadLeftInRaft(PartitionState partition) {
            Topic topic = cluster.image().topic(partition.id().topic()).orElseThrow();
            if (topic.configs().get("cleanup.policy").equals("compact")) {
                return false;
            }
            List<SegmentDescriptor> segments = List.copyOf(partition.chain().segments());
            boolean isOpen = partition.chain().open().isPresent();
            for (int count = segments.size() - (isOpen ? 2 : 1);
                    count >= cluster.settings.manifestSegmentsMin();
                    count--) {
                if (isInObjectStorageAlone(segments.subList(0, count))
                        && isBetweenObjects(
                                partition.id(),
                                segments,
                                segments.get(count - 1).endOffset())) {
                    return true;
                }
            }
            return false;
        }

        private static boolean isInObjectStorageAlone(List<SegmentDescriptor> segments) {
            return segments.stream()
                    .allMatch(segment -> segment.isOffloaded()
                            && segment.replicas().isEmpty()
                            && segment.unconfirmed().isEmpty());
        }

        private boolean isBetweenObjects(PartitionId partition, List<SegmentDescriptor> segments, long offset) {
            return segments.stream()
                            .flatMap(segment -> segment.object().stream())
                            .noneMatch(object -> object.startOffset() < offset && object.endOffset() > offset)
                    && bucket.entrySet().stream()
                            .filter(held -> cluster.image().replacedObjects().contains(held.getKey()))
                            .map(Map.Entry::getValue)
                            .noneMatch(held -> held.partition().equals(partition)
                                    && held.startOffset() < offset
                                    && held.endOffset() > offset);
        }

        private List<PartitionState> partitions() {
            List<PartitionState> all = new ArrayList<>();
            cluster.image().topics().forEach(t -> all.addAll(cluster.image().partitions(t.id())));
            return all;
        }

        private void finishTask(BookieTask task) {
            if (!cluster.image().tasks().contains(task)) {
                return;
            }
            if (task instanceof BookieTask.Offload offload) {
                ObjectRef object = cluster.objectOf(offload);
                bucket.put(object.key(), Held.of(offload, object));
                cluster.done(Cluster.commit(offload, object));
            } else if (task instanceof BookieTask.BuildManifest build) {
                cluster.done(manifests.built(build, cluster.image()));
            } else if (task instanceof BookieTask.PruneManifest prune) {
                bucket.keySet().removeAll(manifests.deletedBy(prune));
                cluster.done(manifests.pruned(prune));
            } else {
                carryOut(task);
                cluster.complete(task);
            }
        }

        /** Records alone, and a snapshot's records, lead to the state that the commands led to. */
        void checkReplayAndSnapshot() {
            MetadataImage image = cluster.image();
            MetadataImage replayed = MetadataImage.EMPTY.replay(image.version(), cluster.records);
            assertThat(replayed).isEqualTo(image);
            MetadataImage restored = MetadataImage.EMPTY;
            SnapshotReplay quick = new SnapshotReplay();
            for (MetadataRecord record : ImageRecords.stream(image).toList()) {
                restored = restored.replay(record);
                quick.add(record);
            }
            assertThat(restored.at(image.version(), image.digest())).isEqualTo(image);
            assertThat(quick.finish(image.version(), image.digest())).isEqualTo(image);
        }
    }
}
