package io.varve.metadata.net;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.Randomness;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.core.SessionLiveness.Key;
import io.varve.metadata.model.Alarm;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.raft.NotLeader;
import io.varve.metadata.raft.RaftListener;
import io.varve.metadata.raft.RaftNode;
import io.varve.metadata.raft.RaftPeerAddress;
import io.varve.protocol.meta.ChangeMembersRequest;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.HeartbeatReply;
import io.varve.protocol.meta.HeartbeatRequest;
import io.varve.protocol.meta.IntroduceReply;
import io.varve.protocol.meta.IntroduceRequest;
import io.varve.protocol.meta.LocateReply;
import io.varve.protocol.meta.MemberProto;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.NotLeaderProto;
import io.varve.protocol.meta.ReadIndexReply;
import io.varve.protocol.meta.SessionProto;
import io.varve.protocol.meta.StatusReply;
import io.varve.protocol.meta.SubmitReply;
import io.varve.protocol.rpc.RpcClient;
import io.varve.protocol.rpc.RpcPeer;
import io.varve.protocol.rpc.RpcRequest;
import io.varve.protocol.rpc.RpcServerStream;
import io.varve.protocol.rpc.RpcService;
import io.varve.protocol.rpc.RpcStatus;
import io.varve.protocol.rpc.RpcStreamHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One node's service: takes commands, heartbeats and watches if it leads, and says who does if it doesn't. Requests reach the log in the order in which one connection sent them.
 */
public final class MetadataService implements RpcService, RaftListener, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(MetadataService.class);

    private final ServiceSettings settings;
    private final Clock clock;
    private final MeterRegistry metrics;
    private final LeaderDuties duties;
    private final PeerTerms terms;
    private final LeadershipCheck leadership;
    private final PeerNotes notes;
    private final ChangeLog changes;
    private final Set<Watch> watches = ConcurrentHashMap.newKeySet();
    private final Map<RpcPeer, Long> connections = new ConcurrentHashMap<>();
    private final AtomicLong nextConnection = new AtomicLong(1);
    private final ExecutorService submitter = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "metadata-submit");
        thread.setDaemon(true);
        return thread;
    });
    private final Timer commands;
    private volatile RaftNode raft;
    private volatile boolean leading;
    private volatile String clusterId = "";

    /**
     * A service that takes nothing until {@link #start}.
     *
     * @param peers makes connections to the other nodes; its owner closes it
     * @param notes what is remembered of them
     */
    public MetadataService(
            ServiceSettings settings,
            Clock clock,
            Randomness randomness,
            FaultHandler faults,
            MeterRegistry metrics,
            RpcClient peers,
            PeerNotes notes) {
        this.notes = notes;
        this.settings = settings;
        this.clock = clock;
        this.metrics = metrics;
        this.duties = new LeaderDuties(settings, clock, randomness, faults, metrics, peers);
        this.terms = new PeerTerms(peers);
        this.leadership = new LeadershipCheck(this::standing, terms);
        this.changes = new ChangeLog(settings.watchBytesMax());
        this.commands = Timer.builder("varve_metadata_command")
                .description("From a command's arrival to its answer")
                .publishPercentiles(0.5, 0.99)
                .register(metrics);
    }

    /** What cluster this node's directory belongs to, empty if it doesn't know of any: for those who ask before the log was read. */
    public void startsIn(String clusterId) {
        this.clusterId = clusterId;
    }

    /** Begins to serve with this node of the log. */
    public void start(RaftNode node) {
        raft = node;
        duties.start(node);
        gauge("varve_metadata_leading", () -> leading ? 1 : 0, "Whether this node leads");
        gauge("varve_metadata_version", () -> node.image().version(), "The newest version applied");
        gauge("varve_metadata_applied_index", node::appliedIndex, "The last entry applied");
        gauge("varve_metadata_snapshot_index", node::snapshotIndex, "The newest snapshot's index");
        gauge("varve_metadata_term", node::term, "The term: it rises with every election");
        gauge(
                "varve_metadata_lag_entries",
                () -> Math.max(0, node.commitIndex() - node.appliedIndex()),
                "Entries committed, as far as this node knows, and not applied yet");
        gauge("varve_metadata_members", () -> node.members().size(), "Nodes of the metadata service");
        gauge(
                "varve_metadata_members_behind",
                node::membersBehind,
                "Nodes that lag by more than a thousand entries or don't answer, as the leader sees it; 0 elsewhere");
        gauge(
                "varve_metadata_snapshot_age_seconds",
                () -> node.snapshotAgeMs(clock.wallTimeMs()).orElse(0) / 1e3,
                "Since the newest snapshot was written");
        gauge("varve_metadata_disk_free_bytes", node::diskFreeBytes, "Room left on the disk of the log");
        gauge(
                "varve_metadata_clock_ahead_seconds",
                () -> duties.clockAheadMs() / 1e3,
                "How far the leader's clock is ahead of the cluster's time");
        gauge("varve_metadata_watches", watches::size, "Clients that watch here");
        gauge("varve_metadata_topics", () -> node.image().topics().size(), "Living topics");
        gauge("varve_metadata_partitions", () -> node.image().partitionCount(), "Partitions of living topics");
        gauge("varve_metadata_segments", () -> node.image().segmentCount(), "Segments in chains");
        gauge(
                "varve_metadata_segments_not_offloaded",
                () -> node.image().localOnlyCount(),
                "Sealed segments on bookies alone");
        gauge(
                "varve_metadata_segments_underreplicated",
                duties::underReplicated,
                "Sealed segments with too few copies on living bookies and not in object storage, as the leader last"
                        + " counted; 0 elsewhere");
        gauge("varve_metadata_tasks", () -> node.image().taskCount(), "Work given to bookies");
        gauge(
                "varve_metadata_objects_to_delete",
                () -> node.image().objectsToDelete(),
                "Objects that nothing names any longer and that are still to be deleted");
        for (Alarm.Kind kind : Alarm.Kind.values()) {
            Gauge.builder(
                            "varve_metadata_alarms",
                            () -> node.image().alarms().stream()
                                    .filter(alarm -> alarm.kind() == kind)
                                    .count())
                    .tag("kind", kind.name().toLowerCase(Locale.ROOT))
                    .description(
                            "What isn't as it should be in the bucket, for as long as it is true: see varve status")
                    .register(metrics);
        }
    }

    private LeadershipCheck.Standing standing() {
        RaftNode node = raft;
        return new LeadershipCheck.Standing(node.nodeId(), node.term(), node.members());
    }

    private void gauge(String name, java.util.function.Supplier<Number> value, String description) {
        Gauge.builder(name, value).description(description).register(metrics);
    }

    // ---- from the log ----

    @Override
    public void onApplied(MetadataImage before, MetadataImage after, List<MetadataRecord> records) {
        changes.add(before, after, records);
        watches.forEach(Watch::wake);
    }

    @Override
    public void onRestored(MetadataImage image) {
        changes.restart(image);
        watches.forEach(Watch::wake);
    }

    @Override
    public void onLeading() {
        LOG.info("event=leading");
        leading = true;
        duties.onLeading();
    }

    @Override
    public void onFollowing() {
        if (leading) {
            LOG.info("event=following");
        }
        leading = false;
        duties.onFollowing();
        terms.disconnect();
        watches.forEach(watch -> watch.end("this node leads no longer"));
    }

    // ---- from clients ----

    @Override
    public void onConnected(RpcPeer peer) {
        connections.put(peer, nextConnection.getAndIncrement());
    }

    @Override
    public void onDisconnected(RpcPeer peer) {
        Long connection = connections.remove(peer);
        if (connection != null) {
            duties.onDropped(connection);
        }
    }

    @Override
    public RpcStreamHandler onStream(RpcServerStream stream) {
        if (stream.method() != Methods.WATCH) {
            stream.end(RpcStatus.UNSUPPORTED, "no such stream: " + stream.method());
            return RpcStreamHandler.DEAF;
        }
        if (!leading) {
            stream.end(RpcStatus.UNAVAILABLE, "this node doesn't lead");
            return RpcStreamHandler.DEAF;
        }
        Watch[] self = new Watch[1];
        Watch watch = new Watch(changes, stream, () -> watches.remove(self[0]));
        self[0] = watch;
        watches.add(watch);
        if (!leading) {
            watch.end("this node leads no longer");
        }
        return watch;
    }

    @Override
    public void onRequest(RpcRequest request) {
        try {
            switch (request.method()) {
                case Methods.SUBMIT -> submit(request);
                case Methods.READ_INDEX -> readIndex(request);
                case Methods.HEARTBEAT -> heartbeat(request);
                case Methods.LOCATE -> reply(request, locate());
                case Methods.STATUS -> reply(request, status());
                case Methods.CHANGE_MEMBERS -> changeMembers(request);
                case Methods.INTRODUCE -> introduce(request);
                default -> request.fail(RpcStatus.UNSUPPORTED, "no such method: " + request.method());
            }
        } catch (InvalidProtocolBufferException malformed) {
            request.fail(RpcStatus.INVALID, "the request doesn't parse: " + malformed.getMessage());
        }
    }

    private void submit(RpcRequest request) throws InvalidProtocolBufferException {
        ByteBuf body = request.body();
        if (body.readableBytes() > RaftNode.COMMAND_BYTES_MAX) {
            request.fail(RpcStatus.INVALID, "a command has no more than " + RaftNode.COMMAND_BYTES_MAX + " bytes");
            return;
        }
        MetadataCommand command = MetadataCommand.parseFrom(body.nioBuffer());
        if (command.getClientId() == 0 || !isForClients(command)) {
            request.fail(RpcStatus.INVALID, "no command of a client's: " + command.getBodyCase());
            return;
        }
        try {
            submitter.execute(() -> submit(request, command));
        } catch (RejectedExecutionException closing) {
            request.fail(RpcStatus.UNAVAILABLE, "this node stops");
        }
    }

    private void submit(RpcRequest request, MetadataCommand command) {
        long startNs = clock.nanoTime();
        withReplaceFlag(command.toBuilder()).thenCompose(this::submitInOrder).whenComplete((reply, trouble) -> {
            commands.record(clock.nanoTime() - startNs, TimeUnit.NANOSECONDS);
            answer(request, reply, trouble);
        });
    }

    private CompletableFuture<CommandReply> submitInOrder(MetadataCommand.Builder command) {
        RaftNode node = raft;
        if (node == null || !leading) {
            return CompletableFuture.failedFuture(new CompletionException(notLeading()));
        }
        return node.submit(duties.stamped(command).build());
    }

    private static boolean isForClients(MetadataCommand command) {
        return switch (command.getBodyCase()) {
            // What only later builds know isn't put into the log: each node that doesn't know it would stop.
            case FORM_CLUSTER, EXPIRE_SESSION, PLAN, BODY_NOT_SET -> false;
            default -> true;
        };
    }

    /** A process that starts again under its number may take its own old place at once, if nobody is in it any longer. */
    private CompletableFuture<MetadataCommand.Builder> withReplaceFlag(MetadataCommand.Builder command) {
        RaftNode node = raft;
        if (node == null) {
            return CompletableFuture.completedFuture(command);
        }
        if (command.hasRegisterBroker()) {
            int id = command.getRegisterBroker().getBroker().getId();
            return node.image()
                    .broker(id)
                    .filter(b -> b.state() != BrokerInfo.State.GONE)
                    .map(b -> duties.isPresent(new Key(false, id, b.incarnation())))
                    .orElse(CompletableFuture.completedFuture(false))
                    .thenApply(present -> {
                        command.getRegisterBrokerBuilder().setReplace(!present);
                        return command;
                    });
        }
        if (command.hasRegisterBookie()) {
            BookieId id = new BookieId(command.getRegisterBookie().getBookie().getId());
            return node.image()
                    .bookie(id)
                    .filter(b -> b.state() != BookieInfo.State.GONE)
                    .map(b -> duties.isPresent(new Key(true, id.value(), b.sessionId())))
                    .orElse(CompletableFuture.completedFuture(false))
                    .thenApply(present -> {
                        command.getRegisterBookieBuilder().setReplace(!present);
                        return command;
                    });
        }
        return CompletableFuture.completedFuture(command);
    }

    private void answer(RpcRequest request, CommandReply reply, Throwable trouble) {
        if (trouble == null) {
            reply(request, SubmitReply.newBuilder().setReply(reply).build());
            return;
        }
        Throwable cause = trouble instanceof CompletionException ? trouble.getCause() : trouble;
        if (cause instanceof NotLeader notLeader) {
            reply(
                    request,
                    SubmitReply.newBuilder()
                            .setNotLeader(hint(notLeader.leaderId()))
                            .build());
        } else {
            request.fail(RpcStatus.INTERNAL, String.valueOf(cause));
        }
    }

    private void readIndex(RpcRequest request) {
        RaftNode node = raft;
        if (node == null || !leading) {
            reply(request, ReadIndexReply.newBuilder().setNotLeader(hint()).build());
            return;
        }
        long term = node.term();
        CompletableFuture<Void> confirmed = leadership.confirm();
        node.readIndex().thenCombine(confirmed, (version, most) -> version).whenComplete((version, trouble) -> {
            // Still in the term that most others were in: the log's answer was this term's leader's.
            if (trouble == null && leading && node.term() == term) {
                reply(request, ReadIndexReply.newBuilder().setVersion(version).build());
            } else {
                reply(request, ReadIndexReply.newBuilder().setNotLeader(hint()).build());
            }
        });
    }

    private void heartbeat(RpcRequest request) throws InvalidProtocolBufferException {
        HeartbeatRequest heartbeat = HeartbeatRequest.parseFrom(request.body().nioBuffer());
        Long connection = connections.get(request.peer());
        if (raft == null || !leading || connection == null) {
            reply(request, HeartbeatReply.newBuilder().setNotLeader(hint()).build());
            return;
        }
        List<Key> sessions = new ArrayList<>();
        for (SessionProto session : heartbeat.getSessionsList()) {
            sessions.add(new Key(session.getBookie(), session.getId(), session.getSessionId()));
        }
        duties.onHeard(sessions, connection).thenAccept(dead -> {
            HeartbeatReply.Builder reply = HeartbeatReply.newBuilder().setTimeoutMs((int) settings.sessionTimeoutMs());
            for (Key key : dead) {
                reply.addDead(SessionProto.newBuilder()
                        .setBookie(key.bookie())
                        .setId(key.id())
                        .setSessionId(key.sessionId()));
            }
            reply(request, reply.build());
        });
    }

    private void changeMembers(RpcRequest request) throws InvalidProtocolBufferException {
        ChangeMembersRequest change =
                ChangeMembersRequest.parseFrom(request.body().nioBuffer());
        RaftNode node = raft;
        if (node == null || !leading) {
            reply(request, SubmitReply.newBuilder().setNotLeader(hint()).build());
            return;
        }
        List<RaftPeerAddress> members = new ArrayList<>(node.members());
        int changed = change.hasAdd() ? change.getAdd().getId() : change.getRemove();
        boolean wasMember = members.removeIf(member -> member.nodeId() == changed);
        if (!change.hasAdd()) {
            String refusal = refusalToRemove(node, changed, wasMember, members);
            if (refusal != null) {
                request.fail(RpcStatus.INVALID, refusal);
                return;
            }
        }
        if (change.hasAdd()) {
            MemberProto added = change.getAdd();
            members.add(
                    new RaftPeerAddress(added.getId(), added.getHost(), added.getRaftPort(), added.getClientPort()));
        }
        node.changeMembers(members)
                .whenComplete((done, trouble) -> answer(request, CommandReply.getDefaultInstance(), trouble));
    }

    /** Why a node can't be removed, or null: what is left must be able to go on. */
    private static String refusalToRemove(RaftNode node, int id, boolean wasMember, List<RaftPeerAddress> left) {
        if (!wasMember) {
            return "node " + id + " is no member";
        }
        if (left.isEmpty()) {
            return "node " + id + " is the only one";
        }
        long answering = left.stream()
                .filter(member -> node.isAnswering(member.nodeId()))
                .count();
        return answering > left.size() / 2
                ? null
                : "of the " + left.size() + " nodes left only " + answering + " answer: they would have no quorum";
    }

    private void introduce(RpcRequest request) throws InvalidProtocolBufferException {
        IntroduceRequest introduction =
                IntroduceRequest.parseFrom(request.body().nioBuffer());
        RaftNode node = raft;
        int id = introduction.getNodeId();
        long live = node == null ? -1 : node.storedIndexes().getOrDefault(id, -1L);
        reply(
                request,
                IntroduceReply.newBuilder()
                        .setClusterId(knownClusterId())
                        .setStoredIndex(Math.max(0, Math.max(live, notes.storedIndex(id))))
                        .build());
    }

    private String knownClusterId() {
        RaftNode node = raft;
        String known = node == null ? "" : node.image().clusterId();
        return known.isEmpty() ? clusterId : known;
    }

    private LocateReply locate() {
        LocateReply.Builder reply = LocateReply.newBuilder().setLeading(leading).setClusterId(knownClusterId());
        return leading ? reply.build() : reply.setNotLeader(hint()).build();
    }

    private StatusReply status() {
        RaftNode node = raft;
        StatusReply.Builder reply = StatusReply.newBuilder().setLeading(leading).setNowMs(clock.wallTimeMs());
        if (node == null) {
            return reply.setClusterId(clusterId).build();
        }
        node.snapshotAgeMs(clock.wallTimeMs()).ifPresent(reply::setSnapshotAgeMs);
        node.leaderId().ifPresent(reply::setLeaderId);
        for (RaftPeerAddress member : node.members()) {
            reply.addMembers(MemberProto.newBuilder()
                    .setId(member.nodeId())
                    .setHost(member.host())
                    .setRaftPort(member.raftPort())
                    .setClientPort(member.clientPort()));
        }
        MetadataImage image = node.image();
        return reply.setNodeId(node.nodeId())
                .setVersion(image.version())
                .setDigest(image.digest())
                .setTerm(node.term())
                .setAppliedIndex(Math.max(0, node.appliedIndex()))
                .setSnapshotIndex(Math.max(0, node.snapshotIndex()))
                .setCommitIndex(Math.max(0, node.commitIndex()))
                .setLogStartIndex(Math.max(0, node.logStartIndex()))
                .setLogLastIndex(Math.max(0, node.lastIndex()))
                .setDiskFreeBytes(node.diskFreeBytes())
                .setClusterId(knownClusterId())
                .build();
    }

    private NotLeader notLeading() {
        RaftNode node = raft;
        return NotLeader.of(node == null ? OptionalInt.empty() : node.leaderId());
    }

    private NotLeaderProto hint() {
        return hint(notLeading().leaderId());
    }

    private NotLeaderProto hint(OptionalInt leader) {
        NotLeaderProto.Builder hint = NotLeaderProto.newBuilder();
        RaftNode node = raft;
        if (leader.isPresent() && node != null) {
            for (RaftPeerAddress member : node.members()) {
                if (member.nodeId() == leader.getAsInt()) {
                    hint.setLeaderId(member.nodeId()).setHost(member.host()).setPort(member.clientPort());
                }
            }
        }
        return hint.build();
    }

    private static void reply(RpcRequest request, MessageLite message) {
        request.reply(Unpooled.wrappedBuffer(message.toByteArray()));
    }

    @Override
    public void close() {
        leading = false;
        duties.close();
        terms.disconnect();
        submitter.shutdown();
    }
}
