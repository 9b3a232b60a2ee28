package io.varve.bookie.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.BookieId;
import io.varve.base.InvariantViolation;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.model.BookieTask;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TaskBoardTest {

    private static final BookieId SELF = new BookieId(1);
    private static final PartitionId PARTITION = new PartitionId(new TopicId(1, 1), 0);

    private final TaskBoard board = new TaskBoard(Map.of(
            TaskKind.OFFLOAD, 1, TaskKind.DELETE_REPLICA, 2, TaskKind.COPY_REPLICA, 2, TaskKind.DELETE_OBJECT, 2));

    @Test
    void asManyOfAKindBeginAsMayBeAtWorkTheOlderFirst() {
        board.given(List.of(offload(3), offload(2), object(5), object(6), object(7)));
        assertThat(board.begin(0)).containsExactly(offload(2), object(5), object(6));
        assertThat(board.begin(0)).isEmpty();
        assertThat(board.queued(TaskKind.OFFLOAD)).isOne();
        board.reported(2);
        assertThat(board.begin(0)).containsExactly(offload(3));
    }

    @Test
    void aReportedTaskIsNotBegunAgainThoughItIsStillGiven() {
        board.given(List.of(object(5)));
        board.begin(0);
        board.reported(5);
        board.given(List.of(object(5)));
        assertThat(board.begin(0)).isEmpty();
        board.given(List.of());
        board.given(List.of(object(5)));
        assertThat(board.begin(0)).containsExactly(object(5));
    }

    @Test
    void aTaskToBeTriedAgainWaitsForItsTime() {
        board.given(List.of(object(5)));
        board.begin(0);
        board.tryAgain(5, 100);
        assertThat(board.tries(5)).isOne();
        assertThat(board.begin(99)).isEmpty();
        assertThat(board.nextNanos(60)).contains(40L);
        assertThat(board.begin(100)).containsExactly(object(5));
        assertThat(board.nextNanos(100)).isEmpty();
    }

    @Test
    void aWithdrawnTaskIsForgottenAtOnceOrWhenItEnds() {
        board.given(List.of(offload(2), offload(3)));
        board.begin(0);
        board.given(List.of());
        assertThat(board.queued(TaskKind.OFFLOAD)).isZero();
        assertThat(board.atWork(TaskKind.OFFLOAD)).isOne();
        board.tryAgain(2, 0);
        assertThat(board.atWork(TaskKind.OFFLOAD)).isZero();
        assertThat(board.begin(1)).isEmpty();
    }

    @Test
    void tasksThatChangeOneReplicaGoOneAfterTheOther() {
        board.given(List.of(delete(4, 77), copy(5, 77), copy(6, 78)));
        assertThat(board.begin(0)).containsExactly(delete(4, 77), copy(6, 78));
        board.tryAgain(4, 50);
        assertThat(board.begin(10))
                .as("the older one waits, and the younger for it")
                .isEmpty();
        assertThat(board.begin(50)).containsExactly(delete(4, 77));
        board.reported(4);
        assertThat(board.begin(60)).containsExactly(copy(5, 77));
    }

    @Test
    void onlyATaskAtWorkCanEnd() {
        board.given(List.of(object(5)));
        assertThatThrownBy(() -> board.reported(5)).isInstanceOf(InvariantViolation.class);
    }

    private static BookieTask offload(long id) {
        return new BookieTask.Offload(id, SELF, PARTITION, List.of(new SegmentId(id)));
    }

    private static BookieTask object(long id) {
        return new BookieTask.DeleteObject(id, SELF, "key-" + id);
    }

    private static BookieTask delete(long id, long segment) {
        return new BookieTask.DeleteReplica(id, SELF, PARTITION, new SegmentId(segment), 0);
    }

    private static BookieTask copy(long id, long segment) {
        return new BookieTask.CopyReplica(id, SELF, PARTITION, new SegmentId(segment), 0, List.of());
    }
}
