package io.varve.metadata.server;

import com.google.protobuf.InvalidProtocolBufferException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.StartupException;
import io.varve.metadata.net.Methods;
import io.varve.metadata.raft.RaftPeerAddress;
import io.varve.protocol.meta.LocateReply;
import io.varve.protocol.rpc.RpcClient;
import io.varve.protocol.rpc.RpcConnection;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.rpc.RpcTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what a node with an empty directory may do. A new cluster's nodes all have one, and vote. A node that lost its disk has one too, and must not: it has forgotten what it promised and what it stored, and a
 * quorum that counts it may lack what was committed. So it asks the others first, and votes only if enough of them are as new as it is; if the cluster has been formed it comes back as a new member does,
 * counted when it has caught up.
 */
final class Formation {

    /** What a node with an empty directory is. */
    enum Kind {
        /** One of a new cluster's. */
        FOUNDER,
        /** One that lost its disk, or comes late: the cluster has been formed without it. */
        RETURNING
    }

    private static final Logger LOG = LoggerFactory.getLogger(Formation.class);
    private static final long LOCATE_MS = 1_000;

    private Formation() {}

    /**
     * Asks the other nodes until they have said enough.
     *
     * @throws StartupException NO_QUORUM if they don't in {@code timeoutMs}
     */
    static Kind find(RpcClient rpc, List<RaftPeerAddress> peers, int self, long timeoutMs) {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        List<RpcConnection> others = new ArrayList<>();
        for (RaftPeerAddress peer : peers) {
            if (peer.nodeId() != self) {
                others.add(
                        rpc.connection(new RpcTarget(peer.host(), peer.clientPort(), RpcRole.METADATA, peer.nodeId())));
            }
        }
        try {
            while (System.nanoTime() < deadlineNs) {
                int founders = 1;
                for (LocateReply reply : askAll(others)) {
                    if (!reply.getClusterId().isEmpty()) {
                        LOG.info("event=metadata_returning node={} cluster={}", self, reply.getClusterId());
                        return Kind.RETURNING;
                    }
                    founders++;
                }
                if (founders > peers.size() / 2) {
                    return Kind.FOUNDER;
                }
            }
        } finally {
            others.forEach(RpcConnection::close);
        }
        throw new StartupException(
                StartupException.Reason.NO_QUORUM,
                "This node's directory is empty, and too few of the other metadata nodes answer to tell whether the cluster is new");
    }

    /** The answers that come in time. */
    private static List<LocateReply> askAll(List<RpcConnection> others) {
        List<CompletableFuture<ByteBuf>> asked = new ArrayList<>();
        others.forEach(other -> asked.add(other.call(Methods.LOCATE, Unpooled.EMPTY_BUFFER, LOCATE_MS)));
        List<LocateReply> replies = new ArrayList<>();
        for (CompletableFuture<ByteBuf> each : asked) {
            try {
                ByteBuf body = each.get(2 * LOCATE_MS, TimeUnit.MILLISECONDS);
                try {
                    replies.add(LocateReply.parseFrom(body.nioBuffer()));
                } finally {
                    body.release();
                }
            } catch (ExecutionException | TimeoutException | InvalidProtocolBufferException silent) {
                LOG.debug("event=metadata_peer_silent reason=\"{}\"", silent.getMessage());
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                return replies;
            }
        }
        return replies;
    }
}
