package io.varve.cli.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UnitsTest {

    @Test
    void bytesAreCountedByPowersOf1024() {
        assertThat(Units.bytes(0)).isEqualTo("0 B");
        assertThat(Units.bytes(1023)).isEqualTo("1023 B");
        assertThat(Units.bytes(1024)).isEqualTo("1.0 KiB");
        assertThat(Units.bytes(5L * 1024 * 1024 * 1024 * 1024)).isEqualTo("5.0 TiB");
        assertThat(Units.bytes(Long.MAX_VALUE)).isEqualTo("8192.0 PiB");
    }

    @Test
    void aRateOverNoTimeIsZero() {
        assertThat(Units.perSecond(10, 0)).isZero();
        assertThat(Units.perSecond(1_000, 500_000_000)).isEqualTo(2_000);
    }

    @Test
    void shortTimesAreGivenInMillisecondsAndLongOnesInSeconds() {
        assertThat(Units.duration(1_499_999)).isEqualTo("1 ms");
        assertThat(Units.duration(9_999_000_000L)).isEqualTo("9999 ms");
        assertThat(Units.duration(12_340_000_000L)).isEqualTo("12.3 s");
    }

    @Test
    void oneOfAThingIsNoPlural() {
        assertThat(Units.counted(1, "segment")).isEqualTo("1 segment");
        assertThat(Units.counted(0, "segment")).isEqualTo("0 segments");
        assertThat(Units.counted(1_200, "segment")).isEqualTo("1,200 segments");
    }

    @Test
    void agesAreInTheUnitThatAPersonWouldChoose() {
        assertThat(Units.age(5_249)).isEqualTo("5249 ms");
        assertThat(Units.age(119_400)).isEqualTo("119.4 s");
        assertThat(Units.age(720_000)).isEqualTo("12 min");
        assertThat(Units.age(5 * 3_600_000L)).isEqualTo("5.0 h");
        assertThat(Units.age(12 * 86_400_000L + 43_200_000L)).isEqualTo("12.5 days");
        assertThat(Units.age(Long.MAX_VALUE)).endsWith(" days");
    }
}
