package io.varve.protocol.rpc;

import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.Randomness;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * How a client runs.
 *
 * @param identity who this process is, asked at each hello, because the cluster's id may become known later
 * @param loops runs the connections
 * @param clock for deadlines
 * @param randomness for jitter; safe for any thread
 * @param faults gets the {@code Error}s that handlers and listeners throw
 * @param bounds what is allowed
 */
public record RpcClientOptions(
        Supplier<RpcIdentity> identity,
        RpcLoops loops,
        Clock clock,
        Randomness randomness,
        FaultHandler faults,
        RpcBounds bounds) {
    public RpcClientOptions {
        Objects.requireNonNull(identity, "identity");
        Objects.requireNonNull(loops, "loops");
        Objects.requireNonNull(clock, "clock");
        Objects.requireNonNull(randomness, "randomness");
        Objects.requireNonNull(faults, "faults");
        Objects.requireNonNull(bounds, "bounds");
    }
}
