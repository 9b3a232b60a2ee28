package io.varve.metadata.net;

import com.google.protobuf.InvalidProtocolBufferException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.Clock;
import io.varve.metadata.core.ClusterTime;
import io.varve.metadata.raft.RaftNode;
import io.varve.metadata.raft.RaftPeerAddress;
import io.varve.protocol.meta.StatusReply;
import io.varve.protocol.rpc.RpcClient;
import io.varve.protocol.rpc.RpcConnection;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.rpc.RpcTarget;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The leader's {@link ClusterTime}, kept by asking the other nodes for theirs every few seconds. Whoever gave it the maker of its connections closes that. Its state belongs to the leader's prompt thread; {@link #nowMs} may be asked on any.
 */
final class PeerClocks {

    private static final Logger LOG = LoggerFactory.getLogger(PeerClocks.class);
    private static final long ASK_MS = 5_000;
    private static final long ANSWER_MS = 1_000;
    private static final long SETTLE_MS = 2_000;
    private static final long OFF_MS_MAX = 10_000;
    private static final long WARN_MS = 60_000;

    private final Clock clock;
    private final RpcClient rpc;
    private final Executor thread;
    private final ClusterTime time = new ClusterTime();
    private final Map<Integer, RpcConnection> connections = new TreeMap<>();
    private long startedMs;
    private long askAtMs;
    private long warnAtMs;
    private long generation;

    /** @param thread the one that all but {@link #nowMs} is called on */
    PeerClocks(Clock clock, RpcClient rpc, Executor thread) {
        this.clock = clock;
        this.rpc = rpc;
        this.thread = thread;
        time.onHeard(-1, clock.wallTimeMs(), monotonicMs());
    }

    private long monotonicMs() {
        return clock.nanoTime() / 1_000_000;
    }

    /** This node leads from now on. */
    void start(RaftNode node) {
        synchronized (time) {
            time.restart();
            time.onHeard(node.nodeId(), clock.wallTimeMs(), monotonicMs());
        }
        startedMs = monotonicMs();
        askAtMs = startedMs;
        warnAtMs = startedMs;
    }

    /** It leads no longer. */
    void stop() {
        generation++;
        connections.values().forEach(RpcConnection::close);
        connections.clear();
    }

    /** The time that commands are stamped with. Any thread. */
    long nowMs() {
        synchronized (time) {
            return time.now(monotonicMs());
        }
    }

    /** How far this node's own clock is ahead of it. Any thread. */
    long ownAheadMs(int self) {
        synchronized (time) {
            return time.ahead(self);
        }
    }

    /** Whether most of the nodes' clocks are known, or were asked for in vain: nothing is planned before. */
    boolean isSettled() {
        synchronized (time) {
            return time.isSettled();
        }
    }

    /** Called again and again while this node leads. */
    void tick(RaftNode node) {
        long nowMs = monotonicMs();
        List<RaftPeerAddress> members = node.members();
        if (nowMs - askAtMs >= 0) {
            askAtMs = nowMs + ASK_MS;
            ask(node, members);
            warnIfOff(node, nowMs);
        }
        synchronized (time) {
            if (!time.isSettled() && (time.known() > members.size() / 2 || nowMs - startedMs >= SETTLE_MS)) {
                time.settle();
            }
        }
    }

    private void ask(RaftNode node, List<RaftPeerAddress> members) {
        List<Integer> ids = members.stream().map(RaftPeerAddress::nodeId).toList();
        synchronized (time) {
            time.retain(ids);
            time.onHeard(node.nodeId(), clock.wallTimeMs(), monotonicMs());
        }
        connections.entrySet().removeIf(entry -> {
            boolean isGone = !ids.contains(entry.getKey());
            if (isGone) {
                entry.getValue().close();
            }
            return isGone;
        });
        for (RaftPeerAddress member : members) {
            if (member.nodeId() != node.nodeId()) {
                ask(connections.computeIfAbsent(
                        member.nodeId(),
                        id -> rpc.connection(new RpcTarget(member.host(), member.clientPort(), RpcRole.METADATA, id))));
            }
        }
    }

    private void ask(RpcConnection peer) {
        long mine = generation;
        long askedMs = monotonicMs();
        peer.call(Methods.STATUS, Unpooled.EMPTY_BUFFER, ANSWER_MS).whenComplete((body, trouble) -> {
            if (trouble != null) {
                return;
            }
            StatusReply reply = parsed(body);
            long answeredMs = monotonicMs();
            thread.execute(() -> {
                if (mine == generation && reply.getNowMs() != 0) {
                    synchronized (time) {
                        time.onHeard(peer.target().nodeId(), reply.getNowMs() + (answeredMs - askedMs) / 2, answeredMs);
                    }
                }
            });
        });
    }

    private static StatusReply parsed(ByteBuf body) {
        try {
            return StatusReply.parseFrom(body.nioBuffer());
        } catch (InvalidProtocolBufferException malformed) {
            return StatusReply.getDefaultInstance();
        } finally {
            body.release();
        }
    }

    private void warnIfOff(RaftNode node, long nowMs) {
        if (nowMs - warnAtMs < WARN_MS) {
            return;
        }
        for (RaftPeerAddress member : node.members()) {
            long aheadMs;
            synchronized (time) {
                aheadMs = time.ahead(member.nodeId());
            }
            if (Math.abs(aheadMs) > OFF_MS_MAX) {
                LOG.warn("event=clock_off node={} ahead_ms={}", member.nodeId(), aheadMs);
                warnAtMs = nowMs;
            }
        }
    }
}
