package io.varve.metadata.server;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.InvariantViolation;
import io.varve.base.Randomness;
import io.varve.base.StartupException;
import io.varve.metadata.client.MetadataClientOptions;
import io.varve.metadata.client.MetadataMember;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.net.MetadataService;
import io.varve.metadata.raft.RaftListener;
import io.varve.metadata.raft.RaftNode;
import io.varve.metadata.raft.RaftPeerAddress;
import io.varve.protocol.config.NodeAddress;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.rpc.RpcBounds;
import io.varve.protocol.rpc.RpcClient;
import io.varve.protocol.rpc.RpcClientOptions;
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcLoops;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.rpc.RpcServer;
import io.varve.protocol.rpc.RpcServerOptions;
import io.varve.protocol.runtime.DirectoryLock;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running metadata node. The same in a process of its own and inside another one. */
public final class MetadataNode implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(MetadataNode.class);
    private static final int LOOPS = 2;
    private static final int SILENT_MS_MAX = 3_000;

    private final MetadataConfig config;
    private final FaultHandler faults;
    private final DirectoryLock lock;
    private final NodeCookie cookie;
    private final RpcLoops loops;
    private final MetadataService service;
    private final CompletableFuture<String> formed = new CompletableFuture<>();
    private RpcServer server;
    private volatile RaftNode raft;
    private volatile boolean closed;
    private Thread formation;

    private MetadataNode(
            MetadataConfig config, Clock clock, Randomness randomness, FaultHandler faults, MeterRegistry metrics) {
        this.config = config;
        this.faults = faults;
        this.lock = DirectoryLock.acquire(config.directory());
        try {
            this.cookie = NodeCookie.check(config.directory(), config.nodeId(), config.clusterName());
        } catch (RuntimeException refused) {
            lock.close();
            throw refused;
        }
        this.loops = RpcLoops.start("metadata-rpc", LOOPS);
        this.service = new MetadataService(config.service(), clock, randomness, faults, metrics);
    }

    /**
     * Starts a node. It serves when a quorum of its peers is there; see {@link #awaitFormed}. One with an empty directory asks the others first
     * whether the cluster is new, and if it isn't comes back into it as a new member.
     *
     * @throws StartupException in a line: DIRECTORY_LOCKED, DIRECTORY_FOREIGN, PORT_TAKEN or DISK
     */
    public static MetadataNode start(
            MetadataConfig config, Clock clock, Randomness randomness, FaultHandler faults, MeterRegistry metrics) {
        MetadataNode node = new MetadataNode(config, clock, randomness, faults, metrics);
        try {
            node.start(clock, randomness);
            return node;
        } catch (RuntimeException refused) {
            node.close();
            throw refused;
        }
    }

    private void start(Clock clock, Randomness randomness) {
        long incarnation = randomness.nextLong();
        RpcServerOptions options = new RpcServerOptions(
                config.listenHost(),
                config.clientPort(),
                () -> new RpcIdentity(RpcRole.METADATA, config.nodeId(), incarnation, formed.getNow("")),
                loops,
                clock,
                faults,
                RpcBounds.DEFAULT.withSilence(SILENT_MS_MAX));
        service.startsIn(cookie.clusterId());
        server = RpcServer.bind(options, service);
        boolean isEmpty = !Files.exists(config.raft().directory());
        if (isEmpty && config.raft().peers().size() > 1) {
            formation = new Thread(() -> joinOthers(clock, randomness), "metadata-formation");
            formation.setDaemon(true);
            formation.start();
        } else {
            startRaft();
        }
    }

    private synchronized void startRaft() {
        if (closed) {
            return;
        }
        raft = RaftNode.start(
                config.raft(), MetadataBackup.waitingIn(config.directory()), new FormationGuard(), faults);
        service.start(raft);
        LOG.info(
                "event=metadata_node_started node={} port={} directory={}",
                config.nodeId(),
                server.port(),
                config.directory());
    }

    /** With an empty directory: votes only if the cluster is new, see {@link Formation}. */
    private void joinOthers(Clock clock, Randomness randomness) {
        RpcIdentity identity =
                new RpcIdentity(RpcRole.METADATA, config.nodeId(), randomness.nextLong(), cookie.clusterId());
        try (RpcClient rpc = new RpcClient(
                new RpcClientOptions(() -> identity, loops, clock, randomness, faults, RpcBounds.DEFAULT))) {
            List<RaftPeerAddress> peers = config.raft().peers();
            Formation.Kind kind = cookie.clusterId().isEmpty()
                    ? Formation.find(rpc, peers, config.nodeId(), config.readyMs())
                    : Formation.Kind.RETURNING;
            if (kind == Formation.Kind.FOUNDER) {
                startRaft();
            } else {
                comeBack(MetadataClientOptions.of(others(), identity, loops, clock, randomness, faults));
            }
        } catch (StartupException refused) {
            formed.completeExceptionally(refused);
        } catch (ExecutionException | TimeoutException | RuntimeException failed) {
            formed.completeExceptionally(new StartupException(
                    StartupException.Reason.NO_QUORUM,
                    "This node, whose directory is empty, could not come back into the cluster: " + failed.getMessage(),
                    failed));
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
    }

    /** What this node promised and stored is forgotten, so its membership ends, and begins again when it has caught up. */
    private void comeBack(MetadataClientOptions options)
            throws ExecutionException, TimeoutException, InterruptedException {
        RaftPeerAddress self = config.raft().self();
        RemoteMetadataClient client = RemoteMetadataClient.connect(options, config.readyMs());
        try {
            boolean wasMember = client.status().get(config.readyMs(), TimeUnit.MILLISECONDS).members().stream()
                    .anyMatch(member -> member.id() == config.nodeId());
            if (wasMember) {
                client.removeNode(config.nodeId()).get(config.readyMs(), TimeUnit.MILLISECONDS);
            }
            startRaft();
            if (wasMember) {
                client.addNode(new MetadataMember(self.nodeId(), self.host(), self.raftPort(), self.clientPort()))
                        .get(config.readyMs(), TimeUnit.MILLISECONDS);
            }
        } finally {
            client.close();
        }
    }

    private List<NodeAddress> others() {
        return config.servers().stream()
                .filter(server -> server.id() != config.nodeId())
                .toList();
    }

    /**
     * Waits until the cluster is formed and this node has learned of it.
     *
     * @return the cluster's id
     * @throws StartupException NO_QUORUM if that doesn't come about in the configured time
     */
    public String awaitFormed() {
        try {
            return formed.get(config.readyMs(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException refused) {
            throw refused.getCause() instanceof StartupException known
                    ? known
                    : new StartupException(
                            StartupException.Reason.NO_QUORUM,
                            String.valueOf(refused.getCause().getMessage()),
                            refused);
        } catch (TimeoutException late) {
            throw new StartupException(
                    StartupException.Reason.NO_QUORUM,
                    "No quorum of the metadata nodes " + config.servers() + " in " + config.readyMs() + " ms");
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new StartupException(StartupException.Reason.NO_QUORUM, "Interrupted while waiting for a quorum");
        }
    }

    /** The port for clients. */
    public int port() {
        return server.port();
    }

    /** Whether it leads. */
    public boolean isLeading() {
        RaftNode node = raft;
        return node != null && node.isLeading();
    }

    /** Its part in the log, for those who measure and test; empty until it takes part. */
    public Optional<RaftNode> raft() {
        return Optional.ofNullable(raft);
    }

    @Override
    public void close() {
        if (formation != null) {
            formation.interrupt();
        }
        service.close();
        if (server != null) {
            server.close();
        }
        closeRaft();
        loops.close();
        lock.close();
    }

    private synchronized void closeRaft() {
        closed = true;
        if (raft != null) {
            raft.close();
        }
    }

    /** Hands everything on to the service, and sees to it that the log is the log of the cluster that the directory belongs to. */
    private final class FormationGuard implements RaftListener {
        @Override
        public void onApplied(MetadataImage before, MetadataImage after, List<MetadataRecord> records) {
            service.onApplied(before, after, records);
            check(after);
        }

        @Override
        public void onRestored(MetadataImage image) {
            service.onRestored(image);
            check(image);
        }

        private void check(MetadataImage image) {
            if (image.clusterId().isEmpty() || formed.isDone()) {
                return;
            }
            try {
                if (!cookie.belongsTo(image.clusterId())) {
                    throw new InvariantViolation(
                            "I-13 the log of cluster " + image.clusterId() + " in a directory of another cluster");
                }
            } catch (IOException trouble) {
                throw new InvariantViolation("I-13 the cookie can't be written: " + trouble);
            }
            formed.complete(image.clusterId());
        }

        @Override
        public void onLeading() {
            service.onLeading();
        }

        @Override
        public void onFollowing() {
            service.onFollowing();
        }
    }
}
