package io.varve.serving.request;

import java.util.List;

/**
 * What of the broker's configuration request handlers look at.
 *
 * @param brokerId {@code node.id}
 * @param metadataServers {@code metadata.servers}, for clients that ask
 * @param defaultPartitions {@code num.partitions}
 * @param defaultReplicas {@code default.replication.factor}
 * @param autoCreateTopics {@code auto.create.topics.enable}
 * @param fetchBytesMax {@code fetch.max.bytes}: no answer to a Fetch is larger, but for its first batch
 * @param fetchMemoryBytes bytes of Fetch answers on their way to all clients together
 * @param fetchSessionsMax {@code max.incremental.fetch.session.cache.slots}
 * @param shareSessionsMax {@code group.share.max.share.sessions}
 * @param takeoverWaitMs how long a request waits for a partition that this broker is about to serve
 * @param adminTimeoutMs how long an admin request waits at most, whatever the client allows
 */
public record BrokerSettings(
        int brokerId,
        List<MetadataServer> metadataServers,
        int defaultPartitions,
        int defaultReplicas,
        boolean autoCreateTopics,
        int fetchBytesMax,
        long fetchMemoryBytes,
        int fetchSessionsMax,
        int shareSessionsMax,
        long takeoverWaitMs,
        long adminTimeoutMs) {

    public BrokerSettings {
        metadataServers = List.copyOf(metadataServers);
    }

    /** A node of the metadata service, as it was configured. */
    public record MetadataServer(int id, String host, int port) {}
}
