package io.varve.serving.core.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.core.telemetry.Reports.Verdict;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SubscriptionTest {

    private static final ClientFacts CLIENT =
            new ClientFacts("instance", "app-1", "apache-kafka-java", "4.4.0", "10.0.0.7", 4711);

    @Test
    void allThatMatchAClientArePutTogetherAtTheShortestInterval() {
        Subscription told = Subscription.of(
                CLIENT,
                List.of(
                        subscription("a.,b.", 60_000, "client_id=app-.*, client_software_version=4\\..*"),
                        subscription("c.", 10_000, ""),
                        subscription("d.", 1_000, "client_source_address=10\\.0\\.0\\.8")));
        assertThat(told.onWire()).containsExactly("a.", "b.", "c.");
        assertThat(told.intervalMs()).isEqualTo(10_000);
    }

    @Test
    void whoIsAskedForEverythingIsAskedForOneEmptyName() {
        Subscription told =
                Subscription.of(CLIENT, List.of(subscription("*", 60_000, ""), subscription("a.", 60_000, "")));
        assertThat(told.onWire()).containsExactly("");
    }

    @Test
    void whoMatchesNothingReportsNothingAndAsksAgainAfterTheDefault() {
        Subscription told = Subscription.of(CLIENT, List.of(subscription("a.", 100, "client_id=other")));
        assertThat(told.onWire()).isEmpty();
        assertThat(told.intervalMs()).isEqualTo(Subscription.INTERVAL_MS_DEFAULT);
    }

    @Test
    void theNumberChangesWithTheMetricsTheIntervalAndTheClient() {
        int id = told("a.", 1_000).id("x");
        assertThat(told("a.", 1_000).id("x")).isEqualTo(id);
        assertThat(told("b.", 1_000).id("x")).isNotEqualTo(id);
        assertThat(told("a.", 2_000).id("x")).isNotEqualTo(id);
        assertThat(told("a.", 1_000).id("y")).isNotEqualTo(id);
    }

    @ParameterizedTest
    @ValueSource(strings = {"client_id", "nobody=x", "client_id=["})
    void aPatternThatCannotMatchAnythingIsRefused(String match) {
        assertThat(ClientMatch.problemOf(match)).contains("Illegal client matching pattern: " + match);
    }

    @Test
    void aClientIsHeldToItsIntervalUntilItsSubscriptionChanges() {
        Reports reports = new Reports(10);
        assertThat(reports.onAsk("c", told("a.", 1_000), 0)).isEqualTo(Verdict.OK);
        assertThat(reports.onAsk("c", told("a.", 1_000), 999)).isEqualTo(Verdict.EARLY);
        assertThat(reports.onAsk("c", told("b.", 1_000), 999)).isEqualTo(Verdict.OK);
        assertThat(reports.onReport("c", told("b.", 1_000), false, 1_000)).isEqualTo(Verdict.OK);
        assertThat(reports.onReport("c", told("b.", 1_000), false, 1_500)).isEqualTo(Verdict.EARLY);
        reports.onStale("c");
        assertThat(reports.onAsk("c", told("b.", 1_000), 1_501)).isEqualTo(Verdict.OK);
    }

    @Test
    void theLastReportMayComeEarlyAndNoneMayFollow() {
        Reports reports = new Reports(10);
        assertThat(reports.onReport("c", told("a.", 1_000), false, 0)).isEqualTo(Verdict.OK);
        assertThat(reports.onReport("c", told("a.", 1_000), true, 1)).isEqualTo(Verdict.OK);
        assertThat(reports.onReport("c", told("a.", 1_000), false, 9_999)).isEqualTo(Verdict.AFTER_LAST);
    }

    @Test
    void noMoreClientsAreRememberedThanThereIsRoomFor() {
        Reports reports = new Reports(2);
        for (int i = 0; i < 3; i++) {
            assertThat(reports.onAsk("c" + i, told("a.", 1_000), 0)).isEqualTo(Verdict.OK);
        }
        assertThat(reports.onAsk("c2", told("a.", 1_000), 1)).isEqualTo(Verdict.EARLY);
        assertThat(reports.onAsk("c0", told("a.", 1_000), 1)).isEqualTo(Verdict.OK);
    }

    private static Subscription told(String metrics, int intervalMs) {
        return Subscription.of(CLIENT, List.of(subscription(metrics, intervalMs, "")));
    }

    private static Subscription subscription(String metrics, int intervalMs, String match) {
        SortedMap<String, String> configs = new TreeMap<>();
        configs.put(Subscription.METRICS_KEY, metrics);
        configs.put(Subscription.INTERVAL_KEY, Integer.toString(intervalMs));
        configs.put(Subscription.MATCH_KEY, match);
        return Subscription.parse(configs);
    }
}
