package io.varve.metadata.client;

import com.google.protobuf.InvalidProtocolBufferException;
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
import io.varve.protocol.meta.MemberProto;
import io.varve.protocol.meta.MetadataCommand;
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
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcStatus;
import io.varve.protocol.rpc.RpcStream;
import io.varve.protocol.rpc.RpcStreamHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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

    private static final long READ_RETRY_MS = 20;
    private static final long LAST_WORDS_MS_MAX = 500;

    private final MetadataClientOptions options;
    private final RpcClient rpc;
    private final LeaderLink link;
    private final ViewKeeper keeper = new ViewKeeper();
    private final CommandQueue commands;
    private final SessionKeeper sessions;
    private final ClientThread thread;
    private volatile String clusterId;
    private volatile boolean closed;
    private volatile int leaderId = RpcIdentity.NO_NODE;

    private RemoteMetadataClient(MetadataClientOptions options) {
        this.options = options;
        this.clusterId = options.identity().clusterId();
        this.thread = new ClientThread(options.faults());
        this.rpc = new RpcClient(new RpcClientOptions(
                this::identity,
                options.loops(),
                options.clock(),
                options.randomness(),
                options.faults(),
                options.bounds()));
        this.link = new LeaderLink(
                new LeaderSearch(options.servers(), options.randomness()), rpc, thread, new LeaderListener());
        this.commands = new CommandQueue(options, link, keeper, thread);
        this.sessions = new SessionKeeper(options, link, thread, this::submitVoid);
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
            leaderId = connection.target().nodeId();
            if (clusterId.isEmpty() && !cluster.isEmpty()) {
                clusterId = cluster;
            }
            watch(connection);
            sessions.onLeader();
            commands.onLeader();
        }

        @Override
        public void onLost(String reason) {
            sessions.onLeaderLost();
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
                    thread.execute(() -> link.onNotLeader(connection, Calls.NO_HINT, "a watch message doesn't parse"));
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
                thread.execute(() -> link.onNotLeader(connection, Calls.NO_HINT, reason));
            }
        });
        WatchRequest from = WatchRequest.newBuilder()
                .setVersion(keeper.view().version())
                .setDigest(keeper.view().digest())
                .build();
        stream.send(Calls.bytesOf(from));
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
        thread.execute(() -> commands.add(command, deadlineNs, answer));
        return answer;
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
                        link.onFailed(leader, Calls.statusOf(trouble), trouble.getMessage());
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
                sessions::isConfirmed,
                sessions::remove);
        RegisterBrokerCommand body = RegisterBrokerCommand.newBuilder()
                .setBroker(ProtoModel.toProto(broker))
                .build();
        return sessions.register(command().setRegisterBroker(body).build(), session);
    }

    @Override
    public CompletableFuture<NodeSession> registerBookie(BookieRegistration bookie) {
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
                sessions::isConfirmed,
                sessions::remove);
        RegisterBookieCommand body = RegisterBookieCommand.newBuilder()
                .setBookie(ProtoModel.toProto(bookie.toBookie()))
                .build();
        return sessions.register(command().setRegisterBookie(body).build(), session);
    }

    private void tick() {
        sessions.heartbeat();
        commands.expireLate();
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
        return ask(Methods.CHANGE_MEMBERS, Calls.bytesOf(change), options.commandMs(), body -> {
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
                RpcStatus status = Calls.statusOf(trouble);
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
        List<CompletableFuture<Void>> lastWords = sessions.end();
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
        commands.end();
        thread.end();
    }
}
