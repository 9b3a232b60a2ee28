package io.varve.serving.net;

import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.protocol.runtime.LogLimiter;
import io.varve.serving.request.RequestProcessor;
import java.util.function.Consumer;
import org.slf4j.Logger;

/** What all connections of one server share. */
record ServerContext(
        KafkaServerOptions options,
        RequestProcessor processor,
        RequestMemory memory,
        ServerMetrics metrics,
        Clock clock,
        FaultHandler faults,
        Logger log,
        LogLimiter limiter,
        Consumer<KafkaConnection> closed) {

    void onClosed(KafkaConnection connection) {
        closed.accept(connection);
    }
}
