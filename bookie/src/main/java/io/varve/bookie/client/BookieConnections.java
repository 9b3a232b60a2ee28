package io.varve.bookie.client;

import io.varve.protocol.rpc.RpcClient;
import io.varve.protocol.rpc.RpcConnection;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.rpc.RpcTarget;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The connections to one bookie: one for appends, whose acknowledgements must not stand behind large replies, and one for everything else, so that
 * a fence does not stand behind what this process appends.
 */
final class BookieConnections {

    private final RpcConnection appends;
    private final RpcConnection calls;
    private final AtomicInteger streams = new AtomicInteger();
    private volatile long usedNanos;

    BookieConnections(RpcClient client, BookieAddress bookie, long nowNanos) {
        RpcTarget target = new RpcTarget(
                bookie.host(), bookie.port(), RpcRole.BOOKIE, bookie.id().value());
        this.appends = client.connection(target);
        this.calls = client.connection(target);
        this.usedNanos = nowNanos;
    }

    RpcConnection appends() {
        return appends;
    }

    RpcConnection calls() {
        return calls;
    }

    void used(long nowNanos) {
        usedNanos = nowNanos;
    }

    void streamOpened() {
        streams.incrementAndGet();
    }

    void streamClosed() {
        streams.decrementAndGet();
    }

    boolean isIdle(long nowNanos, long idleNanosMax) {
        return streams.get() == 0 && nowNanos - usedNanos > idleNanosMax;
    }

    void close() {
        appends.close();
        calls.close();
    }
}
