package io.varve.serving.core.partition;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Kafka's table of epochs, as user report C3 has it. */
class EpochTableTest {

    private static final long END = 150;

    /** Epoch 0 holds 0 to 99, epoch 2 holds 100 to 149, epoch 5 owns the log and has no records; 1, 3 and 4 never had any. */
    private static EpochTable table() {
        EpochTable table = new EpochTable();
        table.assign(0, 0);
        table.assign(1, 100);
        table.assign(2, 100);
        table.assign(2, 120);
        table.assign(3, 150);
        table.assign(4, 150);
        table.assign(5, 150);
        return table;
    }

    @Test
    void everyEpochEndsWhereTheNextWithRecordsBegins() {
        EpochTable table = table();
        assertAnswer(table, 0, 0, 100);
        assertAnswer(table, 1, 0, 100);
        assertAnswer(table, 2, 2, 150);
        assertAnswer(table, 3, 2, 150);
        assertAnswer(table, 4, 2, 150);
        assertAnswer(table, 5, 5, 150);
    }

    @Test
    void recordsDeletedBelowAnOffsetTakeNoEpochsEndAboveIt() {
        EpochTable table = table();
        table.onLogStart(120);
        assertAnswer(table, 2, 2, 150);
        assertThat(table.endOf(0, END)).isLessThanOrEqualTo(120);
    }

    @Test
    void anEpochThatIsNotNewerChangesNothing() {
        EpochTable table = table();
        table.assign(4, 160);
        assertAnswer(table, 5, 5, 150);
        assertThat(table.epochOf(149)).isEqualTo(2);
        assertThat(table.epochOf(99)).isZero();
    }

    @Test
    void aTableOfManyEpochsKeepsThemAll() {
        EpochTable table = new EpochTable();
        for (int epoch = 0; epoch < 100; epoch++) {
            table.assign(epoch, epoch * 10L);
        }
        for (int epoch = 0; epoch < 99; epoch++) {
            assertAnswer(table, epoch, epoch, epoch * 10L + 10);
        }
    }

    private static void assertAnswer(EpochTable table, int asked, int epoch, long end) {
        assertThat(table.epochAt(asked)).as("epoch for %d", asked).isEqualTo(epoch);
        assertThat(table.endOf(asked, END)).as("end for %d", asked).isEqualTo(end);
    }
}
