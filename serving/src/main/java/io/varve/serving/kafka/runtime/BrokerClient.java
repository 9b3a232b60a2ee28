package io.varve.serving.kafka.runtime;

import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;

/** Sends requests of Kafka's protocol to other brokers of the cluster. Safe for any thread. */
public interface BrokerClient extends AutoCloseable {

    /** The response; fails if none came, for whatever reason: then it is unknown whether the request was carried out. */
    CompletableFuture<AbstractResponse> send(int broker, AbstractRequest.Builder<? extends AbstractRequest> request);

    @Override
    void close();
}
