package io.varve.serving.kafka.group;

import io.varve.metadata.api.MetadataView;
import io.varve.serving.core.config.NamedConfigs;
import java.util.Map;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps what Kafka's coordinator knows of groups' configuration in step with the cluster's. One thread. */
public final class GroupConfigFeed {

    private static final Logger LOG = LoggerFactory.getLogger(GroupConfigFeed.class);

    private final GroupConfigManager manager;
    private final Map<String, SortedMap<String, String>> known = new TreeMap<>();

    private SortedMap<String, String> followed = new TreeMap<>();

    /** @param settings what the broker was told of groups in general */
    public GroupConfigFeed(Map<String, String> settings) {
        this.manager = new GroupConfigManager(
                GroupCoordinatorConfig.fromProps(settings), ShareGroupConfig.fromProps(settings));
    }

    /** What coordinators ask. Safe for any thread. */
    public GroupConfigManager manager() {
        return manager;
    }

    /** Takes over what differs in {@code view}. */
    void follow(MetadataView view) {
        SortedMap<String, String> configs = view.clusterConfigs();
        if (configs == followed) {
            return;
        }
        followed = configs;
        Map<String, SortedMap<String, String>> now = new TreeMap<>();
        for (String group : NamedConfigs.GROUP.names(configs)) {
            now.put(group, NamedConfigs.GROUP.of(group, configs));
        }
        for (String gone : known.keySet()) {
            if (!now.containsKey(gone)) {
                update(gone, new TreeMap<>());
            }
        }
        now.forEach((group, set) -> {
            if (!set.equals(known.get(group))) {
                update(group, set);
            }
        });
        known.clear();
        known.putAll(now);
    }

    private void update(String group, SortedMap<String, String> set) {
        Properties properties = new Properties();
        properties.putAll(set);
        try {
            manager.updateGroupConfig(group, properties);
        } catch (ConfigException | ApiException e) {
            // Set by another release, or before the broker's own bounds were changed: what was in force stays so.
            LOG.warn("event=group_config_refused group={} reason=\"{}\"", group, e.getMessage());
        }
    }
}
