package io.varve.metadata.client;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.StartupException;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.api.MetadataListener;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.api.NodeSession;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.core.ProtoModel;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.net.Methods;
import io.varve.protocol.meta.ChangeMembersRequest;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.HeartbeatReply;
import io.varve.protocol.meta.HeartbeatRequest;
import io.varve.protocol.meta.MemberProto;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.NotLeaderProto;
import io.varve.protocol.meta.ReadIndexReply;
import io.varve.protocol.meta.RegisterBookieCommand;
import io.varve.protocol.meta.RegisterBrokerCommand;
import io.varve.protocol.meta.SessionProto;
import io.varve.protocol.meta.SetBookieStateCommand;
import io.varve.protocol.meta.SetBrokerStateCommand;
import io.varve.protocol.meta.StatusReply;
import io.varve.protocol.meta.SubmitReply;
import io.varve.protocol.meta.WatchMessage;
import io.varve.protocol.meta.WatchRequest;
import io.varve.protocol.rpc.RpcClient;
import io.varve.protocol.rpc.RpcClientOptions;
import io.varve.protocol.rpc.RpcConnection;
import io.varve.protocol.rpc.RpcException;
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcStatus;
import io.varve.protocol.rpc.RpcStream;
import io.varve.protocol.rpc.RpcStreamHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process's client of the metadata service: one connection, to whichever node leads; on it the watch, the heartbeats and the commands, so that a change arrives before the answer to the command that
 * made it. Everything is done on one thread of the client's own.
 */
public final class RemoteMetadataClient extends CommandingClient {

    private static final Logger LOG = LoggerFactory.getLogger(RemoteMetadataClient.class);

    /** How often it is said what is waited for. */
    private static final long SAY_MS = 10_000;

    /** Commands under way at a time; fewer than the service keeps answers. */
    private static final int COMMANDS_MAX = 512;

    /** How long a process whose number is taken waits for its predecessor's session to end. */
    private static final long DUPLICATE_PATIENCE_MS = 5_000;

    private static final long DUPLICATE_RETRY_MS = 100;
    private static final long READ_RETRY_MS = 20;
    private static final long LAST_WORDS_MS_MAX = 500;

    /** A session counts as confirmed for this share of the time-out after the heartbeat was sent. */
    private static final double CONFIRMED_SHARE = 0.8;

    private final MetadataClientOptions options;
    private final RpcClient rpc;
    private final LeaderLink link;
    private final ViewKeeper keeper = new ViewKeeper();
    private final List<RemoteSession> sessions = new CopyOnWriteArrayList<>();
    private final NavigableMap<Long, PendingCommand> pending = new TreeMap<>();
    private final ClientThread thread;
    private final long clientId;
    private volatile String clusterId;
    private volatile boolean closed;
    private volatile long confirmedUntilNs;
    private volatile boolean leaderReachable;
    private volatile int leaderId = RpcIdentity.NO_NODE;
    private long nextSequence = 1;
    private boolean heartbeatInFlight;

    private RemoteMetadataClient(MetadataClientOptions options) {
        this.options = options;
        this.clientId = options.randomness().nextLong() | 1;
        this.clusterId = options.identity().clusterId();
        this.confirmedUntilNs = options.clock().nanoTime();
        this.thread = new ClientThread(options.faults());
        this.rpc = new RpcClient(new RpcClientOptions(
                this::identity,
                options.loops(),
                options.clock(),
                options.randomness(),
                options.faults(),
                options.bounds()));
        this.link = new LeaderLink(options.servers(), rpc, thread, new LeaderListener());
    }

    /** A client that begins to look for the leader. */
    public static RemoteMetadataClient start(MetadataClientOptions options) {
        RemoteMetadataClient client = new RemoteMetadataClient(options);
        client.thread.execute(client.link::start);
        client.thread.repeat(client::tick, options.heartbeatMs());
        return client;
    }

    /**
     * {@link #start}, and waits until the view is as new as the service is. Says what it waits for now and then.
     *
     * @throws StartupException NO_QUORUM, in a line, if that doesn't come about in {@code timeoutMs}
     */
    public static RemoteMetadataClient connect(MetadataClientOptions options, long timeoutMs) {
        RemoteMetadataClient client = start(options);
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (true) {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
            try {
                client.linearizable().get(Math.max(1, Math.min(leftMs, SAY_MS)), TimeUnit.MILLISECONDS);
                return client;
            } catch (ExecutionException | TimeoutException late) {
                String reason = client.link.lastReason();
                if (leftMs <= SAY_MS) {
                    client.close();
                    throw new StartupException(
                            StartupException.Reason.NO_QUORUM,
                            "No quorum of the metadata nodes " + options.servers() + " in " + timeoutMs + " ms: "
                                    + reason);
                }
                LOG.warn("event=waiting_for_metadata servers={} reason=\"{}\"", options.servers(), reason);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                client.close();
                throw new StartupException(
                        StartupException.Reason.NO_QUORUM, "Interrupted while looking for the metadata");
            }
        }
    }

    @Override
    public OptionalInt leader() {
        int known = leaderId;
        return known == RpcIdentity.NO_NODE ? OptionalInt.empty() : OptionalInt.of(known);
    }

    private RpcIdentity identity() {
        return options.identity().inCluster(clusterId);
    }

    // ---- the leader and the watch ----

    private final class LeaderListener implements LeaderLink.Listener {
        @Override
        public void onLeader(RpcConnection connection, String cluster) {
            leaderReachable = true;
            leaderId = connection.target().nodeId();
            if (clusterId.isEmpty() && !cluster.isEmpty()) {
                clusterId = cluster;
            }
            watch(connection);
            heartbeat();
            List.copyOf(pending.values()).forEach(RemoteMetadataClient.this::attempt);
        }

        @Override
        public void onLost(String reason) {
            leaderReachable = false;
            leaderId = RpcIdentity.NO_NODE;
        }
    }

    private void watch(RpcConnection connection) {
        keeper.onWatchStarted();
        RpcStream stream = connection.openStream(Methods.WATCH, new RpcStreamHandler() {
            @Override
            public void onMessage(ByteBuf body) {
                WatchMessage message;
                try {
                    message = WatchMessage.parseFrom(body.nioBuffer());
                } catch (InvalidProtocolBufferException malformed) {
                    thread.execute(() -> link.onNotLeader(connection, noHint(), "a watch message doesn't parse"));
                    return;
                }
                thread.execute(() -> {
                    if (link.leader() == connection) {
                        keeper.onMessage(message);
                    }
                });
            }

            @Override
            public void onEnd(RpcStatus status, String reason) {
                thread.execute(() -> link.onNotLeader(connection, noHint(), reason));
            }
        });
        WatchRequest from = WatchRequest.newBuilder()
                .setVersion(keeper.view().version())
                .setDigest(keeper.view().digest())
                .build();
        stream.send(bytesOf(from));
    }

    @Override
    public MetadataView view() {
        return keeper.view();
    }

    /** The view with all that the service knows, for backups. */
    public MetadataImage image() {
        return keeper.view();
    }

    @Override
    public void subscribe(MetadataListener listener) {
        thread.execute(() -> keeper.add(listener));
    }

    @Override
    public void unsubscribe(MetadataListener listener) {
        keeper.remove(listener);
    }

    // ---- commands ----

    @Override
    protected CompletableFuture<CommandReply> submit(MetadataCommand.Builder command) {
        long deadlineNs = options.clock().nanoTime() + options.commandMs() * 1_000_000;
        CompletableFuture<CommandReply> answer = new CompletableFuture<>();
        if (closed) {
            answer.completeExceptionally(new MetadataException(Reason.UNAVAILABLE, "The client is closed"));
            return answer;
        }
        thread.execute(() -> {
            if (pending.size() >= COMMANDS_MAX) {
                answer.completeExceptionally(new MetadataException(
                        Reason.UNAVAILABLE, "Too many commands are under way, or the client is closed"));
                return;
            }
            PendingCommand added = new PendingCommand(nextSequence++, command, deadlineNs);
            added.answer.whenComplete((reply, trouble) -> {
                if (trouble != null) {
                    answer.completeExceptionally(trouble);
                } else {
                    answer.complete(reply);
                }
            });
            pending.put(added.sequence, added);
            attempt(added);
        });
        return answer;
    }

    private void attempt(PendingCommand of) {
        RpcConnection leader = link.leader();
        if (leader == null || of.inFlight || !pending.containsKey(of.sequence)) {
            return;
        }
        long leftMs = (of.deadlineNs - options.clock().nanoTime()) / 1_000_000;
        if (leftMs <= 0) {
            expire(of);
            return;
        }
        of.inFlight = true;
        MetadataCommand command = of.command
                .setClientId(clientId)
                .setSequence(of.sequence)
                .setAnsweredBelow(pending.firstKey())
                .build();
        leader.call(Methods.SUBMIT, bytesOf(command), Math.min(leftMs, options.attemptMs()))
                .whenComplete((body, trouble) -> thread.execute(body, () -> onAttempt(of, leader, body, trouble)));
    }

    private void onAttempt(PendingCommand of, RpcConnection asked, ByteBuf body, Throwable trouble) {
        of.inFlight = false;
        if (!pending.containsKey(of.sequence)) {
            return;
        }
        if (trouble != null) {
            RpcStatus status = statusOf(trouble);
            of.maybeDone |= !status.certainlyNotDone();
            if (status == RpcStatus.INVALID || status == RpcStatus.UNSUPPORTED) {
                finish(of, new MetadataException(Reason.INVALID, trouble.getMessage()));
            } else {
                link.onFailed(asked, status, trouble.getMessage());
                retry(of);
            }
            return;
        }
        link.onAnswered(asked);
        SubmitReply reply;
        try {
            reply = SubmitReply.parseFrom(body.nioBuffer());
        } catch (InvalidProtocolBufferException malformed) {
            of.maybeDone = true;
            link.onNotLeader(asked, noHint(), malformed.getMessage());
            retry(of);
            return;
        }
        if (reply.hasNotLeader()) {
            link.onNotLeader(asked, reply.getNotLeader(), "the node doesn't lead");
            retry(of);
        } else {
            onReply(of, reply.getReply());
        }
    }

    private void onReply(PendingCommand of, CommandReply reply) {
        rejectionIn(reply).ifPresentOrElse(rejection -> finish(of, rejection), () -> {
            // It was done; its answer waits for the view. The command stays pending until then, so that its deadline
            // counts.
            of.maybeDone = true;
            of.inFlight = true;
            keeper.whenAt(reply.getVersion(), () -> {
                if (pending.remove(of.sequence) != null) {
                    of.answer.complete(reply);
                }
            });
        });
    }

    /** Sends a command again: now, or when there is a leader to send it to. */
    private void retry(PendingCommand of) {
        if (options.clock().nanoTime() >= of.deadlineNs) {
            expire(of);
        } else {
            attempt(of);
        }
    }

    private void expire(PendingCommand of) {
        finish(
                of,
                of.maybeDone
                        ? new MetadataException(Reason.UNKNOWN_OUTCOME, "No answer in time: " + link.lastReason())
                        : new MetadataException(Reason.UNAVAILABLE, "No leader in time: " + link.lastReason()));
    }

    private void finish(PendingCommand of, MetadataException trouble) {
        if (pending.remove(of.sequence) != null) {
            of.answer.completeExceptionally(trouble);
        }
    }

    @Override
    public CompletableFuture<MetadataView> linearizable() {
        CompletableFuture<MetadataView> answer = new CompletableFuture<>();
        long deadlineNs = options.clock().nanoTime() + options.commandMs() * 1_000_000;
        thread.execute(() -> readIndex(answer, deadlineNs));
        if (closed) {
            answer.completeExceptionally(new MetadataException(Reason.UNAVAILABLE, "The client is closed"));
        }
        return answer.orTimeout(options.commandMs() + 1_000, TimeUnit.MILLISECONDS)
                .handle((view, trouble) -> {
                    if (trouble == null) {
                        return CompletableFuture.completedFuture(view);
                    }
                    Throwable cause = trouble instanceof CompletionException ? trouble.getCause() : trouble;
                    return CompletableFuture.<MetadataView>failedFuture(
                            cause instanceof MetadataException
                                    ? cause
                                    : new MetadataException(
                                            Reason.UNAVAILABLE, "No read in time: " + link.lastReason()));
                })
                .thenCompose(view -> view);
    }

    private void readIndex(CompletableFuture<MetadataView> answer, long deadlineNs) {
        long leftMs = (deadlineNs - options.clock().nanoTime()) / 1_000_000;
        if (answer.isDone() || leftMs <= 0) {
            answer.completeExceptionally(
                    new MetadataException(Reason.UNAVAILABLE, "No leader in time: " + link.lastReason()));
            return;
        }
        RpcConnection leader = link.leader();
        if (leader == null) {
            thread.schedule(() -> readIndex(answer, deadlineNs), READ_RETRY_MS);
            return;
        }
        leader.call(Methods.READ_INDEX, Unpooled.EMPTY_BUFFER, Math.min(leftMs, options.attemptMs()))
                .whenComplete((body, trouble) -> thread.execute(body, () -> {
                    if (trouble != null) {
                        link.onFailed(leader, statusOf(trouble), trouble.getMessage());
                        readIndex(answer, deadlineNs);
                        return;
                    }
                    ReadIndexReply reply = parsedReadIndex(body);
                    if (reply.getOutcomeCase() == ReadIndexReply.OutcomeCase.VERSION) {
                        link.onAnswered(leader);
                        keeper.whenAt(reply.getVersion(), () -> answer.complete(keeper.view()));
                    } else {
                        link.onNotLeader(leader, reply.getNotLeader(), "no read index from there");
                        readIndex(answer, deadlineNs);
                    }
                }));
    }

    private static ReadIndexReply parsedReadIndex(ByteBuf body) {
        try {
            return ReadIndexReply.parseFrom(body.nioBuffer());
        } catch (InvalidProtocolBufferException malformed) {
            return ReadIndexReply.getDefaultInstance();
        }
    }

    @Override
    protected TopicId newTopicId() {
        return new TopicId(options.randomness().nextLong(), options.randomness().nextLong() | 1);
    }

    // ---- sessions ----

    @Override
    public CompletableFuture<NodeSession> registerBroker(BrokerInfo broker) {
        RemoteSession session = new RemoteSession(
                SessionProto.newBuilder()
                        .setId(broker.id())
                        .setSessionId(broker.incarnation())
                        .build(),
                (state, free, total) -> command()
                        .setSetBrokerState(SetBrokerStateCommand.newBuilder()
                                .setId(broker.id())
                                .setIncarnation(broker.incarnation())
                                .setState(ProtoModel.toProto((BrokerInfo.State) state))),
                BrokerInfo.State.GONE,
                this::submitVoid,
                this::isConfirmed,
                sessions::remove);
        RegisterBrokerCommand body = RegisterBrokerCommand.newBuilder()
                .setBroker(ProtoModel.toProto(broker))
                .build();
        return register(command().setRegisterBroker(body).build(), session);
    }

    @Override
    public CompletableFuture<NodeSession> registerBookie(BookieRegistration bookie) {
        BookieInfo info = new BookieInfo(
                bookie.id(),
                bookie.sessionId(),
                bookie.incarnations(),
                bookie.rack(),
                bookie.host(),
                bookie.port(),
                BookieInfo.State.WRITABLE,
                bookie.freeBytes(),
                bookie.totalBytes(),
                -1);
        RemoteSession session = new RemoteSession(
                SessionProto.newBuilder()
                        .setBookie(true)
                        .setId(bookie.id().value())
                        .setSessionId(bookie.sessionId())
                        .build(),
                (state, free, total) -> command()
                        .setSetBookieState(SetBookieStateCommand.newBuilder()
                                .setId(bookie.id().value())
                                .setSessionId(bookie.sessionId())
                                .setState(ProtoModel.toProto((BookieInfo.State) state))
                                .setFreeBytes(free)
                                .setTotalBytes(total)),
                BookieInfo.State.GONE,
                this::submitVoid,
                this::isConfirmed,
                sessions::remove);
        RegisterBookieCommand body = RegisterBookieCommand.newBuilder()
                .setBookie(ProtoModel.toProto(info))
                .build();
        return register(command().setRegisterBookie(body).build(), session);
    }

    private CompletableFuture<NodeSession> register(MetadataCommand command, RemoteSession session) {
        CompletableFuture<NodeSession> answer = new CompletableFuture<>();
        long patienceNs = options.clock().nanoTime() + DUPLICATE_PATIENCE_MS * 1_000_000;
        register(command, session, patienceNs, answer);
        return answer;
    }

    /** A predecessor's session that has not run out yet looks like a duplicate for a moment. */
    private void register(
            MetadataCommand command, RemoteSession session, long patienceNs, CompletableFuture<NodeSession> answer) {
        submitVoid(command.toBuilder()).whenComplete((done, trouble) -> {
            if (trouble == null) {
                sessions.add(session);
                thread.execute(this::heartbeat);
                answer.complete(session);
            } else if (isDuplicate(trouble) && options.clock().nanoTime() < patienceNs && !closed) {
                thread.schedule(() -> register(command, session, patienceNs, answer), DUPLICATE_RETRY_MS);
            } else {
                answer.completeExceptionally(trouble);
            }
        });
    }

    private static boolean isDuplicate(Throwable trouble) {
        return trouble instanceof MetadataException known && known.reason() == Reason.DUPLICATE_NODE;
    }

    private boolean isConfirmed() {
        return leaderReachable && options.clock().nanoTime() - confirmedUntilNs < 0;
    }

    private void tick() {
        heartbeat();
        long nowNs = options.clock().nanoTime();
        List<PendingCommand> late = new ArrayList<>();
        for (PendingCommand command : pending.values()) {
            if (nowNs - command.deadlineNs >= 0) {
                late.add(command);
            }
        }
        late.forEach(this::expire);
    }

    private void heartbeat() {
        RpcConnection leader = link.leader();
        if (leader == null || heartbeatInFlight || sessions.isEmpty()) {
            return;
        }
        HeartbeatRequest.Builder request = HeartbeatRequest.newBuilder();
        sessions.forEach(session -> request.addSessions(session.proto));
        heartbeatInFlight = true;
        long sentNs = options.clock().nanoTime();
        leader.call(Methods.HEARTBEAT, bytesOf(request.build()), options.attemptMs())
                .whenComplete((body, trouble) -> thread.execute(body, () -> {
                    heartbeatInFlight = false;
                    if (trouble == null) {
                        onHeartbeat(leader, body, sentNs);
                    } else {
                        link.onFailed(leader, statusOf(trouble), trouble.getMessage());
                    }
                }));
    }

    private void onHeartbeat(RpcConnection asked, ByteBuf body, long sentNs) {
        HeartbeatReply reply;
        try {
            reply = HeartbeatReply.parseFrom(body.nioBuffer());
        } catch (InvalidProtocolBufferException malformed) {
            link.onNotLeader(asked, noHint(), malformed.getMessage());
            return;
        }
        if (reply.hasNotLeader()) {
            link.onNotLeader(asked, reply.getNotLeader(), "the node doesn't lead");
            return;
        }
        link.onAnswered(asked);
        confirmedUntilNs = sentNs + (long) (reply.getTimeoutMs() * CONFIRMED_SHARE * 1_000_000);
        for (RemoteSession session : sessions) {
            if (reply.getDeadList().contains(session.proto)) {
                session.onDead();
            }
        }
    }

    // ---- the service's own nodes ----

    /** How the service stands. Fails with {@link MetadataException} UNAVAILABLE if no leader answers. */
    public CompletableFuture<MetadataStatus> status() {
        return ask(Methods.STATUS, Unpooled.EMPTY_BUFFER, options.attemptMs(), body -> {
            StatusReply reply = StatusReply.parseFrom(body.nioBuffer());
            List<MetadataMember> members = new ArrayList<>();
            reply.getMembersList()
                    .forEach(m -> members.add(
                            new MetadataMember(m.getId(), m.getHost(), m.getRaftPort(), m.getClientPort())));
            return new MetadataStatus(
                    reply.getNodeId(),
                    reply.getTerm(),
                    reply.getVersion(),
                    reply.getAppliedIndex(),
                    reply.getSnapshotIndex(),
                    members);
        });
    }

    /**
     * Makes a node, which runs already, a member: it counts for the quorum once it has caught up. One change at a time.
     *
     * @return fails with UNKNOWN_OUTCOME if the change did not come about in time: see {@link #status} for what came of it
     */
    public CompletableFuture<Void> addNode(MetadataMember member) {
        return changeMembers(ChangeMembersRequest.newBuilder()
                .setAdd(MemberProto.newBuilder()
                        .setId(member.id())
                        .setHost(member.host())
                        .setRaftPort(member.raftPort())
                        .setClientPort(member.clientPort()))
                .build());
    }

    /** Takes a node out of the service, whether it runs or not; it can be stopped then. Fails as {@link #addNode} does. */
    public CompletableFuture<Void> removeNode(int id) {
        return changeMembers(ChangeMembersRequest.newBuilder().setRemove(id).build());
    }

    private CompletableFuture<Void> changeMembers(ChangeMembersRequest change) {
        return ask(Methods.CHANGE_MEMBERS, bytesOf(change), options.commandMs(), body -> {
            SubmitReply reply = SubmitReply.parseFrom(body.nioBuffer());
            if (reply.hasNotLeader()) {
                throw new MetadataException(Reason.UNAVAILABLE, "The leader changed: try again");
            }
            return null;
        });
    }

    /** What a reply says. */
    private interface Reading<T> {
        T of(ByteBuf body) throws InvalidProtocolBufferException;
    }

    private <T> CompletableFuture<T> ask(int method, ByteBuf request, long timeoutMs, Reading<T> reading) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        thread.execute(() -> {
            RpcConnection leader = link.leader();
            if (leader == null) {
                request.release();
                answer.completeExceptionally(
                        new MetadataException(Reason.UNAVAILABLE, "No leader: " + link.lastReason()));
                return;
            }
            leader.call(method, request, timeoutMs)
                    .whenComplete(
                            (body, trouble) -> thread.execute(body, () -> answer(answer, body, trouble, reading)));
        });
        return answer;
    }

    private static <T> void answer(CompletableFuture<T> answer, ByteBuf body, Throwable trouble, Reading<T> reading) {
        try {
            if (trouble != null) {
                RpcStatus status = statusOf(trouble);
                Reason reason = status == RpcStatus.INVALID
                        ? Reason.INVALID
                        : status.certainlyNotDone() ? Reason.UNAVAILABLE : Reason.UNKNOWN_OUTCOME;
                throw new MetadataException(reason, String.valueOf(trouble.getMessage()));
            }
            answer.complete(reading.of(body));
        } catch (MetadataException refused) {
            answer.completeExceptionally(refused);
        } catch (InvalidProtocolBufferException malformed) {
            answer.completeExceptionally(new MetadataException(Reason.UNKNOWN_OUTCOME, "The reply doesn't parse"));
        }
    }

    // ---- the rest ----

    private static RpcStatus statusOf(Throwable trouble) {
        Throwable cause = trouble instanceof CompletionException ? trouble.getCause() : trouble;
        return cause instanceof RpcException known ? known.status() : RpcStatus.INTERNAL;
    }

    private static NotLeaderProto noHint() {
        return NotLeaderProto.getDefaultInstance();
    }

    private static ByteBuf bytesOf(MessageLite message) {
        return Unpooled.wrappedBuffer(message.toByteArray());
    }

    /** The cluster's id as far as it is known; empty before. */
    public String clusterId() {
        return clusterId;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        // The sessions' last words go out before the connection ends, if there is one.
        List<CompletableFuture<Void>> lastWords = new ArrayList<>();
        sessions.forEach(session -> lastWords.add(session.end()));
        closed = true;
        CompletableFuture.allOf(lastWords.toArray(CompletableFuture[]::new))
                .completeOnTimeout(null, LAST_WORDS_MS_MAX, TimeUnit.MILLISECONDS)
                .whenComplete((said, trouble) -> thread.execute(this::end));
    }

    /** Ends without a word, as a process that is killed does. For tests of how that is noticed. */
    void abandon() {
        closed = true;
        thread.execute(this::end);
    }

    private void end() {
        link.close();
        rpc.close();
        List.copyOf(pending.values())
                .forEach(command ->
                        finish(command, new MetadataException(Reason.UNKNOWN_OUTCOME, "The client was closed")));
        thread.end();
    }
}
