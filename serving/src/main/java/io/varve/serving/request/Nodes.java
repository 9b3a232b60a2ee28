package io.varve.serving.request;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BrokerInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The brokers that clients may be sent to, as seen through one listener. */
public final class Nodes {

    private Nodes() {}

    /**
     * @param rack {@code null} if none was configured, as Kafka's messages have it
     */
    public record Node(int id, String host, int port, String rack) {}

    /** All brokers that live and have that listener, by id. */
    public static List<Node> living(MetadataView view, String listener) {
        List<Node> nodes = new ArrayList<>();
        for (BrokerInfo broker : view.brokers()) {
            of(broker, listener).ifPresent(nodes::add);
        }
        return nodes;
    }

    /** One broker, if it lives and has that listener. */
    public static Optional<Node> living(MetadataView view, int broker, String listener) {
        for (BrokerInfo info : view.brokers()) {
            if (info.id() == broker) {
                return of(info, listener);
            }
        }
        return Optional.empty();
    }

    /** The broker that clients are told is the controller: any can be asked, so all name the same. -1 if none lives. */
    public static int controller(List<Node> living) {
        return living.isEmpty() ? -1 : living.get(0).id();
    }

    private static Optional<Node> of(BrokerInfo broker, String listener) {
        if (broker.state() == BrokerInfo.State.GONE) {
            return Optional.empty();
        }
        String rack = broker.rack().isEmpty() ? null : broker.rack();
        return broker.endpoints().stream()
                .filter(endpoint -> endpoint.listener().equals(listener))
                .findFirst()
                .map(endpoint -> new Node(broker.id(), endpoint.host(), endpoint.port(), rack));
    }
}
