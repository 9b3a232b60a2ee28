package io.varve.serving.request.config;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ConfigDefinition;
import io.varve.serving.coordinator.ResourceRules;
import io.varve.serving.core.config.NamedConfigs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsResourceResult;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsSynonym;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.requests.DescribeConfigsResponse.ConfigSource;

/**
 * One kind of resources that have a name and configuration and nothing else: groups, and subscriptions to clients' metrics.
 *
 * @param kind where their configuration lies
 * @param rules what it may be
 * @param source what clients are told of where a value comes from that was set
 */
record NamedResource(NamedConfigs kind, ResourceRules rules, ConfigSource source) {

    /** One source that has a value for a key. */
    private record Value(String key, String value, ConfigSource source) {}

    /** The answer to who describes one of them without its name. */
    String nameIsMissing() {
        return switch (kind) {
            case GROUP -> "Group name must not be empty";
            case CLIENT_METRICS -> "Client metrics subscription name must not be empty";
        };
    }

    /** Every key of one of them. */
    List<DescribeConfigsResourceResult> describe(
            String name, MetadataView view, boolean synonyms, boolean documentation) {
        SortedMap<String, String> set = kind.of(name, view.clusterConfigs());
        List<DescribeConfigsResourceResult> entries = new ArrayList<>();
        for (ResourceRules.Key key : rules.keys()) {
            ConfigDefinition definition = key.definition();
            List<Value> values = values(key, set);
            DescribeConfigsResourceResult entry = new DescribeConfigsResourceResult()
                    .setName(definition.name())
                    .setValue(values.get(0).value)
                    .setConfigSource(values.get(0).source.id())
                    .setConfigType(TopicConfigEntries.typeOf(definition.type()).id())
                    .setReadOnly(false)
                    .setIsSensitive(false)
                    .setDocumentation(documentation ? definition.doc() : null);
            if (synonyms) {
                entry.setSynonyms(values.stream()
                        .map(value -> new DescribeConfigsSynonym()
                                .setName(value.key)
                                .setValue(value.value)
                                .setSource(value.source.id()))
                        .toList());
            }
            entries.add(entry);
        }
        return entries;
    }

    /** All that have a value, the one that counts first. */
    private List<Value> values(ResourceRules.Key key, Map<String, String> set) {
        ConfigDefinition definition = key.definition();
        List<Value> values = new ArrayList<>();
        String own = set.get(definition.name());
        if (own != null) {
            values.add(new Value(definition.name(), own, source));
        }
        String standsIn = definition.brokerKey().orElse(definition.name());
        key.ofBroker().ifPresent(value -> values.add(new Value(standsIn, value, ConfigSource.STATIC_BROKER_CONFIG)));
        values.add(new Value(standsIn, definition.defaultValue(), ConfigSource.DEFAULT_CONFIG));
        return values;
    }

    /** What is wrong with one of them once {@code changes} are made. */
    ApiError check(String name, Map<String, String> now, Map<String, Optional<String>> changes) {
        SortedMap<String, String> then = new TreeMap<>(now);
        changes.forEach((key, value) -> {
            if (value.isPresent()) {
                then.put(key, value.get());
            } else {
                then.remove(key);
            }
        });
        return rules.check(name, then);
    }

    /** The changes as they are made in the cluster's configuration. */
    Map<String, Optional<String>> inCluster(String name, Map<String, Optional<String>> changes) {
        Map<String, Optional<String>> mapped = new TreeMap<>();
        changes.forEach((key, value) -> mapped.put(kind.clusterKey(name, key), value));
        return mapped;
    }
}
