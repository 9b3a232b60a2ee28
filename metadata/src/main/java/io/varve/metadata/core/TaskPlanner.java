package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.BookieTask;
import io.varve.protocol.meta.DeleteObjectStep;
import io.varve.protocol.meta.PlanStep;
import io.varve.protocol.meta.WithdrawTaskStep;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Takes work back from bookies that went away or take too long, and gives out the deletion of objects. */
final class TaskPlanner {

    private TaskPlanner() {}

    static void plan(Planner planner) {
        Map<BookieId, Long> bytes = new TreeMap<>();
        for (GivenTask given : planner.image.taskIndex().byId().values()) {
            planner.countTask(given.task());
            bytes.merge(given.task().bookie(), bytesOf(planner, given.task()), Long::sum);
        }
        for (GivenTask given : planner.image.taskIndex().byId().values()) {
            if (isToBeWithdrawn(planner, given, bytes) && !planner.isFull()) {
                planner.step(PlanStep.newBuilder()
                        .setWithdrawTask(WithdrawTaskStep.newBuilder()
                                .setTask(given.task().taskId())
                                .setObjectNotBeforeMs(planner.nowMs + planner.settings.abandonedAttemptMs())));
            }
        }
        deleteObjects(planner);
    }

    private static boolean isToBeWithdrawn(Planner planner, GivenTask given, Map<BookieId, Long> bytes) {
        BookieTask task = given.task();
        if (task instanceof BookieTask.DeleteReplica) {
            return false;
        }
        boolean movesData = task instanceof BookieTask.Offload || task instanceof BookieTask.CopyReplica;
        long deadlineMs = deadlineMs(planner, movesData ? bytes.get(task.bookie()) : 0);
        boolean isLate = !(task instanceof BookieTask.DeleteObject) && planner.nowMs - given.givenMs() > deadlineMs;
        return isLate || !planner.isAlive(task.bookie());
    }

    /** What is slow isn't late: taken back in the middle, and begun anew from its start, it would never end. */
    private static long deadlineMs(Planner planner, long bytes) {
        long movingMs = bytes * 1_000 / BookieTask.BYTES_PER_SECOND_MIN;
        // "Never" is the largest number there is.
        return planner.settings.taskDeadlineMs() > Long.MAX_VALUE - movingMs
                ? Long.MAX_VALUE
                : planner.settings.taskDeadlineMs() + movingMs;
    }

    /** What a bookie has to move for a task. */
    private static long bytesOf(Planner planner, BookieTask task) {
        if (task instanceof BookieTask.Offload offload) {
            long sum = 0;
            for (SegmentId segment : offload.segments()) {
                sum += planner.bytesOf(planner.image.find(segment));
            }
            return sum;
        }
        return task instanceof BookieTask.CopyReplica copy ? planner.bytesOf(planner.image.find(copy.segment())) : 0;
    }

    private static void deleteObjects(Planner planner) {
        List<BookieId> alive = planner.aliveBookies();
        TaskIndex tasks = planner.image.taskIndex();
        for (Map.Entry<String, DeadObject> dead : tasks.deadObjects().entrySet()) {
            boolean isDue = dead.getValue().isDue(planner.image, planner.nowMs)
                    && !tasks.objectTasks().containsKey(dead.getKey());
            if (isDue) {
                Optional<BookieId> bookie = leastBusy(
                        alive,
                        planner.objectDeletions(),
                        planner.settings.objectDeletionsPerBookie(),
                        dead.getValue().when());
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

    /**
     * The one of {@code among} with the least to do, if it has less than {@code most}. After a failure it goes by turns instead: a bookie that
     * is the only one that can't reach the store always has the least to do.
     *
     * @param before what became of it so far, or null
     */
    static Optional<BookieId> leastBusy(List<BookieId> among, Map<BookieId, Integer> counts, int most, Retry before) {
        List<BookieId> free = among.stream()
                .filter(bookie -> counts.getOrDefault(bookie, 0) < most)
                .toList();
        if (free.isEmpty()) {
            return Optional.empty();
        }
        if (before != null && before.attempts() > 0) {
            int turn = before.attempts() % among.size();
            List<BookieId> inTurn = new ArrayList<>(among.subList(turn, among.size()));
            inTurn.addAll(among.subList(0, turn));
            inTurn.retainAll(free);
            return Optional.of(inTurn.get(0));
        }
        return free.stream().min(Comparator.comparingInt(bookie -> counts.getOrDefault(bookie, 0)));
    }
}
