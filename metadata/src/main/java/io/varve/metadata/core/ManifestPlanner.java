package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.metadata.model.PartitionState;
import io.varve.protocol.meta.BuildManifestStep;
import io.varve.protocol.meta.PlanStep;
import io.varve.protocol.meta.PruneManifestStep;
import java.util.Optional;

/** Gives out work on manifests: moves the offloaded heads of chains into them, and has deleted what nobody may read any longer. */
final class ManifestPlanner {

    private ManifestPlanner() {}

    /**
     * Looks at one partition, living or condemned.
     *
     * @param mayBuild whether its segments may move into a manifest
     */
    static void look(Planner planner, PartitionState partition, boolean mayBuild) {
        ManifestWork work = planner.image.taskIndex().manifests();
        if (planner.isFull() || work.tasks().containsKey(partition.id())) {
            return;
        }
        ManifestWork.DeadStretch dead = work.deadStretches().get(partition.id());
        if (dead != null && dead.when().notBeforeMs() <= planner.nowMs) {
            prune(planner, partition.id(), dead.when());
        } else if (mayBuild && isToBeBuilt(planner, partition, work)) {
            build(planner, partition.id(), work.retries().get(partition.id()));
        }
    }

    private static boolean isToBeBuilt(Planner planner, PartitionState partition, ManifestWork work) {
        if (partition.chain().size() <= planner.settings.manifestSegmentsMin()) {
            return false;
        }
        Retry retry = work.retries().get(partition.id());
        boolean mayTry = retry == null || retry.notBeforeMs() <= planner.nowMs;
        return mayTry
                && MovableStretch.of(partition, planner.image)
                        .filter(stretch -> stretch.segments() >= planner.settings.manifestSegmentsMin())
                        .isPresent();
    }

    private static void build(Planner planner, PartitionId partition, Retry before) {
        somebody(planner, before)
                .ifPresent(bookie -> planner.step(PlanStep.newBuilder()
                        .setBuildManifest(BuildManifestStep.newBuilder()
                                .setPartition(ProtoModel.toProto(partition))
                                .setBookie(bookie.value()))));
    }

    private static void prune(Planner planner, PartitionId partition, Retry before) {
        somebody(planner, before)
                .ifPresent(bookie -> planner.step(PlanStep.newBuilder()
                        .setPruneManifest(PruneManifestStep.newBuilder()
                                .setPartition(ProtoModel.toProto(partition))
                                .setBookie(bookie.value()))));
    }

    /** Any living bookie can do it, for nothing of it is on its disks: the one with the least of the kind. */
    private static Optional<BookieId> somebody(Planner planner, Retry before) {
        Optional<BookieId> bookie = TaskPlanner.leastBusy(
                planner.aliveBookies(), planner.manifests(), planner.settings.manifestsPerBookie(), before);
        bookie.ifPresent(b -> planner.manifests().merge(b, 1, Integer::sum));
        return bookie;
    }
}
