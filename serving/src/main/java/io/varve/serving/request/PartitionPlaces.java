package io.varve.serving.request;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Topic;
import io.varve.serving.request.Nodes.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.protocol.Errors;

/**
 * Where partitions are, in Kafka's words.
 *
 * <p>Brokers hold no replicas, and bookies are none of a client's business; but clients, tools and dashboards want a list of replicas. They get
 * the owner first and then the brokers that could take over at once, which is any: as many as the topic has replicas, if there are so many, in
 * a fixed order that spreads them over racks, all in sync.
 */
public final class PartitionPlaces {

    private final List<Node> living;

    /** @param living the brokers that can be named, by id */
    public PartitionPlaces(List<Node> living) {
        this.living = living;
    }

    /**
     * @param error NONE, or LEADER_NOT_AVAILABLE
     * @param leader the owner, -1 without one
     * @param replicas the owner first
     */
    public record Place(int partition, Errors error, int leader, int epoch, List<Integer> replicas) {}

    /** All partitions of a topic, by index. */
    public List<Place> of(MetadataView view, Topic topic) {
        List<Place> places = new ArrayList<>(topic.partitions());
        for (PartitionState state : view.partitions(topic.id())) {
            places.add(of(topic, state));
        }
        return places;
    }

    /** One partition. */
    public Place of(Topic topic, PartitionState state) {
        int owner = -1;
        for (Node node : living) {
            if (node.id() == state.owner()) {
                owner = state.owner();
            }
        }
        Errors error = owner < 0 ? Errors.LEADER_NOT_AVAILABLE : Errors.NONE;
        return new Place(
                state.id().index(),
                error,
                owner,
                state.epoch(),
                replicas(topic, owner, state.id().index()));
    }

    /** The owner, then one broker of each rack that is not there yet, then others: whoever reads near itself finds somebody (KIP-392). */
    private List<Integer> replicas(Topic topic, int owner, int index) {
        int count = Math.min(topic.replicas(), living.size());
        List<Integer> replicas = new ArrayList<>(count);
        Set<String> racks = new TreeSet<>();
        for (Node node : living) {
            if (node.id() == owner) {
                replicas.add(owner);
                racks.add(rackOf(node));
            }
        }
        for (boolean newRacks : new boolean[] {true, false}) {
            for (int i = 0; i < living.size() && replicas.size() < count; i++) {
                Node node = living.get((index + i) % living.size());
                boolean wanted = !newRacks || racks.add(rackOf(node));
                if (wanted && !replicas.contains(node.id())) {
                    replicas.add(node.id());
                }
            }
        }
        return replicas;
    }

    private static String rackOf(Node node) {
        return node.rack() == null ? "" : node.rack();
    }
}
