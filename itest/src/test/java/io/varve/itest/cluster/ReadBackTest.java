package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The process tests' oracle finds what it is there to find. */
class ReadBackTest {

    private static final long STRIDE = 1_000;

    private final AckLog acks = new AckLog(2);

    @BeforeEach
    void threeRecordsAreAcknowledged() {
        acks.acknowledged(0, 0, 1);
        acks.acknowledged(0, 1, 1_001);
        acks.acknowledged(1, 0, 2);
    }

    @Test
    void theSameRecordsPass() {
        assertThatCode(() -> read(new long[] {1, 1_001}, new long[] {2})).doesNotThrowAnyException();
    }

    @Test
    void aMissingRecordIsFound() {
        assertThatThrownBy(() -> read(new long[] {1}, new long[] {2}))
                .hasMessageContaining("record 1001 was acknowledged");
    }

    @Test
    void aReplacedRecordIsFound() {
        assertThatThrownBy(() -> read(new long[] {1, 7}, new long[] {2})).hasMessageContaining("record 7 is there");
    }

    @Test
    void aRecordThatNobodyWasToldOfIsFound() {
        assertThatThrownBy(() -> read(new long[] {1, 1_001}, new long[] {2, 3}))
                .hasMessageContaining("records read back");
    }

    @Test
    void duplicatesAndDisorderAreFound() {
        assertThatThrownBy(() -> new ReadBack(new long[][] {{1, 2, 2}}).hasNoDuplicatesAndKeepsOrder(STRIDE))
                .hasMessageContaining("twice");
        assertThatThrownBy(() -> new ReadBack(new long[][] {{1, 3, 2}}).hasNoDuplicatesAndKeepsOrder(STRIDE))
                .hasMessageContaining("out of order");
        assertThatCode(() -> new ReadBack(new long[][] {{1, 1_001, 2, 1_002}}).hasNoDuplicatesAndKeepsOrder(STRIDE))
                .doesNotThrowAnyException();
    }

    @Test
    void twoRecordsAcknowledgedAtOneOffsetAreFound() {
        assertThatThrownBy(() -> acks.acknowledged(0, 1, 9)).hasMessageContaining("I-2");
    }

    private void read(long[]... records) {
        new ReadBack(records).isExactly(acks).hasNoDuplicatesAndKeepsOrder(STRIDE);
    }
}
