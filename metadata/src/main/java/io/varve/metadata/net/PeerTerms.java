package io.varve.metadata.net;

import com.google.protobuf.InvalidProtocolBufferException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
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
import java.util.concurrent.CompletionException;

/** Asks other members for their terms, by their {@code STATUS}. Keeps a connection to each of those that it asked last. Safe for any thread. */
final class PeerTerms implements LeadershipCheck.TermsOf {

    private static final long ANSWER_MS = 2_000;

    private final RpcClient rpc;
    private final Map<Integer, RpcConnection> connections = new TreeMap<>();

    /** @param rpc makes the connections; its owner closes it */
    PeerTerms(RpcClient rpc) {
        this.rpc = rpc;
    }

    @Override
    public List<CompletableFuture<Long>> ask(List<RaftPeerAddress> members) {
        return connections(members).stream()
                .map(connection -> connection
                        .call(Methods.STATUS, Unpooled.EMPTY_BUFFER, ANSWER_MS)
                        .thenApply(PeerTerms::termOf))
                .toList();
    }

    /** Nobody is asked for now. What is under way fails. */
    void disconnect() {
        connections(List.of());
    }

    private synchronized List<RpcConnection> connections(List<RaftPeerAddress> members) {
        connections.entrySet().removeIf(entry -> {
            boolean isGone = members.stream().noneMatch(member -> member.nodeId() == entry.getKey());
            if (isGone) {
                entry.getValue().close();
            }
            return isGone;
        });
        return members.stream().map(this::connection).toList();
    }

    private RpcConnection connection(RaftPeerAddress member) {
        return connections.computeIfAbsent(
                member.nodeId(),
                id -> rpc.connection(new RpcTarget(member.host(), member.clientPort(), RpcRole.METADATA, id)));
    }

    private static long termOf(ByteBuf body) {
        try {
            return StatusReply.parseFrom(body.nioBuffer()).getTerm();
        } catch (InvalidProtocolBufferException malformed) {
            throw new CompletionException(malformed);
        } finally {
            body.release();
        }
    }
}
