package io.varve.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class LedgerTest {

    private final Ledger written = new Ledger(2);
    private final Ledger read = new Ledger(2);

    @Test
    void theSameRecordsInTheSameOrderMakeNoDifference() {
        enter(written, 0, 0, "a", "1");
        enter(written, 1, 0, "b", "2");
        enter(read, 1, 0, "b", "2");
        enter(read, 0, 0, "a", "1");
        assertThat(read.differencesFrom(written)).isEmpty();
        assertThat(read.count()).isEqualTo(2);
        assertThat(read.bytes()).isEqualTo(4);
    }

    @Test
    void aMissingRecordIsFound() {
        enter(written, 0, 0, "a", "1");
        enter(written, 0, 1, "a", "2");
        enter(read, 0, 0, "a", "1");
        assertThat(read.differencesFrom(written)).containsExactly("partition 0: 2 records acknowledged, 1 read back");
    }

    @Test
    void aDuplicateIsFound() {
        enter(written, 1, 0, "a", "1");
        enter(read, 1, 0, "a", "1");
        enter(read, 1, 1, "a", "1");
        assertThat(read.differencesFrom(written)).containsExactly("partition 1: 1 records acknowledged, 2 read back");
    }

    @Test
    void aChangedByteIsFound() {
        enter(written, 0, 0, "a", "1");
        enter(read, 0, 0, "a", "2");
        assertThat(read.differencesFrom(written))
                .singleElement()
                .asString()
                .startsWith("partition 0: its 1 records differ");
    }

    @Test
    void anotherOrderAnotherOffsetAndAnotherCutBetweenKeyAndValueAreFound() {
        enter(written, 0, 0, "a", "1");
        enter(written, 0, 1, "b", "2");
        enter(read, 0, 0, "b", "2");
        enter(read, 0, 1, "a", "1");
        assertThat(read.differencesFrom(written)).hasSize(1);

        Ledger shifted = new Ledger(2);
        enter(shifted, 0, 1, "a", "1");
        enter(shifted, 0, 2, "b", "2");
        assertThat(shifted.differencesFrom(written)).hasSize(1);

        Ledger cut = new Ledger(2);
        enter(cut, 0, 0, "a1", "");
        enter(cut, 0, 1, "b2", "");
        assertThat(cut.differencesFrom(written)).hasSize(1);
    }

    @Test
    void nullIsNotEmpty() {
        written.enter(0, 0, null, new byte[0]);
        read.enter(0, 0, new byte[0], new byte[0]);
        assertThat(read.differencesFrom(written)).hasSize(1);
    }

    private static void enter(Ledger ledger, int partition, long offset, String key, String value) {
        ledger.enter(partition, offset, key.getBytes(StandardCharsets.UTF_8), value.getBytes(StandardCharsets.UTF_8));
    }
}
