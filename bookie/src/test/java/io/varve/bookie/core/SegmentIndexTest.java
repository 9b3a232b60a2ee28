package io.varve.bookie.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SegmentIndexTest {

    private final SegmentIndex index = new SegmentIndex();
    private final List<String> found = new ArrayList<>();

    private int collect(long from, long below, int bytes) {
        found.clear();
        return index.collect(
                from,
                below,
                bytes,
                SegmentIndex.Run::rows,
                (file, position, first, length) -> found.add(file + ":" + first));
    }

    private void fill() {
        for (int at = 0; at < 30; at++) {
            assertThat(index.add(1 + at / 10, 4096 + at * 104L, at * 5L, at * 5L + 5, 100))
                    .isTrue();
        }
    }

    @Test
    void anEntryIsFoundByAnyOfItsOffsetsAcrossFiles() {
        fill();
        assertThat(collect(0, 1000, 100)).isEqualTo(100);
        assertThat(found).containsExactly("1:0");
        assertThat(collect(49, 1000, 250)).isEqualTo(200);
        assertThat(found).containsExactly("1:45", "2:50");
        assertThat(collect(149, 1000, 1000)).isEqualTo(100);
        assertThat(collect(150, 1000, 1000)).isZero();
    }

    @Test
    void theFirstEntryComesHoweverLittleIsAskedFor() {
        fill();
        assertThat(collect(7, 1000, 1)).isEqualTo(100);
        assertThat(found).containsExactly("1:5");
    }

    @Test
    void nothingAtOrAboveTheBoundIsFound() {
        fill();
        collect(0, 12, 10_000);
        assertThat(found).containsExactly("1:0", "1:5", "1:10");
    }

    @Test
    void whatWasSettledIsForgottenByWholeFiles() {
        fill();
        index.dropBelow(99);
        assertThat(index.firstOffset()).isEqualTo(50);
        index.dropBelow(100);
        assertThat(index.firstOffset()).isEqualTo(100);
        assertThat(collect(60, 1000, 100)).isZero();
        assertThat(index.isIn(1)).isFalse();
        assertThat(index.isIn(3)).isTrue();
    }

    @Test
    void anEntryThatDoesNotAdjoinIsRefused() {
        fill();
        assertThat(index.add(3, 99_000, 151, 152, 100)).isFalse();
        assertThat(index.add(4, 99_000, 151, 152, 100)).isFalse();
        assertThat(index.endOffset()).isEqualTo(150);
    }
}
