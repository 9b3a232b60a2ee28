package io.varve.serving.request.cluster;

import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.protocol.ApiKeys;

/**
 * The version table: what this broker serves, and what it says of it. Kafka 4.4's ranges to the number, the same on every broker of a cluster.
 *
 * <p>Produce is said to start at 0, though it is served from 3 on: librdkafka takes the low versions for the broker's knowledge of compression
 * (P1 of the user reports).
 */
public final class SupportedApis {

    /**
     * Kafka has these for its own brokers and controllers, or for abilities that Varve doesn't have. The two of telemetry are answered if
     * they are asked, but nobody is told, as in a Kafka without a receiver of metrics.
     */
    private static final Set<ApiKeys> NOT_SERVED = EnumSet.of(
            ApiKeys.GET_TELEMETRY_SUBSCRIPTIONS,
            ApiKeys.PUSH_TELEMETRY,
            ApiKeys.UNREGISTER_BROKER,
            ApiKeys.UNREGISTER_CONTROLLER,
            ApiKeys.ADD_RAFT_VOTER,
            ApiKeys.REMOVE_RAFT_VOTER,
            ApiKeys.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE);

    private static final Map<ApiKeys, Range> SERVED = new EnumMap<>(ApiKeys.class);

    static {
        for (ApiKeys api : ApiKeys.brokerApis()) {
            if (!NOT_SERVED.contains(api) && api.hasValidVersion()) {
                SERVED.put(api, new Range(api.oldestVersion(), api.latestVersion(false)));
            }
        }
    }

    private SupportedApis() {}

    /** Versions, both inclusive. */
    public record Range(short least, short most) {}

    /** What is served. */
    public static Map<ApiKeys, Range> served() {
        return Collections.unmodifiableMap(SERVED);
    }

    /** What is said of it. */
    static Range advertised(ApiKeys api) {
        Range served = SERVED.get(api);
        return api == ApiKeys.PRODUCE
                ? new Range(ApiKeys.PRODUCE_API_VERSIONS_RESPONSE_MIN_VERSION, served.most)
                : served;
    }

    /** Whether an API is served at all. */
    public static boolean isServed(ApiKeys api) {
        return SERVED.containsKey(api);
    }
}
