package io.varve.serving.request.config;

import io.varve.metadata.model.ConfigDefinition;
import io.varve.metadata.model.ConfigDefinition.Range;
import io.varve.metadata.model.ConfigDefinition.Type;
import io.varve.serving.coordinator.ResourceRules;
import io.varve.serving.core.telemetry.ClientMatch;
import io.varve.serving.core.telemetry.Subscription;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;

/** What may be configured of a subscription to clients' metrics (KIP-714). */
final class ClientMetricsRules implements ResourceRules {

    private static final List<Key> KEYS = List.of(
            key(Subscription.INTERVAL_KEY, Type.INT, Integer.toString(Subscription.INTERVAL_MS_DEFAULT), "How often."),
            key(Subscription.MATCH_KEY, Type.LIST, "", "Of which clients: NAME=PATTERN, separated by commas."),
            key(Subscription.METRICS_KEY, Type.LIST, "", "Prefixes of the metrics' names; * is all."));

    private static Key key(String name, Type type, String defaultValue, String doc) {
        return new Key(
                new ConfigDefinition(name, type, defaultValue, Optional.empty(), Range.ANY, List.of(), doc),
                Optional.empty());
    }

    @Override
    public List<Key> keys() {
        return KEYS;
    }

    @Override
    public ApiError unknown(String key) {
        return new ApiError(Errors.INVALID_REQUEST, "Unknown client metrics configuration: " + key);
    }

    @Override
    public ApiError check(String name, SortedMap<String, String> configs) {
        if (name.isEmpty()) {
            return new ApiError(Errors.INVALID_REQUEST, "Subscription name can't be empty");
        }
        String interval = configs.get(Subscription.INTERVAL_KEY);
        if (interval != null) {
            int intervalMs = Integer.parseInt(interval.trim());
            if (intervalMs < Subscription.INTERVAL_MS_MIN || intervalMs > Subscription.INTERVAL_MS_MAX) {
                return new ApiError(
                        Errors.INVALID_REQUEST,
                        "Invalid value " + interval + " for " + Subscription.INTERVAL_KEY
                                + ", interval must be between " + Subscription.INTERVAL_MS_MIN + " and "
                                + Subscription.INTERVAL_MS_MAX + " (1 hour)");
            }
        }
        return ClientMatch.problemOf(configs.getOrDefault(Subscription.MATCH_KEY, ""))
                .map(problem -> new ApiError(Errors.INVALID_CONFIG, problem))
                .orElse(ApiError.NONE);
    }
}
