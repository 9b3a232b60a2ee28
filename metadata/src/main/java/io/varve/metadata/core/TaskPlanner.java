package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.metadata.model.BookieTask;
import io.varve.protocol.meta.DeleteObjectStep;
import io.varve.protocol.meta.PlanStep;
import io.varve.protocol.meta.WithdrawTaskStep;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Takes work back from bookies that went away or take too long, and gives out the deletion of objects. */
final class TaskPlanner {

    private TaskPlanner() {}

    static void plan(Planner planner) {
        for (GivenTask given : planner.image.taskIndex().byId().values()) {
            planner.countTask(given.task());
            if (isToBeWithdrawn(planner, given) && !planner.isFull()) {
                planner.step(PlanStep.newBuilder()
                        .setWithdrawTask(WithdrawTaskStep.newBuilder()
                                .setTask(given.task().taskId())
                                .setObjectNotBeforeMs(planner.nowMs + Planner.ABANDONED_ATTEMPT_MS)));
            }
        }
        deleteObjects(planner);
    }

    private static boolean isToBeWithdrawn(Planner planner, GivenTask given) {
        BookieTask task = given.task();
        if (task instanceof BookieTask.DeleteReplica) {
            return false;
        }
        boolean isLate = !(task instanceof BookieTask.DeleteObject)
                && planner.nowMs - given.givenMs() > planner.settings.taskDeadlineMs();
        return isLate || !planner.isAlive(task.bookie());
    }

    private static void deleteObjects(Planner planner) {
        List<BookieId> alive = planner.aliveBookies();
        TaskIndex tasks = planner.image.taskIndex();
        for (Map.Entry<String, Retry> dead : tasks.deadObjects().entrySet()) {
            boolean isDue = dead.getValue().notBeforeMs() <= planner.nowMs
                    && !tasks.objectTasks().containsKey(dead.getKey());
            if (isDue) {
                Optional<BookieId> bookie =
                        leastBusy(alive, planner.objectDeletions(), planner.settings.objectDeletionsPerBookie());
                if (bookie.isEmpty() || planner.isFull()) {
                    return;
                }
                planner.objectDeletions().merge(bookie.get(), 1, Integer::sum);
                planner.step(PlanStep.newBuilder()
                        .setDeleteObject(DeleteObjectStep.newBuilder()
                                .setKey(dead.getKey())
                                .setBookie(bookie.get().value())));
            }
        }
    }

    /** The one of {@code among} with the least to do, if it has less than {@code most}. */
    static Optional<BookieId> leastBusy(List<BookieId> among, Map<BookieId, Integer> counts, int most) {
        BookieId best = null;
        for (BookieId candidate : among) {
            if (best == null || counts.getOrDefault(candidate, 0) < counts.getOrDefault(best, 0)) {
                best = candidate;
            }
        }
        return best == null || counts.getOrDefault(best, 0) >= most ? Optional.empty() : Optional.of(best);
    }
}
