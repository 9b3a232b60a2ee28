package io.varve.serving.request;

import io.varve.base.Clock;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.serving.log.PartitionLogs;

/**
 * What handlers work with. Everything in it is safe for any thread.
 *
 * @param settings fixed at start
 * @param configs the same and more, for clients that ask
 * @param clock time
 * @param metadata the cluster's metadata
 * @param logs the logs that this broker serves
 * @param finder from names to logs
 * @param topics parsed configuration
 * @param deadlines for everything that waits
 * @param quotas what clients are held to
 */
public record BrokerServices(
        BrokerSettings settings,
        BrokerConfigs configs,
        Clock clock,
        MetadataClient metadata,
        PartitionLogs logs,
        PartitionFinder finder,
        TopicCache topics,
        Deadlines deadlines,
        ClientQuotas quotas) {

    /** The metadata as it is here now. */
    public MetadataView view() {
        return metadata.view();
    }
}
