package io.varve.metadata.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class TopicConfigsTest {

    private static TopicConfigs configs(String... pairs) {
        TreeMap<String, String> configs = new TreeMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            configs.put(pairs[i], pairs[i + 1]);
        }
        return TopicConfigs.of(configs, new TreeMap<>());
    }

    /** Only what is sealed is compacted, so what must be compacted soon must be sealed soon. */
    @Test
    void aSegmentToBeCompactedStaysOpenNoLongerThanItMayWait() {
        assertThat(configs("segment.ms", "5000", "max.compaction.lag.ms", "100").segmentMs())
                .isEqualTo(5_000);
        assertThat(configs("cleanup.policy", "compact", "segment.ms", "5000", "max.compaction.lag.ms", "100")
                        .segmentMs())
                .isEqualTo(100);
        assertThat(configs("cleanup.policy", "compact,delete", "segment.ms", "50", "max.compaction.lag.ms", "100")
                        .segmentMs())
                .isEqualTo(50);
    }
}
