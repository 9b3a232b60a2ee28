package io.varve.serving.partition;

import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.bookie.client.BookieClient;
import io.varve.metadata.api.MetadataClient;
import io.varve.tiering.api.ChainManifests;
import io.varve.tiering.api.RemoteSegments;

/**
 * Who a broker is, and what its partitions speak to.
 *
 * @param brokerId {@code node.id}
 * @param incarnation of this process
 * @param remote where sealed segments lie that bookies don't hold any more
 * @param manifests where the chains' older parts are described
 * @param faults hears of broken invariants
 */
public record PartitionPorts(
        int brokerId,
        long incarnation,
        MetadataClient metadata,
        BookieClient bookies,
        RemoteSegments remote,
        ChainManifests manifests,
        Clock clock,
        FaultHandler faults) {}
