package io.varve.tiering.client;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.Randomness;
import io.varve.base.StartupException;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.tiering.api.ChainManifests;
import io.varve.tiering.api.ManifestEditor;
import io.varve.tiering.api.MetadataBackups;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.RemoteSegments;
import io.varve.tiering.api.UploadSweep;
import io.varve.tiering.backup.BucketBackups;
import io.varve.tiering.core.Backoff;
import io.varve.tiering.manifest.CachedManifests;
import io.varve.tiering.manifest.ManifestWorker;
import io.varve.tiering.object.BackoffObjectStore;
import io.varve.tiering.object.BucketProbe;
import io.varve.tiering.object.ClusterMarker;
import io.varve.tiering.object.DeadlineObjectStore;
import io.varve.tiering.object.LocalObjectStore;
import io.varve.tiering.object.MeteredObjectStore;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.OwnedObjectStore;
import io.varve.tiering.object.PrefixedObjectStore;
import io.varve.tiering.object.S3ObjectStore;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.object.StoreFailures;
import io.varve.tiering.object.TurnsObjectStore;
import io.varve.tiering.read.Alarms;
import io.varve.tiering.scrub.Scrubber;
import io.varve.tiering.scrub.StaleUploads;
import io.varve.tiering.tools.BucketRestore;
import io.varve.tiering.tools.ObjectInspect;
import io.varve.tiering.tools.TopicVerify;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node's way to the object store: one store with deadlines, back-off and counters around it, shared by everything in the process that
 * reads or writes objects.
 */
public final class Tiering implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Tiering.class);

    /** What waits longer than so many others is better asked for again later. */
    private static final int WAITING_FOR_EACH_CALL = 16;

    /** A person waits for the verdict: what passes within this time is overlooked, and a store that is dead is told within one call's deadline. */
    private static final long BRIEF_RETRY_MS = 2_000;

    /** A node doesn't wait any longer for what it would start without. */
    private static final long START_WAIT_MS = 10_000;

    /** A broker serves what bookies hold without the store, and is waited for. */
    private static final long READER_START_WAIT_MS = 3_000;

    private static final long BACKOFF_FIRST_MS = 50;

    /** Those who wait do so for up to twice as long, which is how long a store may be well again before the last of them notices. */
    private static final long BACKOFF_MAX_MS = 15_000;

    private final TieringConfig config;
    private final String bucketId;
    private final Clock clock;
    private final Randomness randomness;
    private final MeterRegistry registry;
    private final FaultHandler faults;
    private final ObjectStore store;
    private final ObjectStore brief;

    /** @param brief the same store, and as little patience with it as a person has */
    private Tiering(
            TieringConfig config,
            String bucketId,
            Clock clock,
            Randomness randomness,
            MeterRegistry registry,
            FaultHandler faults,
            ObjectStore store,
            ObjectStore brief) {
        this.config = config;
        this.bucketId = bucketId;
        this.clock = clock;
        this.randomness = randomness;
        this.registry = registry;
        this.faults = faults;
        this.store = store;
        this.brief = brief;
    }

    /**
     * Opens the store that the configuration names; says nothing to it yet.
     *
     * @param bucketId what the keys of the cluster's objects begin with
     * @param randomness guarded by what it is handed to
     * @param faults is told of every Error on a thread of tiering's
     * @throws StartupException BAD_CONFIG, or NO_BUCKET if a local directory can't be used
     */
    public static Tiering open(
            TieringConfig config,
            String bucketId,
            Clock clock,
            Randomness randomness,
            MeterRegistry registry,
            FaultHandler faults) {
        long callMs = config.get(TieringConfig.CALL_MS);
        long bytesPerSecondMin = config.get(TieringConfig.RATE_MIN);
        int callsMax = config.callsMax();
        // Deadlines are next to the client: what they cancel is its call.
        TurnsObjectStore turns = new TurnsObjectStore(
                new MeteredObjectStore(new DeadlineObjectStore(raw(config), callMs, bytesPerSecondMin), registry),
                callsMax,
                WAITING_FOR_EACH_CALL * callsMax,
                callMs,
                bytesPerSecondMin);
        registry.gauge("varve.tiering.calls.waiting", turns, TurnsObjectStore::waiting);
        FunctionCounter.builder("varve.tiering.calls.refused", turns, TurnsObjectStore::refused)
                .register(registry);
        long retryMs = config.get(TieringConfig.RETRY_MS);
        String prefix = config.get(TieringConfig.PREFIX);
        ObjectStore store =
                new PrefixedObjectStore(new BackoffObjectStore(turns, clock, backoff(randomness), retryMs), prefix);
        ObjectStore brief = new PrefixedObjectStore(
                new BackoffObjectStore(turns, clock, backoff(randomness), Math.min(retryMs, BRIEF_RETRY_MS)), prefix);
        return new Tiering(config, bucketId, clock, randomness, registry, faults, store, brief);
    }

    /**
     * {@link #open}, for tools that only look: a directory that isn't a store yet is refused, where {@code open} would make it one and say that nothing is in it.
     *
     * @throws StartupException BAD_CONFIG, or NO_BUCKET with one line if there is no such directory
     */
    public static Tiering openExisting(
            TieringConfig config,
            String bucketId,
            Clock clock,
            Randomness randomness,
            MeterRegistry registry,
            FaultHandler faults) {
        config.requireThere();
        return open(config, bucketId, clock, randomness, registry, faults);
    }

    private static Backoff backoff(Randomness randomness) {
        return new Backoff(
                TimeUnit.MILLISECONDS.toNanos(BACKOFF_FIRST_MS),
                TimeUnit.MILLISECONDS.toNanos(BACKOFF_MAX_MS),
                randomness);
    }

    private static ObjectStore raw(TieringConfig config) {
        if (config.get(TieringConfig.STORE) == TieringConfig.Store.S3) {
            return new S3ObjectStore(config.s3());
        }
        try {
            return new LocalObjectStore(config.get(TieringConfig.LOCAL_DIR), 2 * config.callsMax());
        } catch (IOException e) {
            throw new StartupException(
                    StartupException.Reason.NO_BUCKET,
                    "The directory of " + TieringConfig.LOCAL_DIR + " can't be used: " + e,
                    e);
        }
    }

    /**
     * The same, which writes and deletes only while the bucket is the cluster's: for all that do so by what the cluster's metadata says.
     * Closed in the place of this one.
     *
     * @param clusterId whose the bucket must be
     */
    public Tiering ownedBy(String clusterId) {
        ClusterMarker marker = new ClusterMarker(store, bucketId, clusterId);
        return with(new OwnedObjectStore(store, marker::checkOurs, marker::checkOurs, clock));
    }

    /**
     * {@link #ownedBy}, which claims the bucket before it changes the first thing there: what the check at the start could not do, because the
     * store was away or slow or the check is switched off, is done then.
     *
     * @param known the key of an object that the cluster has there at that time, if any: a bucket that has neither that nor the mark is not begun anew unless the check is switched off
     */
    public Tiering claimedBy(String clusterId, Supplier<Optional<String>> known) {
        ClusterMarker marker = new ClusterMarker(store, bucketId, clusterId);
        String token = Long.toHexString(randomness.nextLong());
        boolean isChecked = config.get(TieringConfig.CHECK_AT_START);
        return with(new OwnedObjectStore(
                store,
                () -> marker.claim(token, isChecked ? known.get() : Optional.empty()),
                marker::checkOurs,
                clock));
    }

    private Tiering with(ObjectStore owned) {
        return new Tiering(config, bucketId, clock, randomness, registry, faults, owned, brief);
    }

    /** The store below the cluster's prefix. */
    public ObjectStore store() {
        return store;
    }

    /** The uploading side, for a bookie; the caller closes it. */
    public Offloader newOffloader() {
        return config.newOffloader(store, bucketId, clock, registry, faults);
    }

    /**
     * The reading side, for a broker; the caller closes it.
     *
     * @param view the newest that is known: what it doesn't name any longer is no alarm
     */
    public RemoteSegments newReader(Supplier<MetadataView> view) {
        return config.newReader(store, clock, registry, place -> place.isNamedIn(view.get()), faults);
    }

    /** The reading side, for a command without metadata; the caller closes it. */
    public RemoteSegments newReader() {
        return config.newReader(store, clock, registry, place -> true, faults);
    }

    /** Tries everything that will be asked of the store, and says in one line what is wrong; of a store that doesn't answer within the deadline of one call. */
    public StoreVerdict probe() {
        BucketProbe.Verdict verdict = newProbe(brief).run().join();
        return new StoreVerdict(verdict.isSound(), verdict.line());
    }

    private BucketProbe newProbe(ObjectStore tried) {
        return new BucketProbe(tried, "", Long.toHexString(randomness.nextLong()));
    }

    /**
     * What a node does before it serves: tries the store, and claims the prefix for its cluster. A store that is only away for the moment
     * keeps nobody from starting, nor does one that takes its time, for bookies hold what can't be uploaded yet.
     *
     * @param clusterId whose it must be
     * @param known the key of an object that the cluster has there, if any
     * @throws StartupException NO_BUCKET with one line, if the store answers and can't be used, is another cluster's, or isn't the one that the cluster's objects are in
     */
    public void checkAtStart(String clusterId, Optional<String> known) {
        if (!config.get(TieringConfig.CHECK_AT_START)) {
            return;
        }
        CompletableFuture<Void> checked = newProbe(store).run().thenCompose(verdict -> {
            if (verdict.isSound()) {
                return claim(clusterId, known);
            }
            refuseUnlessAway(verdict.kind(), verdict.line());
            return CompletableFuture.completedFuture(null);
        });
        try {
            checked.copy().orTimeout(START_WAIT_MS, TimeUnit.MILLISECONDS).join();
        } catch (CompletionException e) {
            Throwable root = StoreFailures.root(e);
            if (root instanceof StartupException refused) {
                throw refused;
            }
            if (!(root instanceof TimeoutException)) {
                throw e;
            }
            log.warn("event=store_away reason=\"{}: no verdict within {} ms\"", store.describe(), START_WAIT_MS);
            checked.whenComplete((done, failure) -> {
                if (failure != null) {
                    log.error(
                            "event=store_unusable reason=\"{}\"",
                            StoreFailures.root(failure).getMessage());
                }
            });
        }
    }

    /**
     * What a node that only reads does before it serves: it stays away from a bucket that isn't its cluster's, where everything would seem to be
     * lost. What keeps that from being known keeps nobody from starting.
     *
     * @param clusterId whose it must be
     * @param known the key of an object that the cluster has there, if any
     * @throws StartupException NO_BUCKET with one line, like {@link #checkHeld}
     */
    public void checkHeldAtStart(String clusterId, Optional<String> known) {
        if (!config.get(TieringConfig.CHECK_AT_START)) {
            return;
        }
        try {
            new ClusterMarker(brief, bucketId, clusterId)
                    .checkHeld(known)
                    .orTimeout(READER_START_WAIT_MS, TimeUnit.MILLISECONDS)
                    .join();
        } catch (CompletionException e) {
            Throwable root = StoreFailures.root(e);
            if (root instanceof StartupException refused) {
                throw refused;
            }
            String reason = root instanceof TimeoutException
                    ? "no answer within " + READER_START_WAIT_MS + " ms"
                    : StoreFailures.of(root).getMessage();
            log.warn("event=store_away reason=\"{}: {}\"", store.describe(), reason);
        }
    }

    /**
     * Looks whether it is the bucket that a cluster's objects are in, for tools that would take everything for lost in another one.
     *
     * @param clusterId whose it must be
     * @param known the key of an object that the cluster has there, if any
     * @throws StartupException NO_BUCKET with one line, if it is another cluster's or has neither the cluster's mark nor that object
     * @throws StoreException if the store doesn't tell
     */
    public void checkHeld(String clusterId, Optional<String> known) {
        try {
            new ClusterMarker(store, bucketId, clusterId).checkHeld(known).join();
        } catch (CompletionException e) {
            if (StoreFailures.root(e) instanceof StartupException refused) {
                throw refused;
            }
            throw StoreFailures.of(e);
        }
    }

    /** The key of what a cluster wrote last, an object or the root of a manifest, by what its metadata says now; the newest, for it is the least likely to be gone. */
    public static Optional<String> newestKey(MetadataView view) {
        long newest = Long.MIN_VALUE;
        Optional<String> key = Optional.empty();
        for (Topic topic : view.topics()) {
            for (PartitionState partition : view.partitions(topic.id())) {
                // Attempts and generations are numbers of tasks, both.
                ManifestRef manifest = partition.chain().manifest().orElse(null);
                if (manifest != null && manifest.generation() > newest) {
                    newest = manifest.generation();
                    key = Optional.of(manifest.key());
                }
                for (SegmentDescriptor segment : partition.chain().segments()) {
                    ObjectRef object = segment.object().orElse(null);
                    if (object != null && object.attemptId() > newest) {
                        newest = object.attemptId();
                        key = Optional.of(object.key());
                    }
                }
            }
        }
        return key;
    }

    /** Copies of the cluster's metadata in the bucket. */
    public MetadataBackups newBackups() {
        return new BucketBackups(store, bucketId, config.get(TieringConfig.PART_BYTES));
    }

    /** Drops what uploads of this cluster left behind that were never completed. */
    public UploadSweep newUploadSweep() {
        return new StaleUploads(store, bucketId, clock);
    }

    /** The clusters that left a mark in the bucket: of one that is in use there is one. */
    public List<String> clusters() {
        return BucketRestore.clusters(store);
    }

    /** Finds out what of this cluster, which is lost, the bucket still has. */
    public BucketRestore newRestore() {
        return new BucketRestore(store, bucketId, newBackups());
    }

    /** Finds what lies in the bucket without being named, and what is named without being there. */
    public Scrubber newScrubber(long graceMs) {
        return new Scrubber(store, bucketId, clock, graceMs);
    }

    /**
     * The key of an object as the metadata has it, of one that somebody may have copied out of a listing of the bucket, with the prefix.
     *
     * @throws StartupException BAD_CONFIG if it can't be a key
     */
    public String keyOf(String text) {
        String prefix = config.get(TieringConfig.PREFIX) + "/";
        String key = text.startsWith(prefix) ? text.substring(prefix.length()) : text;
        try {
            return ObjectStore.checkKey(key);
        } catch (IllegalArgumentException e) {
            throw new StartupException(
                    StartupException.Reason.BAD_CONFIG,
                    text + " is no key of an object: varve segments prints them",
                    e);
        }
    }

    /** Looks into single objects. */
    public ObjectInspect newInspect(PrintStream out) {
        return new ObjectInspect(store, out);
    }

    /** Walks the chains of topics and the objects behind them. */
    public TopicVerify newTopicVerify(PrintStream out, boolean deep, BiConsumer<Long, Long> progress) {
        return new TopicVerify(store, bucketId, out, deep, progress);
    }

    /**
     * Looks up what left the metadata for manifests, for a broker.
     *
     * @param view as of {@link #newReader(Supplier)}
     */
    public ChainManifests newManifests(Supplier<MetadataView> view) {
        return newManifests((Alarms.Place place) -> place.isNamedIn(view.get()));
    }

    /** Looks up what left the metadata for manifests, for a command without metadata. */
    public ChainManifests newManifests() {
        return newManifests((Alarms.Place place) -> true);
    }

    private ChainManifests newManifests(Predicate<Alarms.Place> isNamed) {
        return new CachedManifests(
                store, bucketId, config.get(TieringConfig.MANIFEST_CACHE_BYTES), clock, registry, isNamed, faults);
    }

    /** Writes manifests, for a bookie. */
    public ManifestEditor newManifestEditor() {
        return new ManifestWorker(store, bucketId, registry);
    }

    private CompletableFuture<Void> claim(String clusterId, Optional<String> known) {
        return new ClusterMarker(store, bucketId, clusterId)
                .claim(Long.toHexString(randomness.nextLong()), known)
                .exceptionally(failure -> {
                    if (StoreFailures.root(failure) instanceof StartupException refused) {
                        throw refused;
                    }
                    StoreException trouble = StoreFailures.of(failure);
                    refuseUnlessAway(trouble.kind(), store.describe() + ": " + trouble.getMessage());
                    return null;
                });
    }

    private static void refuseUnlessAway(StoreException.Kind kind, String line) {
        if (kind.isTransient()) {
            log.warn("event=store_away reason=\"{}\"", line);
            return;
        }
        throw new StartupException(StartupException.Reason.NO_BUCKET, line);
    }

    @Override
    public void close() {
        store.close();
    }
}
