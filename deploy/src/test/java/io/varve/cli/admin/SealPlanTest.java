package io.varve.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The segment is open from offset 100 on, on the bookies 1, 2 and 3 with A = 2, each in the directory of incarnation 7. */
class SealPlanTest {

    private static final SegmentDescriptor OPEN = new SegmentDescriptor(
            new SegmentId(5),
            new PartitionId(new TopicId(1, 1), 0),
            3,
            SegmentDescriptor.State.OPEN,
            100,
            SegmentDescriptor.UNSEALED,
            2,
            List.of(new Replica(new BookieId(1), 7), new Replica(new BookieId(2), 7), new Replica(new BookieId(3), 7)),
            List.of(),
            -1,
            -1,
            0,
            -1,
            Optional.empty());

    private static FenceReply held(long end, long incarnation) {
        return new FenceReply(BookieStatus.OK, end, -1, incarnation, false, 4);
    }

    private static FenceReply other(BookieStatus status) {
        return new FenceReply(status, -1, -1, 0, false, 4);
    }

    @Test
    void theLargestEndThatIsLeftIsTheSealAndItsHoldersHoldIt() {
        SealPlan plan =
                SealPlan.of(OPEN, List.of(other(BookieStatus.UNKNOWN), held(120, 7), other(BookieStatus.NO_ANSWER)));
        assertThat(plan.isNeedless()).isFalse();
        assertThat(plan.endOffset()).isEqualTo(120);
        assertThat(plan.seal().holders()).containsExactly(new BookieId(2));
    }

    @Test
    void whereATakeoverCouldGoOnNothingIsForced() {
        assertThat(SealPlan.of(OPEN, List.of(held(110, 7), held(120, 7), other(BookieStatus.NO_ANSWER)))
                        .isNeedless())
                .isTrue();
        assertThat(SealPlan.of(
                                OPEN,
                                List.of(
                                        other(BookieStatus.NO_SUCH_SEGMENT),
                                        held(120, 7),
                                        other(BookieStatus.NO_ANSWER)))
                        .isNeedless())
                .as("a bookie that vouches that it never had the segment counts")
                .isTrue();
    }

    @Test
    void whatAnotherDirectoryHoldsDoesNotCount() {
        SealPlan plan = SealPlan.of(OPEN, List.of(held(150, 8), held(120, 7), other(BookieStatus.NO_ANSWER)));
        assertThat(plan.isNeedless()).isFalse();
        assertThat(plan.endOffset()).isEqualTo(120);
    }

    @Test
    void withNothingLeftTheSegmentIsSealedEmpty() {
        SealPlan plan = SealPlan.of(
                OPEN,
                List.of(other(BookieStatus.UNKNOWN), other(BookieStatus.NO_ANSWER), other(BookieStatus.NO_ANSWER)));
        assertThat(plan.endOffset()).isEqualTo(OPEN.startOffset());
        assertThat(plan.seal().holders()).isEmpty();
    }
}
