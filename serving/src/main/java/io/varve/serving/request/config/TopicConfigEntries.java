package io.varve.serving.request.config;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ConfigDefinition;
import io.varve.metadata.model.TopicConfigSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.message.CreateTopicsResponseData.CreatableTopicConfigs;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsResourceResult;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsSynonym;
import org.apache.kafka.common.requests.DescribeConfigsResponse.ConfigSource;
import org.apache.kafka.common.requests.DescribeConfigsResponse.ConfigType;

/** A topic's configuration in Kafka's words: every key with its value, where that comes from, and what else could have given it. */
public final class TopicConfigEntries {

    private TopicConfigEntries() {}

    /** One source that has a value for a key. */
    private record Value(String key, String value, ConfigSource source) {}

    /** All keys, for the answer to CreateTopics. */
    public static List<CreatableTopicConfigs> forCreation(Map<String, String> ofTopic, MetadataView view) {
        List<CreatableTopicConfigs> entries = new ArrayList<>();
        for (ConfigDefinition definition : TopicConfigSchema.all()) {
            Value value = values(definition, ofTopic, view).get(0);
            entries.add(new CreatableTopicConfigs()
                    .setName(definition.name())
                    .setValue(value.value)
                    .setReadOnly(false)
                    .setConfigSource(value.source.id())
                    .setIsSensitive(false));
        }
        return entries;
    }

    /** One key, for the answer to DescribeConfigs. */
    static DescribeConfigsResourceResult describe(
            ConfigDefinition definition,
            Map<String, String> ofTopic,
            MetadataView view,
            boolean synonyms,
            boolean documentation) {
        List<Value> values = values(definition, ofTopic, view);
        DescribeConfigsResourceResult result = new DescribeConfigsResourceResult()
                .setName(definition.name())
                .setValue(values.get(0).value)
                .setConfigSource(values.get(0).source.id())
                .setConfigType(typeOf(definition.type()).id())
                .setReadOnly(false)
                .setIsSensitive(false)
                .setDocumentation(documentation ? definition.doc() : null);
        if (synonyms) {
            result.setSynonyms(values.stream()
                    .map(value -> new DescribeConfigsSynonym()
                            .setName(value.key)
                            .setValue(value.value)
                            .setSource(value.source.id()))
                    .toList());
        }
        return result;
    }

    /** All that have a value, the one that counts first. */
    private static List<Value> values(ConfigDefinition definition, Map<String, String> ofTopic, MetadataView view) {
        List<Value> values = new ArrayList<>();
        String own = ofTopic.get(definition.name());
        if (own != null) {
            values.add(new Value(definition.name(), own, ConfigSource.TOPIC_CONFIG));
        }
        Optional<String> brokerKey = definition.brokerKey();
        brokerKey.ifPresent(key -> {
            String ofCluster = view.clusterConfigs().get(key);
            if (ofCluster != null) {
                values.add(new Value(key, ofCluster, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG));
            }
        });
        values.add(
                new Value(brokerKey.orElse(definition.name()), definition.defaultValue(), ConfigSource.DEFAULT_CONFIG));
        return values;
    }

    static ConfigType typeOf(ConfigDefinition.Type type) {
        return switch (type) {
            case BOOLEAN -> ConfigType.BOOLEAN;
            case INT -> ConfigType.INT;
            case LONG -> ConfigType.LONG;
            case DOUBLE -> ConfigType.DOUBLE;
            case STRING -> ConfigType.STRING;
            case LIST -> ConfigType.LIST;
        };
    }
}
