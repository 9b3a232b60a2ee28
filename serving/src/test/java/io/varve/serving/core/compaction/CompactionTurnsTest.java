package io.varve.serving.core.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.serving.core.compaction.CompactionPlan.Wishes;
import io.varve.serving.core.compaction.CompactionTurns.Attempt;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class CompactionTurnsTest {

    private static final long SECOND_NS = 1_000_000_000L;
    private static final long HOUR_NS = 3_600 * SECOND_NS;
    private static final PartitionId ONE = new PartitionId(new TopicId(1, 1), 0);
    private static final PartitionId OTHER = new PartitionId(new TopicId(1, 1), 1);
    private static final Wishes WISHES = new Wishes(0.5, 0, Long.MAX_VALUE, 100, 0);
    private static final Attempt ATTEMPT = new Attempt(3, 0, 10, WISHES);

    private final CompactionTurns turns = new CompactionTurns(SECOND_NS);
    /** A clock of nanoseconds may begin anywhere, and wrap round. */
    private long nowNs = Long.MAX_VALUE - 5 * SECOND_NS;

    private long failAndWait(boolean impossible) {
        turns.onFailure(ONE, ATTEMPT, impossible, nowNs);
        long begunNs = nowNs;
        while (!turns.mayTry(ONE, ATTEMPT, nowNs)) {
            assertThat(turns.paused(nowNs)).isEqualTo(1);
            nowNs += SECOND_NS;
        }
        assertThat(turns.paused(nowNs)).isZero();
        return (nowNs - begunNs) / SECOND_NS;
    }

    @Test
    void thePauseDoublesWithEachFailureUpToItsBound() {
        assertThat(turns.mayTry(ONE, ATTEMPT, nowNs)).isTrue();
        for (long expected = 1; expected < 2_048; expected *= 2) {
            assertThat(failAndWait(true)).isEqualTo(expected);
        }
        for (int i = 0; i < 40; i++) {
            assertThat(failAndWait(true)).isGreaterThan(2_000).isLessThanOrEqualTo(3_600);
        }
    }

    @Test
    void whatIsNotThePartitionsFaultIsTriedAgainWithinAMinute() {
        for (int i = 0; i < 40; i++) {
            assertThat(failAndWait(false)).isLessThanOrEqualTo(60);
        }
    }

    @Test
    void anotherOwnerStartDirtyPartOrConfigurationEndsThePause() {
        for (int i = 0; i < 20; i++) {
            turns.onFailure(ONE, ATTEMPT, true, nowNs);
        }
        assertThat(turns.mayTry(ONE, ATTEMPT, nowNs)).isFalse();
        for (Attempt other : List.of(
                new Attempt(4, 0, 10, WISHES),
                new Attempt(3, 1, 10, WISHES),
                new Attempt(3, 0, 11, WISHES),
                new Attempt(3, 0, 10, new Wishes(0.5, 0, Long.MAX_VALUE, 200, 0)))) {
            assertThat(turns.mayTry(ONE, other, nowNs)).as("%s", other).isTrue();
        }
        Attempt moved = new Attempt(3, 0, 11, WISHES);
        turns.onFailure(ONE, moved, true, nowNs);
        assertThat(turns.mayTry(ONE, moved, nowNs + SECOND_NS))
                .as("the pause begins anew as well")
                .isTrue();
    }

    @Test
    void aPassThatEndsWellEndsThePauseToo() {
        turns.onFailure(ONE, ATTEMPT, true, nowNs);
        turns.onEnd(ONE, nowNs);
        assertThat(turns.mayTry(ONE, ATTEMPT, nowNs)).isTrue();
        assertThat(turns.paused(nowNs)).isZero();
        assertThat(failAndWait(true)).isEqualTo(1);
    }

    @Test
    void timePassesWithoutMakingAnotherAttemptOfIt() {
        CompactionPlan plan = new CompactionPlan(
                List.of(new CompactionPlan.Segment(0, 10, 5, 0, 1, 1)), 0, List.of(new CompactionPlan.Group(0, 1)));
        assertThat(Attempt.of(3, plan, WISHES.at(17))).isEqualTo(Attempt.of(3, plan, WISHES.at(18)));
    }

    @Test
    void whoHadNoPassForTheLongestTimeIsNext() {
        assertThat(turns.compare(ONE, OTHER)).isZero();
        turns.onEnd(ONE, nowNs);
        assertThat(turns.compare(ONE, OTHER)).isPositive();
        assertThat(turns.compare(OTHER, ONE)).isNegative();
        turns.onFailure(OTHER, ATTEMPT, false, nowNs + HOUR_NS);
        assertThat(turns.compare(ONE, OTHER)).isNegative();
        turns.retain(new TreeSet<>(List.of(OTHER)));
        assertThat(turns.compare(ONE, OTHER)).as("forgotten").isNegative();
        assertThat(turns.mayTry(OTHER, ATTEMPT, nowNs + HOUR_NS)).isFalse();
    }
}
