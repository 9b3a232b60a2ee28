package io.varve.serving.core.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.model.SegmentChain;
import io.varve.serving.core.compaction.CompactionPlan.Group;
import io.varve.serving.core.compaction.CompactionPlan.Segment;
import io.varve.serving.core.compaction.CompactionPlan.Wishes;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CompactionPlanTest {

    private static final Wishes WISHES = new Wishes(0.5, 0, Long.MAX_VALUE, 100, 1_000);

    private static Segment clean(long base, long end, long bytes) {
        return new Segment(base, end, bytes, end, 10, 10);
    }

    private static Segment dirty(long base, long end, long bytes) {
        return new Segment(base, end, bytes, base, 500, 600);
    }

    @Test
    void nothingIsDoneWhileLittleIsDirty() {
        assertThat(CompactionPlan.of(List.of(), 100, WISHES)).isEmpty();
        assertThat(CompactionPlan.of(List.of(clean(0, 10, 50)), 100, WISHES)).isEmpty();
        assertThat(CompactionPlan.of(List.of(clean(0, 10, 50), dirty(10, 20, 50)), 100, WISHES))
                .isEmpty();
        assertThat(CompactionPlan.of(List.of(clean(0, 10, 50), dirty(10, 20, 51)), 100, WISHES))
                .isPresent();
    }

    @Test
    void theWholeLogUpToTheDirtyEndIsGoneThroughInGroups() {
        CompactionPlan plan = CompactionPlan.of(
                        List.of(
                                clean(0, 10, 40),
                                clean(10, 20, 40),
                                dirty(20, 30, 40),
                                dirty(30, 40, 200),
                                dirty(40, 50, 9)),
                        100,
                        WISHES)
                .orElseThrow();

        assertThat(plan.startOffset()).isZero();
        assertThat(plan.dirtyOffset()).isEqualTo(20);
        assertThat(plan.endOffset()).isEqualTo(50);
        assertThat(plan.groups()).containsExactly(new Group(0, 2), new Group(2, 3), new Group(3, 4), new Group(4, 5));
        assertThat(plan.groupsWithin(40)).containsExactly(new Group(0, 2), new Group(2, 3), new Group(3, 4));
        assertThat(plan.groupsWithin(39)).containsExactly(new Group(0, 2), new Group(2, 3));
        assertThat(plan.groupsWithin(39))
                .as("what is left of the next is left for the next pass")
                .hasSize(2);
        assertThat(plan.groupsWithin(29))
                .as("a part of the first dirty one is better than nothing")
                .containsExactly(new Group(0, 2), new Group(2, 3));
        assertThat(plan.groupsWithin(20)).as("nothing was observed").isEmpty();
    }

    @Test
    void whatIsUndecidedOrTooYoungIsLeftAloneWithAllThatFollows() {
        List<Segment> segments = List.of(dirty(0, 10, 40), dirty(10, 20, 40), dirty(20, 30, 40));

        assertThat(CompactionPlan.of(segments, 29, WISHES).orElseThrow().endOffset())
                .isEqualTo(20);
        assertThat(CompactionPlan.of(segments, 9, WISHES)).isEmpty();
        assertThat(CompactionPlan.of(segments, 30, new Wishes(0.5, 401, Long.MAX_VALUE, 100, 1_000)))
                .isEmpty();
        assertThat(CompactionPlan.of(segments, 30, new Wishes(0.5, 400, Long.MAX_VALUE, 100, 1_000)))
                .isPresent();
    }

    @Test
    void whatHasWaitedTooLongWaitsForNoRatio() {
        List<Segment> segments = List.of(clean(0, 10, 900), dirty(10, 20, 1));

        assertThat(CompactionPlan.of(segments, 20, new Wishes(0.5, 0, 500, 100, 1_000)))
                .isEmpty();
        assertThat(CompactionPlan.of(segments, 20, new Wishes(0.5, 0, 499, 100, 1_000)))
                .isPresent();
    }

    @Test
    void whatAPassSawAPartOfIsGoneOnWithFromThere() {
        Segment part = new Segment(10, 20, 40, 15, 10, 10);
        CompactionPlan plan = CompactionPlan.of(List.of(clean(0, 10, 10), part, dirty(20, 30, 60)), 100, WISHES)
                .orElseThrow();

        assertThat(plan.dirtyOffset()).isEqualTo(15);
        assertThat(CompactionPlan.dirtyBytes(plan.segments())).isEqualTo(20 + 60);
        assertThat(plan.groups()).containsExactly(new Group(0, 2), new Group(2, 3));
        assertThat(plan.groupsWithin(15)).isEmpty();
        assertThat(plan.groupsWithin(17)).containsExactly(new Group(0, 2));
        assertThat(plan.groupsWithin(20)).containsExactly(new Group(0, 2));
        assertThat(plan.groupsWithin(29)).containsExactly(new Group(0, 2));
        assertThat(plan.groupsWithin(30)).hasSize(2);
    }

    @Test
    void onlyACleanSegmentByItselfMayStayAsItIs() {
        CompactionPlan plan = CompactionPlan.of(
                        List.of(clean(0, 10, 90), clean(10, 20, 40), clean(20, 30, 40), dirty(30, 40, 200)),
                        100,
                        WISHES)
                .orElseThrow();

        assertThat(plan.groups()).containsExactly(new Group(0, 1), new Group(1, 3), new Group(3, 4));
        assertThat(plan.groups()).extracting(plan::isSettled).containsExactly(true, false, false);
    }

    /** The metadata service takes no more in one command. */
    @Test
    void manySmallSegmentsBecomeMoreThanOne() {
        List<Segment> segments = new ArrayList<>();
        for (int i = 0; i < SegmentChain.STRETCH_MAX + 2; i++) {
            segments.add(new Segment(i, i + 1, 0, i, -1, -1));
        }
        Wishes always = new Wishes(0, 0, 0, 100, 1_000);
        segments.set(0, new Segment(0, 1, 1, 0, -1, -1));

        assertThat(CompactionPlan.of(segments, Long.MAX_VALUE, always)
                        .orElseThrow()
                        .groups())
                .containsExactly(
                        new Group(0, SegmentChain.STRETCH_MAX),
                        new Group(SegmentChain.STRETCH_MAX, SegmentChain.STRETCH_MAX + 2));
    }

    @Test
    void aGroupEndsWhereThePassDoes() {
        CompactionPlan plan = CompactionPlan.of(
                        List.of(clean(0, 10, 10), dirty(10, 20, 40), dirty(20, 30, 40)), 100, WISHES)
                .orElseThrow();

        assertThat(plan.groups()).containsExactly(new Group(0, 3));
        assertThat(plan.groupsWithin(25)).containsExactly(new Group(0, 2));
        assertThat(CompactionPlan.dirtyBytes(plan.segments())).isEqualTo(80);
    }
}
