package io.varve.bookie.server;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.BookieId;
import io.varve.base.FaultHandler;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.StartupException;
import io.varve.bookie.client.BookieClient;
import io.varve.bookie.client.BookieClientOptions;
import io.varve.bookie.client.RemoteBookieClient;
import io.varve.bookie.net.BookieService;
import io.varve.bookie.net.NetMetrics;
import io.varve.bookie.offload.BucketKeeper;
import io.varve.bookie.offload.BuildManifestWork;
import io.varve.bookie.offload.DeleteObjectWork;
import io.varve.bookie.offload.OffloadBacklog;
import io.varve.bookie.offload.OffloadWork;
import io.varve.bookie.offload.PruneManifestWork;
import io.varve.bookie.repair.CopyPace;
import io.varve.bookie.repair.CopyReplicaWork;
import io.varve.bookie.repair.DamageReports;
import io.varve.bookie.repair.DeleteReplicaWork;
import io.varve.bookie.repair.SealedReplicas;
import io.varve.bookie.store.ReplicaInfo;
import io.varve.bookie.store.SegmentStore;
import io.varve.bookie.store.StoreListener;
import io.varve.bookie.task.TaskKind;
import io.varve.bookie.task.TaskRunner;
import io.varve.bookie.task.TaskWork;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.InternalTopics;
import io.varve.protocol.config.HostPort;
import io.varve.protocol.rpc.RpcBounds;
import io.varve.protocol.rpc.RpcClientOptions;
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcLoops;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.rpc.RpcServer;
import io.varve.protocol.rpc.RpcServerOptions;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.tiering.api.ManifestEditor;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.client.TieringConfig;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running bookie. Started in this order: the metadata service, for the cluster's id; the disks, whose cookies must fit it; the listener; object storage; the
 * registration; and then the background work. Stopped the other way round: unregistered first, so that nobody begins anything new here.
 */
public final class BookieNode implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(BookieNode.class);
    private static final int BLOCKING_THREADS = 4;
    private static final int MANIFEST_THREADS = 2;
    private static final int COPY_CHUNK_BYTES = 1024 * 1024;
    private static final long COPY_READ_MS_MAX = 15_000;
    private static final long ASK_AGAIN_MS = 200;
    private static final long SAY_MS = 10_000;
    private static final long DRAIN_MS_MAX = 5_000;
    private static final long DRAIN_LOOK_MS = 10;

    private final BookieConfig config;
    private final BookieParts parts;
    private final BookieId self;
    /** What was opened, the last first. */
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    private final CompletableFuture<String> stopped = new CompletableFuture<>();
    private volatile String clusterId = "";
    private volatile BookieSession session;
    private volatile DamageReports damage;
    private volatile SegmentStore store;
    private volatile Supplier<MetadataView> view;
    private ScheduledExecutorService thread;
    private RpcServer server;
    private BookieService service;
    private HostPort address;

    /** Held here because meters don't hold what they measure. */
    private OffloadBacklog backlog;

    private BookieNode(BookieConfig config, BookieParts parts) {
        this.config = config;
        this.parts = parts;
        this.self = config.id();
    }

    /**
     * Starts a bookie on this machine's disks, and returns when it is registered.
     *
     * @throws StartupException if it can't be started, in one line; nothing of it is left running
     */
    public static BookieNode start(BookieConfig config, MeterRegistry registry, FaultHandler faults) {
        return start(config, new RealParts(registry, faults));
    }

    /**
     * Starts a bookie of other parts, and returns when it is registered.
     *
     * @throws StartupException if it can't be started; nothing of it is left running
     */
    public static BookieNode start(BookieConfig config, BookieParts parts) {
        BookieNode node = new BookieNode(config, parts);
        try {
            node.open();
            return node;
        } catch (RuntimeException | Error e) {
            node.close();
            throw e;
        }
    }

    /** The port it listens on. */
    public int port() {
        return server.port();
    }

    /** The address it registered. */
    public HostPort address() {
        return address;
    }

    /** Completes, with the reason, when the bookie finds that it must not go on. The process should then close it and end. */
    public CompletableFuture<String> mustStop() {
        return stopped;
    }

    private void open() {
        closeLater(parts);
        long sessionId = SystemRandomness.unique();
        thread = Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "bookie-" + self));
        closeLater(thread::shutdownNow);
        RpcLoops loops = RpcLoops.start("bookie-" + self + "-net", config.get(BookieConfig.NETWORK_THREADS));
        closeLater(loops);
        RpcClientOptions rpc = new RpcClientOptions(
                () -> new RpcIdentity(RpcRole.BOOKIE, self.value(), sessionId, clusterId),
                loops,
                parts.clock(),
                parts.randomness(),
                parts.faults(),
                RpcBounds.DEFAULT.withSilence(config.get(BookieConfig.SILENCE_MS)));

        MetadataClient metadata = parts.openMetadata(config, rpc);
        closeLater(metadata);
        MetadataView first = awaitCluster(metadata);
        clusterId = first.clusterId();
        damage = new DamageReports(self, metadata, thread);
        view = metadata::view;
        store = parts.openStore(config.storeOptions(clusterId), new Listener());
        closeLater(store);

        service = new BookieService(
                store, config.get(BookieConfig.READ_REPLY_BYTES_MAX), parts.clock(), new NetMetrics(parts.registry()));
        server = RpcServer.bind(
                new RpcServerOptions(
                        config.get(BookieConfig.LISTENER).host(),
                        config.get(BookieConfig.LISTENER).port(),
                        rpc.identity(),
                        loops,
                        parts.clock(),
                        parts.faults(),
                        config.rpcBounds()),
                service);
        closeLater(server);
        closeLater(this::drain);
        meter();
        Offloader offloader = parts.openOffloader(config, clusterId, first.bucketId(), metadata::view);
        closeLater(offloader);
        BookieClient client = new RemoteBookieClient(BookieClientOptions.of(rpc));
        closeLater(client);

        address = config.advertised(server.port(), machineName());
        session = new BookieSession(
                self, config.get(BookieConfig.RACK), address, metadata, store, thread, SystemRandomness::unique);
        session.refused().thenAccept(stopped::complete);
        session.start(metadataWaitMs(), parts.clock().nanoTime(), parts.clock()::nanoTime);
        closeLater(session::close);
        startBackground(metadata, offloader, client);
        LOG.info("event=started role=bookie id={} cluster={} address={}", self, clusterId, address);
    }

    private void startBackground(MetadataClient metadata, Offloader offloader, BookieClient client) {
        ExecutorService blocking =
                Executors.newFixedThreadPool(BLOCKING_THREADS, task -> daemon(task, "bookie-" + self + "-work"));
        closeLater(blocking::shutdownNow);
        Map<TaskKind, TaskWork<? extends BookieTask>> works = new EnumMap<>(TaskKind.class);
        works.put(TaskKind.OFFLOAD, new OffloadWork(store, offloader, blocking));
        works.put(TaskKind.DELETE_OBJECT, new DeleteObjectWork(offloader));
        ExecutorService manifests =
                Executors.newFixedThreadPool(MANIFEST_THREADS, task -> daemon(task, "bookie-" + self + "-manifests"));
        closeLater(manifests::shutdownNow);
        ManifestEditor editor = parts.openManifestEditor();
        works.put(TaskKind.BUILD_MANIFEST, new BuildManifestWork(editor, manifests));
        works.put(TaskKind.PRUNE_MANIFEST, new PruneManifestWork(editor, manifests));
        works.put(TaskKind.DELETE_REPLICA, new DeleteReplicaWork(self, store, offloader::isThere, blocking));
        works.put(
                TaskKind.COPY_REPLICA,
                new CopyReplicaWork(
                        store,
                        client,
                        blocking,
                        parts.clock(),
                        new CopyPace(config.get(BookieConfig.COPY_RATE)),
                        COPY_CHUNK_BYTES,
                        COPY_READ_MS_MAX));
        TaskRunner runner = new TaskRunner(
                self,
                metadata,
                works,
                config.tasksMax(),
                parts.clock(),
                parts.randomness(),
                parts.faults(),
                parts.registry());
        closeLater(runner);
        SealedReplicas sealed = new SealedReplicas(self, metadata, store, thread, parts.faults());
        closeLater(sealed);
        sealed.start();
        runner.start();
        startKeeper(metadata);
        backlog = new OffloadBacklog(self, metadata::view, parts.clock());
        backlog.meter(parts.registry());
    }

    private void startKeeper(MetadataClient metadata) {
        TieringConfig tiering = new TieringConfig(config.config());
        BucketKeeper keeper = new BucketKeeper(
                self,
                metadata,
                parts.backups(),
                parts.uploadSweep(),
                tiering.backupIntervalMs(),
                tiering.backupsKept(),
                parts.clock(),
                parts.faults(),
                parts.registry());
        closeLater(keeper);
        keeper.start();
    }

    private long metadataWaitMs() {
        long waitMs = config.get(BookieConfig.METADATA_WAIT_MS);
        return waitMs < 0 ? TimeUnit.DAYS.toMillis(365) : waitMs;
    }

    /** A bookie can't even open its disks before it knows which cluster it is of. Says now and then what it waits for. */
    private MetadataView awaitCluster(MetadataClient metadata) {
        long waitMs = metadataWaitMs();
        long untilNanos = parts.clock().nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs);
        long sayNanos = parts.clock().nanoTime() + TimeUnit.MILLISECONDS.toNanos(SAY_MS);
        String trouble = "none of them answers";
        for (long leftNanos = TimeUnit.MILLISECONDS.toNanos(waitMs);
                leftNanos > 0;
                leftNanos = untilNanos - parts.clock().nanoTime()) {
            try {
                long thisTimeNanos = Math.min(leftNanos, TimeUnit.MILLISECONDS.toNanos(SAY_MS));
                MetadataView view = metadata.linearizable().get(thisTimeNanos, TimeUnit.NANOSECONDS);
                if (!view.clusterId().isEmpty()) {
                    return view;
                }
                trouble = "the cluster has not been formed";
            } catch (ExecutionException e) {
                trouble = String.valueOf(e.getCause().getMessage());
            } catch (TimeoutException late) {
                LOG.trace("event=metadata_silent");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                trouble = "interrupted";
                break;
            }
            if (parts.clock().nanoTime() - sayNanos >= 0) {
                LOG.warn(
                        "event=waiting_for_metadata servers={} reason=\"{}\"",
                        config.get(BookieConfig.METADATA_SERVERS),
                        trouble);
                sayNanos = parts.clock().nanoTime() + TimeUnit.MILLISECONDS.toNanos(SAY_MS);
            }
            pause(ASK_AGAIN_MS);
        }
        throw new StartupException(
                StartupException.Reason.NO_QUORUM,
                "The metadata service " + config.get(BookieConfig.METADATA_SERVERS) + " did not answer within " + waitMs
                        + " ms: " + trouble);
    }

    private void meter() {
        Gauge.builder("varve_rpc_connections", server, RpcServer::connections)
                .description("Peers connected")
                .tag("role", "bookie")
                .register(parts.registry());
        Gauge.builder("varve_rpc_in_flight_bytes", server, RpcServer::inFlightBytes)
                .description("Bytes of requests in work")
                .tag("role", "bookie")
                .register(parts.registry());
        Gauge.builder("varve_bookie_damage_reports_waiting", damage, DamageReports::waiting)
                .description("Replicas whose loss the metadata service has not been told of yet")
                .register(parts.registry());
    }

    /** Tells owners to go elsewhere, and lets what is in work become durable and be acknowledged. */
    private void drain() {
        service.drain();
        server.announceClosing("bookie " + self + " stops");
        long untilNanos = parts.clock().nanoTime() + TimeUnit.MILLISECONDS.toNanos(DRAIN_MS_MAX);
        while (server.inFlightBytes() > 0 && parts.clock().nanoTime() - untilNanos < 0) {
            pause(DRAIN_LOOK_MS);
        }
    }

    /** Stops it: what was acknowledged is on disk, and the session has ended. */
    @Override
    public void close() {
        boolean wasRunning = !opened.isEmpty();
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                LOG.error("event=close-failed role=bookie id={}", self, e);
            }
        }
        if (wasRunning) {
            LOG.info("event=stopped role=bookie id={}", self);
        }
    }

    private void closeLater(AutoCloseable part) {
        opened.push(part);
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    private static String machineName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return InetAddress.getLoopbackAddress().getHostAddress();
        }
    }

    private static void pause(long ms) {
        try {
            TimeUnit.MILLISECONDS.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What the store reports unasked. */
    private final class Listener implements StoreListener {
        @Override
        public void onReplicaDamaged(SegmentId segment, long incarnation, String why) {
            damage.report(segment, why);
        }

        @Override
        public void onDirectoryLost(long incarnation, String why) {
            thread.execute(() -> damage.reportAll(
                    store.inventory().stream()
                            .filter(replica -> replica.incarnation() == incarnation)
                            .map(ReplicaInfo::segment)
                            .toList(),
                    "directory " + incarnation + " went out of service: " + why));
            BookieSession now = session;
            if (now != null) {
                now.onDirectoryLost();
            }
        }

        /** What isn't known here yet isn't: whoever is refused asks again. */
        @Override
        public boolean isEssential(PartitionId partition) {
            Supplier<MetadataView> known = view;
            return known != null
                    && known.get()
                            .topic(partition.topic())
                            .filter(topic -> InternalTopics.isInternal(topic.name()))
                            .isPresent();
        }

        @Override
        public void onReadOnlyChanged(boolean readOnly) {
            BookieSession now = session;
            if (now != null) {
                now.onDisksChanged();
            }
        }

        @Override
        public void onSlowDiskChanged(long incarnation, boolean slow) {
            BookieSession now = session;
            if (now != null) {
                now.onDisksChanged();
            }
        }
    }
}
