package io.varve.bookie.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Which journal files are given back, and which are emptied. */
class ReclaimPlannerTest {

    @Test
    void whatNobodyNeedsIsFoundByOnePassOverTheReplicas() {
        SegmentIndex one = new SegmentIndex();
        one.add(3, 4096, 0, 5, 100);
        one.add(5, 4096, 5, 9, 100);
        SegmentIndex other = new SegmentIndex();
        other.addSaved(4, 100, 200, 24, 7);
        NeededFiles needed = new NeededFiles(List.of(2L, 3L, 4L, 6L));
        one.markFiles(needed);
        assertThat(needed.needed()).containsExactly(3L);
        other.markFiles(needed);
        assertThat(needed.needed()).containsExactly(3L, 4L);
        assertThat(needed.unneeded()).containsExactly(2L, 6L);
        assertThat(needed.areAll()).isFalse();
        needed.add(2);
        needed.add(6);
        needed.add(6);
        assertThat(needed.areAll()).isTrue();
    }

    @Test
    void theOldestFileIsEmptiedFirstAndOnlyAboveTheBudget() {
        List<Long> full = List.of(2L, 3L, 7L);
        assertThat(ReclaimPlanner.toSettle(full, 100, 300, ReclaimPlanner.NONE)).isEqualTo(ReclaimPlanner.NONE);
        assertThat(ReclaimPlanner.toSettle(full, 100, 299, ReclaimPlanner.NONE)).isEqualTo(2);
    }

    @Test
    void aFileThatCanNotBeEmptiedDoesNotKeepTheOthers() {
        List<Long> full = List.of(2L, 3L, 7L);
        assertThat(ReclaimPlanner.toSettle(full, 100, 0, 2)).isEqualTo(3);
        assertThat(ReclaimPlanner.toSettle(full, 100, 0, 7)).isEqualTo(ReclaimPlanner.NONE);
    }
}
