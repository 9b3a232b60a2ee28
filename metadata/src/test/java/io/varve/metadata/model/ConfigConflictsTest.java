package io.varve.metadata.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ConfigConflictsTest {

    private static TopicConfigs topic(String... pairs) {
        return TopicConfigs.of(map(pairs), new TreeMap<>());
    }

    private static Map<String, String> map(String... pairs) {
        TreeMap<String, String> configs = new TreeMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            configs.put(pairs[i], pairs[i + 1]);
        }
        return configs;
    }

    @Test
    void theLineNamesBothKeysAndBothValues() {
        assertThat(ConfigConflicts.of(topic("local.retention.ms", "8", "retention.ms", "7")))
                .contains("Invalid value 8 for configuration local.retention.ms: it must be no more than retention.ms,"
                        + " which is 7");
        assertThat(ConfigConflicts.of(topic("local.retention.bytes", "-1", "retention.bytes", "7")))
                .contains("Invalid value -1 for configuration local.retention.bytes: it must be no more than"
                        + " retention.bytes, which is 7");
        assertThat(ConfigConflicts.broughtToCluster(map(), map("log.local.retention.ms", "8", "log.retention.ms", "7")))
                .contains("Invalid value 8 for configuration log.local.retention.ms: it must be no more than"
                        + " log.retention.ms, which is 7");
    }

    @Test
    void whatFollowsTheTotalOrHasNoTotalIsNeverTooMuch() {
        assertThat(ConfigConflicts.of(topic())).isEmpty();
        assertThat(ConfigConflicts.of(topic("local.retention.ms", "-2", "retention.ms", "0")))
                .isEmpty();
        assertThat(ConfigConflicts.of(topic("local.retention.bytes", "-1", "retention.bytes", "-1")))
                .isEmpty();
        assertThat(ConfigConflicts.of(topic("local.retention.bytes", "0", "retention.bytes", "0")))
                .isEmpty();
    }

    /** A pair that stands as it stood is nobody's change, whoever else is changed. */
    @Test
    void onlyWhatAChangeBringsIsRefused() {
        TopicConfigs before = topic("local.retention.ms", "8", "retention.ms", "7");
        assertThat(ConfigConflicts.brought(
                        before, topic("local.retention.ms", "8", "retention.ms", "7", "segment.ms", "9")))
                .isEmpty();
        assertThat(ConfigConflicts.brought(before, topic("local.retention.ms", "9", "retention.ms", "7")))
                .isPresent();
        assertThat(ConfigConflicts.brought(
                        before,
                        topic(
                                "local.retention.ms",
                                "8",
                                "retention.ms",
                                "7",
                                "retention.bytes",
                                "1",
                                "local.retention.bytes",
                                "2")))
                .hasValueSatisfying(line -> assertThat(line).contains("local.retention.bytes"));
    }

    @Test
    void compactionWaitsNoLongerThanItMay() {
        assertThat(ConfigConflicts.of(topic("min.compaction.lag.ms", "8", "max.compaction.lag.ms", "7")))
                .isPresent();
        assertThat(ConfigConflicts.of(topic("min.compaction.lag.ms", "7", "max.compaction.lag.ms", "7")))
                .isEmpty();
    }
}
