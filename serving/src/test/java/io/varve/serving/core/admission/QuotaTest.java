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
