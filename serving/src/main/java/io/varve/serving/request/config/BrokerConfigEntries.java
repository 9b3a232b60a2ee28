package io.varve.serving.request.config;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ClusterConfigSchema;
import io.varve.metadata.model.ConfigDefinition;
import io.varve.metadata.model.TopicConfigSchema;
import io.varve.serving.request.BrokerConfigs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsResourceResult;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsSynonym;
import org.apache.kafka.common.requests.DescribeConfigsResponse.ConfigSource;
import org.apache.kafka.common.requests.DescribeConfigsResponse.ConfigType;

/**
 * A broker's configuration in Kafka's words. Two kinds of keys: those of its file, which clients can read only; and those that stand for
 * topics that set nothing, or for the whole cluster, which can be set while it runs.
 */
final class BrokerConfigEntries {

    private BrokerConfigEntries() {}

    private record Value(String value, ConfigSource source) {}

    /** The definitions of keys that can be set while the cluster runs, by those keys: of the topic keys that they stand for, or their own. */
    static Map<String, ConfigDefinition> dynamicKeys() {
        Map<String, ConfigDefinition> keys = new TreeMap<>();
        for (ConfigDefinition definition : TopicConfigSchema.all()) {
            definition.brokerKey().ifPresent(key -> keys.put(key, definition));
        }
        ClusterConfigSchema.all().forEach(definition -> keys.put(definition.name(), definition));
        return keys;
    }

    /**
     * All keys of one broker, or of the cluster's defaults.
     *
     * @param broker empty for what was set for all brokers
     */
    static List<DescribeConfigsResourceResult> all(
            BrokerConfigs configs,
            MetadataView view,
            Optional<Integer> broker,
            boolean synonyms,
            boolean documentation) {
        Map<String, DescribeConfigsResourceResult> results = new TreeMap<>();
        Map<String, ConfigDefinition> dynamic = dynamicKeys();
        if (broker.isPresent()) {
            for (BrokerConfigs.Entry entry : configs.entries()) {
                List<Value> values = values(entry.name(), view, broker, entry.set(), entry.defaultValue());
                results.put(
                        entry.name(),
                        result(
                                entry.name(),
                                values,
                                ConfigType.STRING,
                                !dynamic.containsKey(entry.name()),
                                synonyms,
                                documentation ? entry.doc() : null));
            }
        }
        dynamic.forEach((key, definition) -> {
            Optional<String> defaultValue =
                    broker.isPresent() ? Optional.of(definition.defaultValue()) : Optional.empty();
            List<Value> values = values(key, view, broker, Optional.empty(), defaultValue);
            if (!values.isEmpty()) {
                results.putIfAbsent(
                        key,
                        result(
                                key,
                                values,
                                TopicConfigEntries.typeOf(definition.type()),
                                false,
                                synonyms,
                                documentation ? definition.doc() : null));
            }
        });
        return new ArrayList<>(results.values());
    }

    private static List<Value> values(
            String key,
            MetadataView view,
            Optional<Integer> broker,
            Optional<String> set,
            Optional<String> defaultValue) {
        List<Value> values = new ArrayList<>();
        broker.map(id -> view.brokerConfigs(id).get(key))
                .ifPresent(value -> values.add(new Value(value, ConfigSource.DYNAMIC_BROKER_CONFIG)));
        Optional.ofNullable(view.clusterConfigs().get(key))
                .ifPresent(value -> values.add(new Value(value, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)));
        set.ifPresent(value -> values.add(new Value(value, ConfigSource.STATIC_BROKER_CONFIG)));
        defaultValue.ifPresent(value -> values.add(new Value(value, ConfigSource.DEFAULT_CONFIG)));
        return values;
    }

    private static DescribeConfigsResourceResult result(
            String key, List<Value> values, ConfigType type, boolean readOnly, boolean synonyms, String documentation) {
        DescribeConfigsResourceResult result = new DescribeConfigsResourceResult()
                .setName(key)
                .setValue(values.isEmpty() ? null : values.get(0).value)
                .setConfigSource((values.isEmpty() ? ConfigSource.DEFAULT_CONFIG : values.get(0).source).id())
                .setConfigType(type.id())
                .setReadOnly(readOnly)
                .setIsSensitive(false)
                .setDocumentation(documentation);
        if (synonyms) {
            result.setSynonyms(values.stream()
                    .map(value -> new DescribeConfigsSynonym()
                            .setName(key)
                            .setValue(value.value)
                            .setSource(value.source.id()))
                    .toList());
        }
        return result;
    }
}
