package io.varve.protocol.rpc;

import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * How a server runs.
 *
 * @param host the address to listen on; {@code 0.0.0.0} for all
 * @param port 0 for any free one
 * @param identity who this process is, asked at each hello, because the cluster's id may become known later
 * @param loops runs the connections
 * @param clock for deadlines
 * @param faults gets the {@code Error}s that the service throws
 * @param bounds what is allowed
 */
public record RpcServerOptions(
        String host,
        int port,
        Supplier<RpcIdentity> identity,
        RpcLoops loops,
        Clock clock,
        FaultHandler faults,
        RpcBounds bounds) {
    public RpcServerOptions {
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(identity, "identity");
        Objects.requireNonNull(loops, "loops");
        Objects.requireNonNull(clock, "clock");
        Objects.requireNonNull(faults, "faults");
        Objects.requireNonNull(bounds, "bounds");
    }
}
