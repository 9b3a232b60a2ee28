package io.varve.metadata.model;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Keys of a topic that can't hold together, by Kafka's rules: {@code local.retention.ms} and {@code local.retention.bytes} are no more than {@code retention.ms} and {@code retention.bytes}
 * where object storage is a tier of the topic (KIP-405), and {@code min.compaction.lag.ms} is no more than {@code max.compaction.lag.ms}. What counts is what holds for the topic, whether it was set
 * there, for the cluster, or nowhere.
 *
 * <p>Nobody is refused for what was there before: a topic from before a rule, or one under which the cluster's configuration was changed, can be changed in everything else.
 */
public final class ConfigConflicts {

    private static final long FOLLOWS_TOTAL = -2;

    /** Two keys of which the first is no more than the second. */
    private enum Pair {
        LOCAL_MS("local.retention.ms", "retention.ms"),
        LOCAL_BYTES("local.retention.bytes", "retention.bytes"),
        COMPACTION_LAG("min.compaction.lag.ms", "max.compaction.lag.ms");

        private final String less;
        private final String more;

        Pair(String less, String more) {
            this.less = less;
            this.more = more;
        }

        private boolean isBroken(TopicConfigs configs) {
            long least = configs.longOf(less);
            long most = configs.longOf(more);
            if (this == COMPACTION_LAG) {
                return least > most;
            }
            boolean isBounded =
                    isUnderLocalRetention(configs) && most != TopicConfigs.INFINITE && least != FOLLOWS_TOTAL;
            return isBounded && (least == TopicConfigs.INFINITE || least > most);
        }

        private boolean isTheSame(TopicConfigs one, TopicConfigs other) {
            return one.longOf(less) == other.longOf(less) && one.longOf(more) == other.longOf(more);
        }
    }

    private ConfigConflicts() {}

    /** What is wrong with a new topic for which {@code configs} hold, in a line; empty if nothing is. */
    public static Optional<String> of(TopicConfigs configs) {
        return brought(Optional.empty(), configs, UnaryOperator.identity());
    }

    /** What is wrong with changing a topic's configuration so that {@code after} holds instead of {@code before}, in a line; empty if nothing is. */
    public static Optional<String> brought(TopicConfigs before, TopicConfigs after) {
        return brought(Optional.of(before), after, UnaryOperator.identity());
    }

    /** What is wrong with changing what holds for topics that set nothing, in a line that names the cluster's keys; empty if nothing is. */
    public static Optional<String> broughtToCluster(
            Map<String, String> clusterConfigsBefore, Map<String, String> clusterConfigsAfter) {
        return brought(
                Optional.of(TopicConfigs.of(new TreeMap<>(), clusterConfigsBefore)),
                TopicConfigs.of(new TreeMap<>(), clusterConfigsAfter),
                key -> TopicConfigSchema.find(key)
                        .flatMap(ConfigDefinition::brokerKey)
                        .orElse(key));
    }

    private static Optional<String> brought(
            Optional<TopicConfigs> before, TopicConfigs after, UnaryOperator<String> named) {
        for (Pair pair : Pair.values()) {
            boolean wasThere = before.filter(pair::isBroken)
                    .filter(was -> pair.isTheSame(was, after))
                    .isPresent();
            if (pair.isBroken(after) && !wasThere) {
                return Optional.of("Invalid value " + after.longOf(pair.less) + " for configuration "
                        + named.apply(pair.less) + ": it must be no more than " + named.apply(pair.more) + ", which is "
                        + after.longOf(pair.more));
            }
        }
        return Optional.empty();
    }

    /** Where nothing is deleted for its age or size, because the topic is compacted and no more, those keys of the total say nothing. */
    private static boolean isUnderLocalRetention(TopicConfigs configs) {
        return configs.tiered() && (configs.deletedByRetention() || !configs.compacted());
    }
}
