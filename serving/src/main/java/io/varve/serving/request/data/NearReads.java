package io.varve.serving.request.data;

import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Topic;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Nodes;
import io.varve.serving.request.Nodes.Node;
import io.varve.serving.request.PartitionFinder.Found;
import io.varve.serving.request.PartitionPlaces;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.protocol.Errors;

/**
 * Reads at a broker that is near to the consumer rather than at the partition's owner (KIP-392). Brokers hold nothing, so any can read what is
 * sealed from bookies and object storage. The owner sends a consumer of another rack, as long as it reads what is sealed, to a broker of that
 * rack; that one serves up to the last seal, and there sends it back.
 *
 * <p>A consumer that names no rack is served by owners alone.
 */
final class NearReads {

    private static final short RACK_VERSION = 11;
    private static final byte READ_COMMITTED = 1;
    private static final long METADATA_WAIT_MS = 1_000;

    private final BrokerServices broker;
    private final ClientRequest request;
    private final String rack;
    private final boolean nearHere;
    private final boolean committedOnly;

    private NearReads(
            BrokerServices broker, ClientRequest request, String rack, boolean nearHere, boolean committedOnly) {
        this.broker = broker;
        this.request = request;
        this.rack = rack;
        this.nearHere = nearHere;
        this.committedOnly = committedOnly;
    }

    static NearReads of(BrokerServices broker, ClientRequest request) {
        FetchRequestData data = request.data();
        String rack = request.version() >= RACK_VERSION && data.rackId() != null ? data.rackId() : "";
        boolean nearHere = !rack.isEmpty() && rack.equals(ownRack(broker));
        return new NearReads(broker, request, rack, nearHere, data.isolationLevel() == READ_COMMITTED);
    }

    private static String ownRack(BrokerServices broker) {
        int self = broker.settings().brokerId();
        return broker.view().brokers().stream()
                .filter(info -> info.id() == self)
                .map(info -> info.rack())
                .findFirst()
                .orElse("");
    }

    // ---- at the owner

    /** The broker to send the reader of {@code part} to; empty if it is to stay here, as it does unless it names another rack. */
    CompletableFuture<Optional<Integer>> preferred(FetchPart part, Found found) {
        MetadataView view = broker.view();
        Optional<PartitionState> state =
                part.error() == Errors.NONE ? view.partition(part.log().id()) : Optional.empty();
        boolean mayGo = !rack.isEmpty()
                && !nearHere
                && found.topic().isPresent()
                && state.filter(now ->
                                now.owner() == broker.settings().brokerId() && isSealedAt(now, part.nextOffset()))
                        .isPresent();
        if (!mayGo) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        Optional<Integer> nearest = nearest(view, found.topic().get(), state.get());
        // What that broker will find is looked for here, for it must not send the reader back at once.
        return nearest.isEmpty()
                ? CompletableFuture.completedFuture(nearest)
                : sealed(part.log().id(), part).thenApply(there -> there.flatMap(ignored -> nearest));
    }

    private static boolean isSealedAt(PartitionState partition, long offset) {
        return partition
                .chain()
                .open()
                .filter(open -> offset < open.startOffset())
                .isPresent();
    }

    /** Of those that clients know as the partition's replicas, for they go to no others. */
    private Optional<Integer> nearest(MetadataView view, Topic topic, PartitionState state) {
        List<Node> living = Nodes.living(view, request.session().listener());
        List<Integer> replicas = new PartitionPlaces(living).of(topic, state).replicas();
        return living.stream()
                .filter(node -> rack.equals(node.rack()) && replicas.contains(node.id()))
                .map(Node::id)
                .findFirst();
    }

    // ---- at a broker near by

    /** Whether what another broker owns may be read here. */
    boolean mayServe(Found found) {
        return nearHere
                && found.error() == Errors.NOT_LEADER_OR_FOLLOWER
                && found.topic().isPresent();
    }

    /**
     * What is sealed of it, if the reader's offset is in there. A reader at the end of what is sealed here is sent back to the owner, but only by
     * metadata that is as new as the owner's: else the two would send it to and fro. Where newer can't be had it is told to wait.
     */
    CompletableFuture<Found> serve(FetchPart part, Found elsewhere) {
        PartitionId id =
                new PartitionId(elsewhere.topic().orElseThrow().id(), part.key().partition());
        return sealed(id, part).thenCompose(log -> {
            if (log.isPresent()) {
                return CompletableFuture.completedFuture(here(elsewhere, log.get()));
            }
            return hasNewest()
                    .thenCompose(newest -> sealed(id, part)
                            .thenApply(again -> again.map(found -> here(elsewhere, found))
                                    .orElseGet(() ->
                                            newest ? elsewhere : failed(elsewhere, Errors.OFFSET_NOT_AVAILABLE))));
        });
    }

    /** Brings the metadata here up to what anybody was told of before. Answers whether that could be done. */
    private CompletableFuture<Boolean> hasNewest() {
        return broker.deadlines()
                .within(
                        METADATA_WAIT_MS,
                        broker.metadata().linearizable().handle((view, failure) -> failure == null),
                        () -> false);
    }

    /** What is sealed of a partition, if the reader's offset is in there and visible to it. */
    private CompletableFuture<Optional<PartitionLog>> sealed(PartitionId id, FetchPart part) {
        return broker.logs()
                .sealed(id)
                .thenApply(log -> log.filter(found -> part.nextOffset()
                        < (committedOnly
                                ? found.offsets().lastStable()
                                : found.offsets().highWatermark())));
    }

    private static Found here(Found elsewhere, PartitionLog log) {
        return new Found(Errors.NONE, elsewhere.topic(), Optional.of(log), false);
    }

    private static Found failed(Found elsewhere, Errors error) {
        return new Found(error, elsewhere.topic(), Optional.empty(), false);
    }
}
