package io.varve.serving.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PartitionMetricsTest {

    @Test
    void figuresOfLoopsAddUpAndTheWorstLagCounts() {
        PartitionFigures one =
                new PartitionFigures(3, 1, 1, new TreeMap<>(Map.of(new BookieId(1), 5L, new BookieId(2), 0L)));
        PartitionFigures two =
                new PartitionFigures(4, 0, 2, new TreeMap<>(Map.of(new BookieId(2), 9L, new BookieId(3), 1L)));

        PartitionFigures both = PartitionFigures.NONE.plus(one).plus(two);

        assertThat(both.owned()).isEqualTo(7);
        assertThat(both.opening()).isEqualTo(1);
        assertThat(both.underReplicated()).isEqualTo(3);
        assertThat(both.lagRecords())
                .containsExactly(
                        Map.entry(new BookieId(1), 5L), Map.entry(new BookieId(2), 9L), Map.entry(new BookieId(3), 1L));
    }
}
