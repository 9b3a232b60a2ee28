package io.varve.serving.core.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class QuotaTest {

    private static final QuotaKey KEY = QuotaKey.PRODUCER_BYTE_RATE;
    private final SortedMap<String, String> configs = new TreeMap<>();

    @ParameterizedTest
    @ValueSource(strings = {"", "plain", "with space", "ü/ö:%", "-", "+"})
    void anEntityIsReadAsItWasWritten(String name) {
        QuotaEntity both = new QuotaEntity(Optional.of(name), Optional.of(name + "2"));
        QuotaEntity one = new QuotaEntity(Optional.empty(), Optional.of(name));
        assertThat(QuotaEntity.decode(both.encoded())).isEqualTo(both);
        assertThat(QuotaEntity.decode(one.encoded())).isEqualTo(one);
    }

    @Test
    void theMostSpecialQuotaCountsInKafkasOrder() {
        configs.put("retention.ms", "1");
        configs.put("zzz", "1");
        set(null, "", 8);
        assertLimit(8, null, "c");
        set(null, "c", 7);
        assertLimit(7, null, "c");
        set("", null, 6);
        assertLimit(6, "u", null);
        set("", "", 5);
        assertLimit(5, "u", "c");
        set("", "c", 4);
        assertLimit(4, "u", "c");
        set("u", null, 3);
        assertLimit(3, "u", null);
        set("u", "", 2);
        assertLimit(2, "u", "c");
        set("u", "c", 1);
        assertLimit(1, "u", "c");
        assertThat(QuotaTable.of(configs).find(QuotaKey.CONSUMER_BYTE_RATE, "u", "c"))
                .isEmpty();
    }

    @Test
    void aRateIsHeldOverTimeAndABurstOfASecondIsFree() {
        RateMeter meter = new RateMeter();
        long now = 0;
        assertThat(meter.take(1_000, 1_000, now)).isZero();
        assertThat(meter.take(500, 1_000, now)).isEqualTo(500);
        now += TimeUnit.MILLISECONDS.toNanos(500);
        assertThat(meter.take(0, 1_000, now)).isZero();
        double taken = 0;
        for (int i = 0; i < 1_000; i++) {
            taken += 100;
            now += TimeUnit.MILLISECONDS.toNanos(1 + meter.take(100, 1_000, now));
        }
        assertThat(taken / TimeUnit.NANOSECONDS.toSeconds(now)).isBetween(900.0, 1_020.0);
    }

    @Test
    void anAddressHasItsOwnQuotaOrTheDefaultAndIsCountedForItself() {
        QuotaKey key = QuotaKey.CONNECTION_CREATION_RATE;
        configs.put(QuotaTable.configKey(QuotaEntity.ofAddress(QuotaEntity.DEFAULT), key), "5");
        configs.put(QuotaTable.configKey(QuotaEntity.ofAddress("10.0.0.1"), key), "2");
        QuotaTable table = QuotaTable.of(configs);
        assertThat(table.findForAddress(key, "10.0.0.1"))
                .contains(new QuotaTable.Limit(QuotaEntity.ofAddress("10.0.0.1"), 2));
        assertThat(table.findForAddress(key, "fe80::1"))
                .contains(new QuotaTable.Limit(QuotaEntity.ofAddress("fe80::1"), 5));
        assertThat(table.find(key, "u", "c")).isEmpty();
    }

    @Test
    void whoIsInDebtIsRefusedWithoutBeingCountedUntilItIsPaid() {
        RateMeter meter = new RateMeter(10);
        assertThat(meter.takeIfPaid(12, 1, 0)).isZero();
        assertThat(meter.takeIfPaid(1, 1, 0)).isEqualTo(2_000);
        assertThat(meter.takeIfPaid(1, 1, TimeUnit.SECONDS.toNanos(1))).isEqualTo(1_000);
        assertThat(meter.takeIfPaid(1, 1, TimeUnit.SECONDS.toNanos(2))).isZero();
    }

    @Test
    void noWaitIsLongerThanTheBound() {
        RateMeter meter = new RateMeter();
        assertThat(meter.take(1e12, 1, 0)).isEqualTo(RateMeter.WAIT_MS_MAX);
        assertThat(meter.take(0, 1, TimeUnit.MILLISECONDS.toNanos(RateMeter.WAIT_MS_MAX)))
                .isZero();
    }

    private void set(String user, String clientId, double limit) {
        QuotaEntity entity = new QuotaEntity(Optional.ofNullable(user), Optional.ofNullable(clientId));
        configs.put(QuotaTable.configKey(entity, KEY), Double.toString(limit));
    }

    private void assertLimit(double limit, String countedUser, String countedClientId) {
        assertThat(QuotaTable.of(configs).find(KEY, "u", "c"))
                .contains(new QuotaTable.Limit(
                        new QuotaEntity(Optional.ofNullable(countedUser), Optional.ofNullable(countedClientId)),
                        limit));
    }
}
