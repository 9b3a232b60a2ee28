package io.varve.serving.request.config;

import io.varve.serving.coordinator.ResourceRules;
import io.varve.serving.core.config.NamedConfigs;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.requests.DescribeConfigsResponse.ConfigSource;

/** The kinds of resources that have a name and configuration and nothing else. Immutable. */
public final class NamedResources {

    private final Map<ConfigResource.Type, NamedResource> types = new EnumMap<>(ConfigResource.Type.class);

    /** @param groups what may be configured of a group */
    public NamedResources(ResourceRules groups) {
        types.put(ConfigResource.Type.GROUP, new NamedResource(NamedConfigs.GROUP, groups, ConfigSource.GROUP_CONFIG));
        types.put(
                ConfigResource.Type.CLIENT_METRICS,
                new NamedResource(
                        NamedConfigs.CLIENT_METRICS, new ClientMetricsRules(), ConfigSource.CLIENT_METRICS_CONFIG));
    }

    /** All, by Kafka's type. */
    Map<ConfigResource.Type, NamedResource> types() {
        return types;
    }

    /** The one of that type. */
    Optional<NamedResource> find(byte type) {
        return Optional.ofNullable(types.get(ConfigResource.Type.forId(type)));
    }
}
