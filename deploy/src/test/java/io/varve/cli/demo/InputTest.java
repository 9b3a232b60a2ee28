package io.varve.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class InputTest {

    @Test
    void theAccessLogIsTheSameForTheSameSeedAndAnotherForAnother() {
        List<DemoRecord> once = all(new AccessLog(7, 1_000, 1_700_000_000_000L));
        assertThat(all(new AccessLog(7, 1_000, 1_700_000_000_000L))).isEqualTo(once);
        assertThat(all(new AccessLog(8, 1_000, 1_700_000_000_000L))).isNotEqualTo(once);
    }

    @Test
    void theAccessLogHasAsManyLinesAsAskedForUnderManyKeys() {
        List<DemoRecord> records = all(new AccessLog(1, 20_000, 1_700_000_000_000L));
        assertThat(records).hasSize(20_000);
        assertThat(new TreeSet<>(records.stream().map(DemoRecord::key).toList()).size())
                .isGreaterThan(1_000);
        assertThat(records)
                .allSatisfy(record -> assertThat(record.line())
                        .startsWith(record.key() + " - - [")
                        .doesNotContain("\n"));
    }

    @Test
    void theLinesOfAFileAreKeyedByTheirFirstWord() {
        BufferedReader reader = new BufferedReader(new StringReader("GET /a 200\n\nalone\n"));
        assertThat(all(new Lines(reader)))
                .containsExactly(
                        new DemoRecord("GET", "GET /a 200"), new DemoRecord("", ""), new DemoRecord("alone", "alone"));
    }

    private static List<DemoRecord> all(Iterator<DemoRecord> records) {
        List<DemoRecord> all = new ArrayList<>();
        records.forEachRemaining(all::add);
        return all;
    }
}
