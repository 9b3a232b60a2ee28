package io.varve.bookie.server;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.Randomness;
import io.varve.bookie.store.SegmentStore;
import io.varve.bookie.store.StoreListener;
import io.varve.bookie.store.StoreOptions;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.protocol.rpc.RpcClientOptions;
import io.varve.tiering.api.ManifestEditor;
import io.varve.tiering.api.MetadataBackups;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.UploadSweep;
import java.util.function.Supplier;

/**
 * What a bookie is made of beside itself, so that a test can put other things in the place of disks, metadata and buckets. What is opened here is closed by the
 * bookie.
 */
public interface BookieParts extends AutoCloseable {

    /** The process's clock. */
    Clock clock();

    /** The process's chance; safe for any thread. */
    Randomness randomness();

    /** What happens when an invariant is found broken. */
    FaultHandler faults();

    /** Where meters are registered. */
    MeterRegistry registry();

    /** A way to the metadata service. Does not wait for it. */
    MetadataClient openMetadata(BookieConfig config, RpcClientOptions rpc);

    /**
     * The store on the bookie's disks.
     *
     * @throws io.varve.base.StartupException DIRECTORY_LOCKED, DIRECTORY_FOREIGN or DISK
     */
    SegmentStore openStore(StoreOptions options, StoreListener listener);

    /**
     * The way to object storage.
     *
     * @param bucketId what the keys of the cluster's objects begin with
     * @param known the newest that is known of the metadata
     * @throws io.varve.base.StartupException NO_BUCKET
     */
    Offloader openOffloader(BookieConfig config, String clusterId, String bucketId, Supplier<MetadataView> known);

    /** The way to manifests in object storage; asked for after {@link #openOffloader}. */
    ManifestEditor openManifestEditor();

    /** Copies of the metadata in the bucket; called after {@link #openOffloader}. */
    MetadataBackups backups();

    /** Drops uploads that were never completed; called after {@link #openOffloader}. */
    UploadSweep uploadSweep();

    /** Closes what the opened parts stand on; called after they were closed. */
    @Override
    default void close() {}
}
