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

    /** The rows of a full file leave memory and are asked for again. */
    @Test
    void rowsThatWereSavedAreAskedForAndFoundAsBefore() {
        fill();
        SegmentIndex.Run run = index.run(2);
        IndexRows rows = run.rows();
        run.onSaved(24, rows.count());
        found.clear();
        int bytes = index.collect(
                45,
                1000,
                10_000,
                asked -> asked == run ? rows : null,
                (file, at, first, length) -> found.add(file + ":" + first));
        assertThat(bytes).isEqualTo(2100);
        assertThat(found).startsWith("1:45", "2:50").endsWith("3:145");
        assertThat(collect(45, 1000, 10_000))
                .as("up to the run that nobody has")
                .isEqualTo(100);
        assertThat(collect(60, 1000, 10_000)).isZero();
        assertThat(index.endOffset()).isEqualTo(150);
    }

    @Test
    void runsThatWereSavedAdjoin() {
        assertThat(index.addSaved(1, 100, 200, 24, 5)).isTrue();
        assertThat(index.addSaved(2, 201, 300, 24, 5)).isFalse();
        assertThat(index.addSaved(2, 200, 300, 24, 5)).isTrue();
        assertThat(index.add(3, 4096, 300, 301, 100)).isTrue();
        assertThat(index.firstOffset()).isEqualTo(100);
        assertThat(index.run(2).savedCount()).isEqualTo(5);
        assertThat(collect(300, 1000, 1)).isEqualTo(100);
    }
}
