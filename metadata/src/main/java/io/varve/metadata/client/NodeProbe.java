package io.varve.metadata.client;

import com.google.protobuf.InvalidProtocolBufferException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.metadata.net.Methods;
import io.varve.protocol.config.NodeAddress;
import io.varve.protocol.meta.StatusReply;
import io.varve.protocol.rpc.RpcClient;
import io.varve.protocol.rpc.RpcConnection;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.rpc.RpcTarget;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** Asks metadata nodes how they stand, each for itself, whether there is a leader or not. */
public final class NodeProbe {

    private NodeProbe() {}

    /**
     * What the nodes say, by address: those of {@code nodes}, and all others that these name as members. Empty for one that does not answer in time.
     *
     * @param timeoutMs for each round of asking; there are as many as it takes to hear of all members, mostly one or two
     */
    public static SortedMap<Integer, Answer> ask(RpcClient rpc, Collection<NodeAddress> nodes, long timeoutMs) {
        SortedMap<Integer, Answer> answers = new TreeMap<>();
        Deque<NodeAddress> toAsk = new ArrayDeque<>(nodes);
        while (!toAsk.isEmpty()) {
            List<Asked> asked = new ArrayList<>();
            while (!toAsk.isEmpty()) {
                NodeAddress node = toAsk.poll();
                if (answers.putIfAbsent(node.id(), new Answer(node, Optional.empty())) == null) {
                    asked.add(Asked.ask(rpc, node, timeoutMs));
                }
            }
            for (Asked one : asked) {
                Answer answer = one.await();
                answers.put(answer.node().id(), answer);
                answer.status()
                        .ifPresent(status -> status.members()
                                .forEach(m -> toAsk.add(new NodeAddress(m.id(), m.host(), m.clientPort()))));
            }
        }
        return answers;
    }

    /**
     * A node's answer.
     *
     * @param status empty if none came
     */
    public record Answer(NodeAddress node, Optional<NodeStatus> status) {}

    private record Asked(NodeAddress node, RpcConnection connection, CompletableFuture<ByteBuf> reply) {
        static Asked ask(RpcClient rpc, NodeAddress node, long timeoutMs) {
            RpcConnection connection =
                    rpc.connection(new RpcTarget(node.host(), node.port(), RpcRole.METADATA, node.id()));
            return new Asked(node, connection, connection.call(Methods.STATUS, Unpooled.EMPTY_BUFFER, timeoutMs));
        }

        Answer await() {
            try {
                ByteBuf body = reply.join();
                try {
                    return new Answer(node, Optional.of(NodeStatus.of(StatusReply.parseFrom(body.nioBuffer()))));
                } finally {
                    body.release();
                }
            } catch (RuntimeException | InvalidProtocolBufferException silent) {
                return new Answer(node, Optional.empty());
            } finally {
                connection.close();
            }
        }
    }
}
