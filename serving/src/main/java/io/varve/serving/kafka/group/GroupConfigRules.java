package io.varve.serving.kafka.group;

import io.varve.metadata.model.ConfigDefinition;
import io.varve.metadata.model.ConfigDefinition.Range;
import io.varve.serving.coordinator.ResourceRules;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;

/** What may be configured of a group: Kafka's keys, held to Kafka's checks against what the broker allows. */
public final class GroupConfigRules implements ResourceRules {

    private final GroupCoordinatorConfig groupsOfBroker;
    private final ShareGroupConfig shareGroupsOfBroker;
    private final List<Key> keys = new ArrayList<>();

    /** @param options what the broker was told of groups in general */
    public GroupConfigRules(CoordinatorOptions options) {
        Map<String, String> settings = GroupHost.settings(options);
        this.groupsOfBroker = GroupCoordinatorConfig.fromProps(settings);
        this.shareGroupsOfBroker = ShareGroupConfig.fromProps(settings);
        AbstractConfig groups = new AbstractConfig(GroupCoordinatorConfig.CONFIG_DEF, settings, false);
        AbstractConfig shareGroups = new AbstractConfig(ShareGroupConfig.CONFIG_DEF, settings, false);
        for (ConfigDef.ConfigKey key : GroupConfig.CONFIG_DEF.configKeys().values()) {
            if (!GroupConfig.isInternal(key.name)) {
                keys.add(keyOf(key, groups, shareGroups, options.kafka()));
            }
        }
    }

    private static Key keyOf(
            ConfigDef.ConfigKey key, AbstractConfig groups, AbstractConfig shareGroups, Map<String, String> set) {
        Optional<String> brokerKey = GroupConfig.brokerSynonym(key.name);
        Optional<String> ofBroker = brokerKey.map(set::get);
        Object standsIn = brokerKey
                .map(name -> groups.values().containsKey(name)
                        ? groups.values().get(name)
                        : shareGroups.values().get(name))
                .orElse(null);
        Object value = standsIn == null ? key.defaultValue : standsIn;
        String text = value == null || value == ConfigDef.NO_DEFAULT_VALUE
                ? ""
                : ConfigDef.convertToString(value, key.type());
        return new Key(
                new ConfigDefinition(
                        key.name, typeOf(key.type()), text, brokerKey, Range.ANY, List.of(), key.documentation),
                ofBroker);
    }

    private static ConfigDefinition.Type typeOf(ConfigDef.Type type) {
        return switch (type) {
            case BOOLEAN -> ConfigDefinition.Type.BOOLEAN;
            case INT, SHORT -> ConfigDefinition.Type.INT;
            case LONG -> ConfigDefinition.Type.LONG;
            case DOUBLE -> ConfigDefinition.Type.DOUBLE;
            case LIST -> ConfigDefinition.Type.LIST;
            case STRING, CLASS, PASSWORD -> ConfigDefinition.Type.STRING;
        };
    }

    @Override
    public List<Key> keys() {
        return keys;
    }

    @Override
    public ApiError unknown(String key) {
        return new ApiError(Errors.INVALID_CONFIG, "Unknown group config name: " + key);
    }

    @Override
    public ApiError check(String name, SortedMap<String, String> configs) {
        if (name.isEmpty()) {
            return new ApiError(Errors.INVALID_REQUEST, "Default group resources are not allowed.");
        }
        try {
            GroupConfig.validate(configs, groupsOfBroker, shareGroupsOfBroker);
            return ApiError.NONE;
        } catch (ConfigException e) {
            return new ApiError(Errors.INVALID_CONFIG, e.getMessage());
        } catch (ApiException e) {
            return ApiError.fromThrowable(e);
        }
    }
}
