package io.varve.metadata.model;

import java.util.List;
import java.util.Objects;

/**
 * A registered broker.
 *
 * @param id {@code node.id}
 * @param incarnation random, new at every start of the process
 * @param rack empty if none was configured
 * @param endpoints one for each listener
 * @param state what it can be used for
 */
public record BrokerInfo(int id, long incarnation, String rack, List<Endpoint> endpoints, State state) {

    /** What a broker can be used for. */
    public enum State {
        /** Its session is alive: it may own partitions. */
        LIVE,
        /** It asked to be rid of its partitions before it stops. */
        DRAINING,
        /** Its session ended. */
        GONE
    }

    public BrokerInfo {
        Objects.requireNonNull(rack, "rack");
        Objects.requireNonNull(state, "state");
        endpoints = List.copyOf(endpoints);
    }

    /**
     * Where clients reach one of a broker's listeners.
     *
     * @param listener the listener's name, such as {@code PLAINTEXT}
     * @param securityProtocol Kafka's name of it
     * @param host never a wildcard
     * @param port 1 to 65535
     */
    public record Endpoint(String listener, String securityProtocol, String host, int port) {}
}
