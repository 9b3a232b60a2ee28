package io.varve.metadata.net;

import com.google.protobuf.InvalidProtocolBufferException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
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
import java.util.concurrent.CompletableFuture;

/**
 * Whether this node still leads, by the word of most members (I-17): they were asked after the read came, and are in this node's term. Whoever leads instead was elected by most of them, one of whom
 * would have said a later term. See ADR 0106.
 *
 * <p>One round of questions serves all reads that were there when it began; who comes meanwhile waits for the next. Safe for any thread.
 */
final class LeadershipCheck {

    private static final long ANSWER_MS = 2_000;

    private final RpcClient rpc;
    private final Map<Integer, RpcConnection> connections = new TreeMap<>();
    private Round underWay;
    private CompletableFuture<Void> next;

    /** @param rpc makes connections to the other members; its owner closes it */
    LeadershipCheck(RpcClient rpc) {
        this.rpc = rpc;
    }

    /**
     * Asks.
     *
     * @return completes when most members, this one among them, were in this node's term at a time after this call; fails if too few say so. Whether it led in that term is for the caller to know
     */
    CompletableFuture<Void> confirm(RaftNode node) {
        Round round;
        synchronized (this) {
            if (underWay != null) {
                next = next == null ? new CompletableFuture<>() : next;
                return next;
            }
            round = newRound(node, new CompletableFuture<>());
        }
        round.ask();
        return round.outcome;
    }

    private Round newRound(RaftNode node, CompletableFuture<Void> outcome) {
        List<RaftPeerAddress> members = node.members();
        List<RaftPeerAddress> others = members.stream()
                .filter(member -> member.nodeId() != node.nodeId())
                .toList();
        retain(others);
        int self = members.size() - others.size();
        underWay = new Round(
                node.term(), others.stream().map(this::connection).toList(), members.size() / 2 + 1 - self, outcome);
        outcome.whenComplete((confirmed, trouble) -> onEnded(node));
        return underWay;
    }

    private void onEnded(RaftNode node) {
        Round round = null;
        synchronized (this) {
            underWay = null;
            if (next != null) {
                CompletableFuture<Void> waiting = next;
                next = null;
                round = newRound(node, waiting);
            }
        }
        if (round != null) {
            round.ask();
        }
    }

    private void retain(List<RaftPeerAddress> others) {
        connections.entrySet().removeIf(entry -> {
            boolean isGone = others.stream().noneMatch(other -> other.nodeId() == entry.getKey());
            if (isGone) {
                entry.getValue().close();
            }
            return isGone;
        });
    }

    private RpcConnection connection(RaftPeerAddress member) {
        return connections.computeIfAbsent(
                member.nodeId(),
                id -> rpc.connection(new RpcTarget(member.host(), member.clientPort(), RpcRole.METADATA, id)));
    }

    /** This node leads no longer: what is under way fails. */
    synchronized void stop() {
        retain(List.of());
    }

    /** One question to all others. */
    private static final class Round {
        private final long term;
        private final List<RpcConnection> others;
        private final int needed;
        private final CompletableFuture<Void> outcome;
        private int inTerm;
        private int answers;

        /** @param needed how many of the others make most of the members with this node */
        Round(long term, List<RpcConnection> others, int needed, CompletableFuture<Void> outcome) {
            this.term = term;
            this.others = others;
            this.needed = needed;
            this.outcome = outcome;
        }

        void ask() {
            if (needed == 0) {
                outcome.complete(null);
            } else if (others.isEmpty()) {
                outcome.completeExceptionally(new IllegalStateException("there are no members"));
            }
            for (RpcConnection other : others) {
                other.call(Methods.STATUS, Unpooled.EMPTY_BUFFER, ANSWER_MS)
                        .whenComplete((body, trouble) -> onAnswer(trouble == null && termOf(body) == term));
            }
        }

        private void onAnswer(boolean isInTerm) {
            boolean isConfirmed;
            boolean isOver;
            synchronized (this) {
                answers++;
                inTerm += isInTerm ? 1 : 0;
                isConfirmed = inTerm >= needed;
                isOver = answers == others.size();
            }
            if (isConfirmed) {
                outcome.complete(null);
            } else if (isOver) {
                outcome.completeExceptionally(
                        new IllegalStateException("of the other members, " + inTerm + " are in term " + term));
            }
        }

        private static long termOf(ByteBuf body) {
            try {
                return StatusReply.parseFrom(body.nioBuffer()).getTerm();
            } catch (InvalidProtocolBufferException malformed) {
                return Long.MIN_VALUE;
            } finally {
                body.release();
            }
        }
    }
}
