package io.varve.metadata.server;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.InvariantViolation;
import io.varve.base.Randomness;
import io.varve.base.StartupException;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.net.MetadataService;
import io.varve.metadata.raft.RaftListener;
import io.varve.metadata.raft.RaftNode;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.rpc.RpcBounds;
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcLoops;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.rpc.RpcServer;
import io.varve.protocol.rpc.RpcServerOptions;
import io.varve.protocol.runtime.DirectoryLock;
import java.io.IOException;
import java.util.List;
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
    private RaftNode raft;

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
     * Starts a node. It serves when a quorum of its peers is there; see {@link #awaitFormed}.
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
        server = RpcServer.bind(options, service);
        raft = RaftNode.start(config.raft(), new FormationGuard(), faults);
        service.start(raft);
        LOG.info(
                "event=metadata_node_started node={} port={} directory={}",
                config.nodeId(),
                server.port(),
                config.directory());
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
        } catch (TimeoutException | ExecutionException late) {
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
        return raft.isLeading();
    }

    /** Its part in the log, for those who measure and test. */
    public RaftNode raft() {
        return raft;
    }

    @Override
    public void close() {
        service.close();
        if (server != null) {
            server.close();
        }
        if (raft != null) {
            raft.close();
        }
        loops.close();
        lock.close();
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
