package io.varve.serving.server;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.bookie.client.BookieClient;
import io.varve.metadata.api.MetadataClient;
import io.varve.serving.coordinator.Coordinators;
import io.varve.serving.log.PartitionLogs;
import io.varve.tiering.api.ChainManifests;
import io.varve.tiering.api.RemoteSegments;

/**
 * What a broker is put together from: everything that reaches outside the process, so that a test can put in its own.
 *
 * @param incarnation random, new at every start of the process
 * @param metadata connected
 * @param bookies where entries are stored
 * @param remote where the past is
 * @param manifests where the metadata no longer says where it is
 * @param coordinators makes the coordinators over the broker's logs
 * @param clock time
 * @param registry for metrics
 * @param faults where broken invariants end up
 */
record ServingParts(
        long incarnation,
        MetadataClient metadata,
        BookieClient bookies,
        RemoteSegments remote,
        ChainManifests manifests,
        CoordinatorsFactory coordinators,
        Clock clock,
        MeterRegistry registry,
        FaultHandler faults) {

    /** Makes coordinators. */
    @FunctionalInterface
    interface CoordinatorsFactory {
        /** Over these logs; the node closes them. */
        Coordinators over(PartitionLogs logs);
    }
}
