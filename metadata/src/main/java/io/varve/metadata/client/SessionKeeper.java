package io.varve.metadata.client;

import com.google.protobuf.InvalidProtocolBufferException;
import io.netty.buffer.ByteBuf;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.api.NodeSession;
import io.varve.metadata.net.Methods;
import io.varve.protocol.meta.HeartbeatReply;
import io.varve.protocol.meta.HeartbeatRequest;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.rpc.RpcConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/** The sessions of this process: registers them, and keeps them alive by heartbeats to the leader. */
final class SessionKeeper {

    /** How long a process whose number is taken waits for its predecessor's session to end. */
    private static final long DUPLICATE_PATIENCE_MS = 5_000;

    private static final long DUPLICATE_RETRY_MS = 100;

    /** A session counts as confirmed for this share of the time-out after the heartbeat was sent. */
    private static final double CONFIRMED_SHARE = 0.8;

    private final MetadataClientOptions options;
    private final LeaderLink link;
    private final ClientThread thread;
    private final Function<MetadataCommand.Builder, CompletableFuture<Void>> submit;
    private final List<RemoteSession> sessions = new CopyOnWriteArrayList<>();
    private volatile long confirmedUntilNs;
    private volatile boolean leaderReachable;
    private volatile boolean ended;
    private boolean heartbeatInFlight;

    /** @param submit has a command carried out */
    SessionKeeper(
            MetadataClientOptions options,
            LeaderLink link,
            ClientThread thread,
            Function<MetadataCommand.Builder, CompletableFuture<Void>> submit) {
        this.options = options;
        this.link = link;
        this.thread = thread;
        this.submit = submit;
        this.confirmedUntilNs = options.clock().nanoTime();
    }

    /** There is a leader to tell that this process lives. The client's thread. */
    void onLeader() {
        leaderReachable = true;
        heartbeat();
    }

    /** There is none any longer. */
    void onLeaderLost() {
        leaderReachable = false;
    }

    /** A session that is not kept alive any longer. Any thread. */
    void remove(RemoteSession session) {
        sessions.remove(session);
    }

    /** Takes leave of the service for every session, and registers none any more. Any thread. */
    List<CompletableFuture<Void>> end() {
        ended = true;
        List<CompletableFuture<Void>> lastWords = new ArrayList<>();
        sessions.forEach(session -> lastWords.add(session.end()));
        return lastWords;
    }

    /**
     * Registers a session, and keeps it alive from then on. Any thread.
     *
     * @param command registers it
     */
    CompletableFuture<NodeSession> register(MetadataCommand command, RemoteSession session) {
        CompletableFuture<NodeSession> answer = new CompletableFuture<>();
        long patienceNs = options.clock().nanoTime() + DUPLICATE_PATIENCE_MS * 1_000_000;
        register(command, session, patienceNs, answer);
        return answer;
    }

    /** A predecessor's session that has not run out yet looks like a duplicate for a moment. */
    private void register(
            MetadataCommand command, RemoteSession session, long patienceNs, CompletableFuture<NodeSession> answer) {
        submit.apply(command.toBuilder()).whenComplete((done, trouble) -> {
            if (trouble == null) {
                sessions.add(session);
                thread.execute(this::heartbeat);
                answer.complete(session);
            } else if (isDuplicate(trouble) && options.clock().nanoTime() < patienceNs && !ended) {
                thread.schedule(() -> register(command, session, patienceNs, answer), DUPLICATE_RETRY_MS);
            } else {
                answer.completeExceptionally(trouble);
            }
        });
    }

    private static boolean isDuplicate(Throwable trouble) {
        return trouble instanceof MetadataException known && known.reason() == Reason.DUPLICATE_NODE;
    }

    /** Whether the service has lately said that the sessions stand. Any thread. */
    boolean isConfirmed() {
        return leaderReachable && options.clock().nanoTime() - confirmedUntilNs < 0;
    }

    /** Keeps the sessions alive. The client's thread. */
    void heartbeat() {
        RpcConnection leader = link.leader();
        if (leader == null || heartbeatInFlight || sessions.isEmpty()) {
            return;
        }
        HeartbeatRequest.Builder request = HeartbeatRequest.newBuilder();
        sessions.forEach(session -> request.addSessions(session.proto));
        heartbeatInFlight = true;
        long sentNs = options.clock().nanoTime();
        leader.call(Methods.HEARTBEAT, Calls.bytesOf(request.build()), options.attemptMs())
                .whenComplete((body, trouble) -> thread.execute(body, () -> {
                    heartbeatInFlight = false;
                    if (trouble == null) {
                        onHeartbeat(leader, body, sentNs);
                    } else {
                        link.onFailed(leader, Calls.statusOf(trouble), trouble.getMessage());
                    }
                }));
    }

    private void onHeartbeat(RpcConnection asked, ByteBuf body, long sentNs) {
        HeartbeatReply reply;
        try {
            reply = HeartbeatReply.parseFrom(body.nioBuffer());
        } catch (InvalidProtocolBufferException malformed) {
            link.onNotLeader(asked, Calls.NO_HINT, malformed.getMessage());
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
}
