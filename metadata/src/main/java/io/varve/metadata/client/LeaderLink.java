package io.varve.metadata.client;

import com.google.protobuf.InvalidProtocolBufferException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.metadata.net.Methods;
import io.varve.protocol.config.NodeAddress;
import io.varve.protocol.meta.LocateReply;
import io.varve.protocol.meta.NotLeaderProto;
import io.varve.protocol.rpc.RpcClient;
import io.varve.protocol.rpc.RpcConnection;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.rpc.RpcStatus;
import io.varve.protocol.rpc.RpcTarget;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the leader and keeps the connection to it: asks one node after the other who leads, follows what they say, and starts again when the leader is lost. Used by the client's
 * thread alone.
 */
final class LeaderLink {

    private static final Logger LOG = LoggerFactory.getLogger(LeaderLink.class);
    private static final long LOCATE_MS = 1_000;
    private static final int SILENCES_MAX = 3;

    /** Is told, on the client's thread, when there is a leader to speak to, and when there no longer is. */
    interface Listener {
        void onLeader(RpcConnection connection, String clusterId);

        void onLost(String reason);
    }

    private final LeaderSearch search;
    private final RpcClient rpc;
    private final ClientThread thread;
    private final Listener listener;
    private RpcConnection connection;
    private RpcConnection leader;
    private int silences;
    private long generation;
    private boolean closed;
    private volatile String lastReason = "no metadata node was asked yet";

    LeaderLink(LeaderSearch search, RpcClient rpc, ClientThread thread, Listener listener) {
        this.search = search;
        this.rpc = rpc;
        this.thread = thread;
        this.listener = listener;
    }

    /** The connection to the leader, or null while there is none. */
    RpcConnection leader() {
        return leader;
    }

    /** Why there is none. */
    String lastReason() {
        return lastReason;
    }

    void start() {
        ask(search.first());
    }

    /** What was taken for the leader isn't, or doesn't answer. */
    void onNotLeader(RpcConnection asked, NotLeaderProto hint, String reason) {
        if (asked == connection && !closed) {
            lose(reason);
            askNext(hint);
        }
    }

    /**
     * A call over a connection failed. A leader that is slow for once is not left, for every broken connection looks like a dying process to it; one that stays silent may be cut off from the others.
     */
    void onFailed(RpcConnection asked, RpcStatus status, String reason) {
        if (asked != connection) {
            return;
        }
        boolean isOnlySlow = status == RpcStatus.NO_ANSWER
                && asked.state() == RpcConnection.State.READY
                && ++silences < SILENCES_MAX;
        if (!isOnlySlow) {
            noteSilence(asked, status);
            onNotLeader(asked, NotLeaderProto.getDefaultInstance(), reason);
        }
    }

    /** A call over a connection was answered. */
    void onAnswered(RpcConnection asked) {
        if (asked == connection) {
            silences = 0;
        }
    }

    void close() {
        closed = true;
        generation++;
        if (connection != null) {
            connection.close();
        }
    }

    private void ask(NodeAddress node) {
        if (closed) {
            return;
        }
        generation++;
        long mine = generation;
        if (connection != null) {
            connection.close();
        }
        RpcTarget target = new RpcTarget(node.host(), node.port(), RpcRole.METADATA, node.id());
        connection = rpc.connection(target, (changed, state, reason) -> {
            if (state == RpcConnection.State.WAITING) {
                thread.execute(() -> onBroken(mine, reason));
            }
        });
        RpcConnection asked = connection;
        asked.call(Methods.LOCATE, Unpooled.EMPTY_BUFFER, LOCATE_MS)
                .whenComplete((body, trouble) -> thread.execute(body, () -> {
                    if (mine != generation || closed) {
                        return;
                    }
                    if (trouble != null) {
                        noteSilence(asked, Calls.statusOf(trouble));
                        onFailure(trouble.getMessage());
                    } else {
                        onLocated(asked, body);
                    }
                }));
    }

    private void onLocated(RpcConnection asked, ByteBuf body) {
        LocateReply reply;
        try {
            reply = LocateReply.parseFrom(body.nioBuffer());
        } catch (InvalidProtocolBufferException malformed) {
            onFailure(malformed.getMessage());
            return;
        }
        if (reply.getLeading()) {
            search.onFound();
            silences = 0;
            leader = asked;
            LOG.debug("event=metadata_leader_found node=\"{}\"", asked.target());
            listener.onLeader(asked, reply.getClusterId());
        } else {
            lastReason = asked.target() + " doesn't lead, and "
                    + (reply.getNotLeader().hasLeaderId()
                            ? "node " + reply.getNotLeader().getLeaderId() + " does"
                            : "knows of no leader");
            askNext(reply.getNotLeader());
        }
    }

    private void onBroken(long of, String reason) {
        if (of == generation && !closed) {
            if (leader != null) {
                lose(reason);
            }
            onFailure(reason);
        }
    }

    private void onFailure(String reason) {
        lastReason = reason;
        askNext(NotLeaderProto.getDefaultInstance());
    }

    private void lose(String reason) {
        if (leader != null) {
            leader = null;
            lastReason = reason;
            LOG.debug("event=metadata_leader_lost reason=\"{}\"", reason);
            listener.onLost(reason);
        }
    }

    private void noteSilence(RpcConnection asked, RpcStatus status) {
        if (status == RpcStatus.NO_ANSWER) {
            search.onSilent(asked.target().nodeId());
        }
    }

    private void askNext(NotLeaderProto hint) {
        generation++;
        long mine = generation;
        if (closed) {
            return;
        }
        LeaderSearch.Step step = search.next(hint);
        thread.schedule(
                () -> {
                    if (mine == generation) {
                        ask(step.node());
                    }
                },
                step.pauseMs());
    }
}
