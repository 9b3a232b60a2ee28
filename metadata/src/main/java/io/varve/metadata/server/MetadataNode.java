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
import io.varve.metadata.net.PeerNotes;
import io.varve.metadata.raft.RaftListener;
import io.varve.metadata.raft.RaftNode;
import io.varve.metadata.raft.RaftPeerAddress;
import io.varve.metadata.raft.RaftSettings;
import io.varve.metadata.raft.StoredLog;
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
import io.varve.protocol.runtime.DurableText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running metadata node. The same in a process of its own and inside another one. */
public final class MetadataNode implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(MetadataNode.class);
    private static final int LOOPS = 2;
    private static final int SILENT_MS_MAX = 3_000;
    private static final long SAY_MS = 10_000;
    private static final long LOOK_MS = 500;
    private static final int LOOKS_PER_NOTE = 10;
    private static final long AGAIN_MS = 1_000;

    /** What the mark of a node says that has not caught up: whether it waits to be added, or was a member before. */
    private static final String JOINS = "joins\n";

    private static final String REJOINS = "rejoins\n";

    private final MetadataConfig config;
    private final Clock clock;
    private final Randomness randomness;
    private final long incarnation;
    private final FaultHandler faults;
    private final FaultHandler mortal;
    private final DirectoryLock lock;
    private final NodeCookie cookie;
    private final PeerNotes notes;
    private final RpcLoops loops;
    private final RpcClient peers;
    private final MetadataService service;
    private final CompletableFuture<String> formed = new CompletableFuture<>();
    private final CompletableFuture<String> mustStop = new CompletableFuture<>();
    private final ScheduledExecutorService noting = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "metadata-notes");
        thread.setDaemon(true);
        return thread;
    });

    /** Is there while this node is not, or not again, a member that has caught up. */
    private final Path joining;

    private Optional<Path> backup = Optional.empty();

    /** The cluster that this directory is of, as far as it says; empty if it doesn't. */
    private String clusterId = "";

    private RpcServer server;
    private volatile RaftNode raft;
    private volatile String formedAs = "";
    private int looks;
    private volatile boolean closed;
    private Thread formation;

    private MetadataNode(
            MetadataConfig config, Clock clock, Randomness randomness, FaultHandler faults, MeterRegistry metrics) {
        this.config = config;
        this.clock = clock;
        this.randomness = randomness;
        this.incarnation = randomness.nextLong();
        this.faults = faults;
        this.mortal = this::onFault;
        this.joining = config.directory().resolve("joining");
        this.lock = DirectoryLock.acquire(config.directory());
        try {
            MetadataBackup.checkFinished(config.directory());
            this.cookie = NodeCookie.check(config.directory(), config.nodeId(), config.clusterName());
        } catch (RuntimeException refused) {
            lock.close();
            throw refused;
        }
        this.loops = RpcLoops.start("metadata-rpc", LOOPS);
        this.peers = new RpcClient(
                new RpcClientOptions(this::identity, loops, clock, randomness, faults, RpcBounds.DEFAULT));
        this.notes = PeerNotes.read(config.directory().resolve("members"));
        this.service = new MetadataService(config.service(), clock, randomness, faults, metrics, peers, notes);
    }

    /** A disk that fails ends this node, a broken invariant the process at once. */
    private void onFault(String where, Throwable fault) {
        if (fault instanceof IOException) {
            LOG.error("event=disk_failed where=\"{}\"", where, fault);
            mustStop.complete("the disk of " + config.directory() + " failed: " + fault.getMessage());
        } else {
            faults.onFault(where, fault);
        }
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
            node.start(clock);
            return node;
        } catch (RuntimeException refused) {
            node.close();
            throw refused;
        }
    }

    private void start(Clock clock) {
        RpcServerOptions options = new RpcServerOptions(
                config.listenHost(),
                config.clientPort(),
                this::identity,
                loops,
                clock,
                faults,
                RpcBounds.DEFAULT.withSilence(SILENT_MS_MAX));
        backup = hasLog() ? Optional.empty() : MetadataBackup.waitingIn(config.directory());
        clusterId = backup.map(MetadataBackup::clusterIdOf).orElse(cookie.clusterId());
        if (!cookie.clusterId().isEmpty() && !clusterId.equals(cookie.clusterId())) {
            throw new StartupException(
                    StartupException.Reason.DIRECTORY_FOREIGN,
                    "The data directory " + config.directory() + " belongs to cluster " + cookie.clusterId()
                            + ", and the backup restored into it is of " + clusterId);
        }
        service.startsIn(clusterId);
        server = RpcServer.bind(options, service);
        if (others().isEmpty()) {
            startRaft(
                    backup.isPresent()
                            ? Formation.Kind.RESTORED
                            : hasLog() ? Formation.Kind.MEMBER : Formation.Kind.FOUNDER);
        } else {
            formation = new Thread(this::takePart, "metadata-formation");
            formation.setDaemon(true);
            formation.start();
        }
    }

    private RpcIdentity identity() {
        return new RpcIdentity(RpcRole.METADATA, config.nodeId(), incarnation, formedAs);
    }

    private boolean hasLog() {
        return Files.exists(config.raft().directory()) && !Files.exists(joining);
    }

    /** The other nodes: those configured, and those that were members when this one last ran. */
    private List<RaftPeerAddress> others() {
        SortedMap<Integer, RaftPeerAddress> others = new TreeMap<>();
        notes.members().forEach(member -> others.put(member.nodeId(), member));
        config.raft().peers().forEach(peer -> others.put(peer.nodeId(), peer));
        others.remove(config.nodeId());
        return List.copyOf(others.values());
    }

    /** How many of the others a quorum takes: of the members, once there was a cluster. */
    private int othersInQuorum() {
        int noted = notes.members().size();
        return (noted == 0 ? config.raft().peers().size() : noted) / 2;
    }

    private synchronized void startRaft(Formation.Kind kind) {
        if (closed) {
            return;
        }
        RaftSettings settings = kind == Formation.Kind.RESTORED ? config.raft().alone() : config.raft();
        raft = RaftNode.start(settings, kind == Formation.Kind.RETURNING, backup, new FormationGuard(), mortal);
        service.start(raft);
        noting.scheduleWithFixedDelay(this::look, LOOK_MS, LOOK_MS, TimeUnit.MILLISECONDS);
        LOG.info(
                "event=metadata_node_started node={} port={} directory={} kind={}",
                config.nodeId(),
                server.port(),
                config.directory(),
                kind);
    }

    /** Takes part as what the other nodes make of this one, see {@link Formation}. */
    private void takePart() {
        try {
            Formation.Self self = new Formation.Self(
                    config.nodeId(),
                    config.directory(),
                    clusterId,
                    hasLog() ? StoredLog.lastIndex(config.raft().directory()) : -1,
                    backup.isPresent());
            // A log that is gone from a directory that knew its cluster makes no founder, whatever the others say.
            boolean lostItsLog = !hasLog() && backup.isEmpty() && !clusterId.isEmpty();
            Formation.Kind kind = lostItsLog || Files.exists(joining)
                    ? Formation.Kind.RETURNING
                    : Formation.find(peers, others(), othersInQuorum(), self, config.readyMs());
            if (kind == Formation.Kind.RETURNING) {
                comeBack();
            } else {
                startRaft(kind);
            }
        } catch (StartupException refused) {
            refuse(refused);
        } catch (IOException trouble) {
            refuse(new StartupException(
                    StartupException.Reason.DISK,
                    "The directory " + config.directory() + " can't be used: " + trouble,
                    trouble));
        } catch (ExecutionException | TimeoutException | RuntimeException failed) {
            refuse(new StartupException(
                    StartupException.Reason.NO_QUORUM,
                    "This node, whose directory is empty, could not come back into the cluster: " + failed.getMessage(),
                    failed));
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
    }

    private void refuse(StartupException why) {
        LOG.error("event=metadata_node_refused node={} reason=\"{}\"", config.nodeId(), why.getMessage());
        formed.completeExceptionally(why);
    }

    /**
     * What this node promised and stored is forgotten, so its membership ends, and begins again when it has caught up. One that is no member yet waits until it is made one. Until then a mark in the directory says
     * that it must not vote, for it may be stopped halfway.
     */
    private void comeBack() throws ExecutionException, TimeoutException, InterruptedException, IOException {
        boolean[] wasMember = {
            Files.exists(joining) && Files.readString(joining).equals(REJOINS)
        };
        DurableText.write(joining, wasMember[0] ? REJOINS : JOINS);
        RaftPeerAddress self = config.raft().self();
        MetadataClientOptions options = MetadataClientOptions.of(
                others().stream()
                        .map(other -> new NodeAddress(other.nodeId(), other.host(), other.clientPort()))
                        .toList(),
                identity().inCluster(cookie.clusterId()),
                loops,
                clock,
                randomness,
                faults);
        try (RemoteMetadataClient client = RemoteMetadataClient.connect(options, config.readyMs())) {
            insist(
                    "leave",
                    () -> client.status().thenCompose(status -> {
                        boolean isMember = status.members().stream().anyMatch(member -> member.id() == config.nodeId());
                        if (!isMember) {
                            return CompletableFuture.completedFuture(null);
                        }
                        wasMember[0] = true;
                        try {
                            DurableText.write(joining, REJOINS);
                        } catch (IOException trouble) {
                            return CompletableFuture.failedFuture(trouble);
                        }
                        return client.removeNode(config.nodeId());
                    }));
            startRaft(Formation.Kind.RETURNING);
            if (wasMember[0]) {
                MetadataMember again =
                        new MetadataMember(self.nodeId(), self.host(), self.raftPort(), self.clientPort());
                insist("join", () -> client.addNode(again));
            } else {
                sayWhatIsMissing();
            }
        }
    }

    /** Tries a step until it succeeds: the others may be without a quorum for a while, or be changing their leader. */
    private void insist(String what, Supplier<CompletableFuture<Void>> step)
            throws ExecutionException, TimeoutException, InterruptedException {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.readyMs());
        while (true) {
            try {
                step.get().get(config.readyMs(), TimeUnit.MILLISECONDS);
                return;
            } catch (ExecutionException refused) {
                if (System.nanoTime() - deadlineNs >= 0) {
                    throw refused;
                }
                LOG.warn(
                        "event=coming_back_later step={} reason=\"{}\"",
                        what,
                        refused.getCause().getMessage());
                TimeUnit.MILLISECONDS.sleep(AGAIN_MS);
            }
        }
    }

    /** Sees whether this node has become a member, and remembers now and then how all of them stand, see {@link PeerNotes}. */
    private void look() {
        RaftNode node = raft;
        if (!node.isAlive() && !closed) {
            mustStop.complete(
                    isMember()
                            ? "the log in " + config.raft().directory() + " has stopped"
                            : "this node is no member of the metadata service any longer");
            return;
        }
        try {
            checkFormed(node.image());
            if (formed.isDone() && looks++ % LOOKS_PER_NOTE == 0) {
                notes.update(node.members(), node.storedIndexes());
            }
        } catch (IOException | RuntimeException trouble) {
            if (closed) {
                return;
            }
            LOG.warn("event=peer_notes_failed reason=\"{}\"", trouble.toString());
        } catch (InvariantViolation broken) {
            faults.onFault("the directory's cookie", broken);
        }
    }

    /** The cluster is formed for this node when it knows it, and is, or is again, one of its members. */
    private void checkFormed(MetadataImage image) {
        if (image.clusterId().isEmpty() || formed.isDone()) {
            return;
        }
        // Not this node's own monitor: that is held while the log is opened, which comes here on other threads.
        synchronized (formed) {
            try {
                if (!cookie.belongsTo(image.clusterId())) {
                    throw new InvariantViolation(
                            "I-13 the log of cluster " + image.clusterId() + " in a directory of another cluster");
                }
                if (Files.exists(joining)) {
                    if (!isMember()) {
                        return;
                    }
                    DurableText.delete(joining);
                }
            } catch (IOException trouble) {
                throw new InvariantViolation("I-13 the cookie can't be written: " + trouble);
            }
            formedAs = image.clusterId();
            formed.complete(formedAs);
        }
    }

    private boolean isMember() {
        RaftNode node = raft;
        return node != null && node.members().stream().anyMatch(member -> member.nodeId() == config.nodeId());
    }

    /**
     * Waits until the cluster is formed and this node has learned of it, and says now and then what it waits for.
     *
     * @return the cluster's id
     * @throws StartupException NO_QUORUM if that doesn't come about in the configured time
     */
    public String awaitFormed() {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.readyMs());
        while (true) {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
            try {
                return formed.get(Math.max(0, Math.min(leftMs, SAY_MS)), TimeUnit.MILLISECONDS);
            } catch (ExecutionException refused) {
                throw refused.getCause() instanceof StartupException known
                        ? known
                        : new StartupException(
                                StartupException.Reason.NO_QUORUM,
                                String.valueOf(refused.getCause().getMessage()),
                                refused);
            } catch (TimeoutException late) {
                if (leftMs <= SAY_MS) {
                    throw new StartupException(
                            StartupException.Reason.NO_QUORUM, "In " + config.readyMs() + " ms: " + whatIsMissing());
                }
                sayWhatIsMissing();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new StartupException(StartupException.Reason.NO_QUORUM, "Interrupted while waiting for a quorum");
            }
        }
    }

    private void sayWhatIsMissing() {
        LOG.warn("event=waiting node={} for=\"{}\"", config.nodeId(), whatIsMissing());
    }

    private String whatIsMissing() {
        RaftPeerAddress self = config.raft().self();
        return raft != null && Files.exists(joining)
                ? "this node is no member yet, or has not caught up: varve metadata add-node " + self.nodeId() + "@"
                        + self.host() + ":" + self.clientPort() + " --raft-port " + self.raftPort()
                : "no quorum of the metadata nodes " + config.servers();
    }

    /** Completes, with the reason, when this node can't go on: its process must end. */
    public CompletableFuture<String> mustStop() {
        return mustStop;
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
        noting.shutdownNow();
        service.close();
        peers.close();
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
            checkFormed(after);
        }

        @Override
        public void onRestored(MetadataImage image) {
            service.onRestored(image);
            checkFormed(image);
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
