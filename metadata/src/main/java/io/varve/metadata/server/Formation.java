package io.varve.metadata.server;

import com.google.protobuf.InvalidProtocolBufferException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.StartupException;
import io.varve.metadata.net.Methods;
import io.varve.metadata.raft.RaftPeerAddress;
import io.varve.protocol.meta.IntroduceReply;
import io.varve.protocol.meta.IntroduceRequest;
import io.varve.protocol.rpc.RpcClient;
import io.varve.protocol.rpc.RpcConnection;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.rpc.RpcTarget;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides, before a node takes part in anything, what it may do: it introduces itself to the others and hears what they know of it and of the cluster.
 *
 * <p>A new cluster's nodes all have empty directories, and vote. A node that lost its disk has one too, and must not: it has forgotten what it promised and what it stored, and a quorum that counts it may lack what was committed. If
 * the cluster has been formed it comes back as a new member does, counted when it has caught up.
 *
 * <p>A node whose directory is an older copy of its own has forgotten likewise, and is refused: the others remember up to where it had stored what was committed. One whose directory is another cluster's is refused as well (I-13), before
 * two logs mix. So as many of the others must have answered as a quorum takes, which costs nothing: without them there would be none.
 */
final class Formation {

    /** What a node is. */
    enum Kind {
        /** One of a new cluster's. */
        FOUNDER,
        /** One that begins with a backup, alone. */
        RESTORED,
        /** One that has its log. */
        MEMBER,
        /** One that lost its disk, or comes late: the cluster has been formed without it. */
        RETURNING
    }

    /**
     * Who it is by its directory.
     *
     * @param clusterId empty if the directory knows of none
     * @param lastIndex of its log; negative if it has none
     * @param restored whether a backup waits in it
     */
    record Self(int nodeId, Path directory, String clusterId, long lastIndex, boolean restored) {}

    private static final Logger LOG = LoggerFactory.getLogger(Formation.class);
    private static final long ANSWER_MS = 1_000;
    private static final long PAUSE_MS = 100;
    private static final long SAY_MS = 10_000;

    private Formation() {}

    /**
     * Asks the other nodes until they have said enough.
     *
     * @param needed how many of them a quorum takes
     * @throws StartupException NO_QUORUM if they don't in {@code timeoutMs}, DIRECTORY_FOREIGN if this directory must not be used
     * @throws InterruptedException when the node is closed meanwhile
     */
    static Kind find(RpcClient rpc, List<RaftPeerAddress> others, int needed, Self self, long timeoutMs)
            throws InterruptedException {
        long startNs = System.nanoTime();
        long sayNs = startNs + TimeUnit.MILLISECONDS.toNanos(SAY_MS);
        List<RpcConnection> connections = new ArrayList<>();
        others.forEach(peer -> connections.add(
                rpc.connection(new RpcTarget(peer.host(), peer.clientPort(), RpcRole.METADATA, peer.nodeId()))));
        try {
            while (true) {
                Map<Integer, IntroduceReply> replies = askAll(connections, self);
                Kind kind = judge(self, replies, needed);
                if (kind != null) {
                    LOG.info(
                            "event=metadata_formation node={} kind={} answered={}",
                            self.nodeId(),
                            kind,
                            replies.keySet());
                    return kind;
                }
                if (System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(timeoutMs)) {
                    throw new StartupException(
                            StartupException.Reason.NO_QUORUM,
                            "Only " + replies.size() + " of the other metadata nodes " + others + " answer, and "
                                    + needed + " are needed to tell whether this node may take part");
                }
                if (System.nanoTime() - sayNs >= 0) {
                    LOG.warn("event=waiting_for_metadata_nodes answered={} needed={}", replies.keySet(), needed);
                    sayNs += TimeUnit.MILLISECONDS.toNanos(SAY_MS);
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            }
        } finally {
            connections.forEach(RpcConnection::close);
        }
    }

    /** What the replies make of this node; null if they don't say enough yet. */
    static Kind judge(Self self, Map<Integer, IntroduceReply> replies, int needed) {
        for (Map.Entry<Integer, IntroduceReply> reply : replies.entrySet()) {
            String cluster = reply.getValue().getClusterId();
            if (!cluster.isEmpty() && !self.clusterId().isEmpty() && !cluster.equals(self.clusterId())) {
                throw foreign(
                        self,
                        "it belongs to cluster " + self.clusterId() + ", and node " + reply.getKey() + " to cluster "
                                + cluster);
            }
            if (self.restored() && !cluster.isEmpty()) {
                throw foreign(
                        self,
                        "a backup was restored into it, but node " + reply.getKey()
                                + " has the cluster already. Empty it, and this node can be added");
            }
            if (self.lastIndex() < 0 && !cluster.isEmpty()) {
                return Kind.RETURNING;
            }
            long stored = reply.getValue().getStoredIndex();
            if (self.lastIndex() >= 0 && stored > self.lastIndex()) {
                throw foreign(
                        self,
                        "it is an older copy: it ends at entry " + self.lastIndex() + ", and node "
                                + reply.getKey() + " knows that this one had stored entry " + stored
                                + ". Empty it, and the node comes back as a new one");
            }
        }
        if (self.restored()) {
            return Kind.RESTORED;
        }
        if (replies.size() < needed) {
            return null;
        }
        return self.lastIndex() >= 0 ? Kind.MEMBER : Kind.FOUNDER;
    }

    private static StartupException foreign(Self self, String why) {
        return new StartupException(
                StartupException.Reason.DIRECTORY_FOREIGN,
                "The data directory " + self.directory() + " can't be used: " + why);
    }

    /** The answers that come in time, by node. */
    private static Map<Integer, IntroduceReply> askAll(List<RpcConnection> others, Self self)
            throws InterruptedException {
        byte[] introduction = IntroduceRequest.newBuilder()
                .setNodeId(self.nodeId())
                .setClusterId(self.clusterId())
                .build()
                .toByteArray();
        Map<Integer, CompletableFuture<ByteBuf>> asked = new TreeMap<>();
        others.forEach(other -> asked.put(
                other.target().nodeId(),
                other.call(Methods.INTRODUCE, Unpooled.wrappedBuffer(introduction), ANSWER_MS)));
        Map<Integer, IntroduceReply> replies = new TreeMap<>();
        for (Map.Entry<Integer, CompletableFuture<ByteBuf>> each : asked.entrySet()) {
            try {
                ByteBuf body = each.getValue().get(2 * ANSWER_MS, TimeUnit.MILLISECONDS);
                try {
                    replies.put(each.getKey(), IntroduceReply.parseFrom(body.nioBuffer()));
                } finally {
                    body.release();
                }
            } catch (ExecutionException | TimeoutException | InvalidProtocolBufferException silent) {
                LOG.debug("event=metadata_peer_silent node={} reason=\"{}\"", each.getKey(), silent.getMessage());
            }
        }
        return replies;
    }
}
