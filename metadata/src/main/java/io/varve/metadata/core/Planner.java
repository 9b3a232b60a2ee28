package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.TopicId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.TopicConfigs;
import io.varve.protocol.meta.PlanStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One look of the leader's at the whole: what work is to be given out, taken back, or has become due. A pure function of an image, a time and settings, so that it can run
 * beside the state machine on an image that stands still; what it proposes is decided by {@link PlanCommands} in the order of the log.
 *
 * <p>Sets that can be large (partitions, segments) are walked in slices, a slice a look.
 */
public final class Planner {

    /** How long an attempt that was taken back by what an owner or an operator asked for may go on writing its object; and any other, unless the settings say otherwise. */
    static final long ABANDONED_ATTEMPT_MS = 300_000;

    /** What one plan holds at most: a bound on one command's size and on how long it is decided. */
    static final int STEPS_MAX = 1_000;

    static final int PARTITIONS_PER_LOOK = 5_000;
    static final int SEGMENTS_PER_LOOK = 20_000;

    final MetadataImage image;
    final long nowMs;
    final PlannerSettings settings;
    private final Map<TopicId, Optional<TopicConfigs>> configs = new TreeMap<>();
    private final Map<BookieId, Integer> offloads = new TreeMap<>();
    private final Map<BookieId, Integer> copies = new TreeMap<>();
    private final Map<BookieId, Integer> objectDeletions = new TreeMap<>();
    private final Map<BookieId, Integer> manifests = new TreeMap<>();
    private final List<PlanStep> steps = new ArrayList<>();

    private Planner(MetadataImage image, long nowMs, PlannerSettings settings) {
        this.image = image;
        this.nowMs = nowMs;
        this.settings = settings;
    }

    /** Looks once. */
    public static Plan plan(MetadataImage image, long nowMs, PlannerSettings settings, Plan.Cursor cursor) {
        Planner planner = new Planner(image, nowMs, settings);
        TaskPlanner.plan(planner);
        var partition = PartitionPlanner.plan(planner, cursor.partition());
        long inBoth = LocalDeletionPlanner.plan(planner, cursor.inBoth());
        RepairPlanner repairs = new RepairPlanner(planner);
        long localOnly = OffloadPlanner.plan(planner, repairs, cursor.localOnly());
        return new Plan(planner.steps, repairs.underReplicated(), new Plan.Cursor(partition, localOnly, inBoth));
    }

    void step(PlanStep.Builder step) {
        steps.add(step.build());
    }

    boolean isFull() {
        return steps.size() >= STEPS_MAX;
    }

    /** What holds for a living topic. */
    Optional<TopicConfigs> configsOf(TopicId topic) {
        return configs.computeIfAbsent(
                topic, id -> image.topic(id).map(t -> TopicConfigs.of(t, image.clusterConfigs())));
    }

    boolean isAlive(BookieId bookie) {
        return image.bookie(bookie)
                .filter(b -> b.state() != BookieInfo.State.GONE)
                .isPresent();
    }

    /** A sealed segment's bytes; as many as it may have if the seal didn't say, and none of a deleted topic. */
    long bytesOf(SegmentDescriptor segment) {
        return segment.bytes() >= 0
                ? segment.bytes()
                : configsOf(segment.partition().topic())
                        .map(TopicConfigs::segmentBytes)
                        .orElse(0);
    }

    /** Counts what bookies have to do, and what this plan adds. */
    void countTask(BookieTask task) {
        if (task instanceof BookieTask.Offload) {
            offloads.merge(task.bookie(), 1, Integer::sum);
        } else if (task instanceof BookieTask.CopyReplica) {
            copies.merge(task.bookie(), 1, Integer::sum);
        } else if (task instanceof BookieTask.DeleteObject) {
            objectDeletions.merge(task.bookie(), 1, Integer::sum);
        } else if (task instanceof BookieTask.BuildManifest || task instanceof BookieTask.PruneManifest) {
            manifests.merge(task.bookie(), 1, Integer::sum);
        }
    }

    /** Those that work can be given to. */
    List<BookieId> aliveBookies() {
        List<BookieId> alive = new ArrayList<>();
        for (BookieInfo bookie : image.bookies()) {
            if (bookie.state() != BookieInfo.State.GONE) {
                alive.add(bookie.id());
            }
        }
        return alive;
    }

    Map<BookieId, Integer> offloads() {
        return offloads;
    }

    Map<BookieId, Integer> copies() {
        return copies;
    }

    Map<BookieId, Integer> objectDeletions() {
        return objectDeletions;
    }

    Map<BookieId, Integer> manifests() {
        return manifests;
    }
}
