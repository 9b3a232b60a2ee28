package io.varve.serving.net;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.util.HashedWheelTimer;
import io.varve.base.FaultHandler;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.protocol.runtime.SystemClock;
import io.varve.serving.coordinator.Coordinators;
import io.varve.serving.coordinator.OnlyProducerIds;
import io.varve.serving.kafka.KafkaCoordinators;
import io.varve.serving.kafka.record.KafkaRecordValidation;
import io.varve.serving.kafka.runtime.BrokerClient;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import io.varve.serving.log.InMemoryPartitionLogs;
import io.varve.serving.log.PartitionLogs;
import io.varve.serving.request.BrokerConfigs;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.BrokerSettings;
import io.varve.serving.request.ClientQuotas;
import io.varve.serving.request.Deadlines;
import io.varve.serving.request.FreshViews;
import io.varve.serving.request.PartitionFinder;
import io.varve.serving.request.TopicCache;
import io.varve.serving.request.admission.QuotaGate;
import io.varve.sim.RecordingFaultHandler;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;

/** A broker with a real socket, real handlers and the real metadata state machine, over logs in memory. */
final class TestBroker implements AutoCloseable {

    static final String LISTENER = "PLAINTEXT";

    final InMemoryMetadata cluster;
    final InMemoryPartitionLogs logs = new InMemoryPartitionLogs();
    final MetadataClient metadata;
    final BrokerServices services;
    final KafkaServer server;
    final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    final RecordingFaultHandler faults = new RecordingFaultHandler();

    private final int id;
    private final Coordinators coordinators;
    private final HashedWheelTimer wheel = new HashedWheelTimer(5, TimeUnit.MILLISECONDS);

    TestBroker() {
        this(new InMemoryMetadata(SystemClock.INSTANCE, 7).withBookies(3), 1, options());
    }

    TestBroker(InMemoryMetadata cluster, int id, KafkaServerOptions options) {
        this(cluster, id, options, (metadata, logs, faults) -> OnlyProducerIds.over(metadata));
    }

    /** One whose groups and transactions are coordinated as they really are. */
    static TestBroker withCoordinators() {
        return new TestBroker(
                new InMemoryMetadata(SystemClock.INSTANCE, 7).withBookies(3),
                1,
                options(),
                (metadata, logs, faults) -> new KafkaCoordinators(
                        new CoordinatorOptions(1, Map.of("group.initial.rebalance.delay.ms", "0"), 2, 2, 2, 1 << 20),
                        metadata,
                        logs,
                        new NoOtherBroker(),
                        SystemClock.INSTANCE,
                        faults));
    }

    /** Makes the coordinators of a broker. */
    private interface CoordinatorsFactory {
        Coordinators over(MetadataClient metadata, PartitionLogs logs, FaultHandler faults);
    }

    private static final class NoOtherBroker implements BrokerClient {
        @Override
        public CompletableFuture<AbstractResponse> send(
                int broker, AbstractRequest.Builder<? extends AbstractRequest> request) {
            return CompletableFuture.failedFuture(new DisconnectException("there is no broker " + broker));
        }

        @Override
        public void close() {}
    }

    private TestBroker(
            InMemoryMetadata cluster, int id, KafkaServerOptions options, CoordinatorsFactory coordinatorsFactory) {
        this.id = id;
        this.cluster = cluster;
        this.metadata = cluster.newClient();
        this.metadata.subscribe(this::follow);
        Deadlines deadlines = new Deadlines(wheel);
        PartitionFinder finder =
                new PartitionFinder(id, metadata, logs, new FreshViews(metadata, deadlines), deadlines);
        BrokerConfigs configs = new BrokerConfigs(List.of(new BrokerConfigs.Entry(
                "num.partitions", Optional.empty(), Optional.of("1"), "Partitions of topics that don't say.")));
        this.services = new BrokerServices(
                settings(id),
                configs,
                SystemClock.INSTANCE,
                metadata,
                logs,
                finder,
                new TopicCache(),
                deadlines,
                new ClientQuotas(metadata, SystemClock.INSTANCE));
        this.coordinators = coordinatorsFactory.over(metadata, logs, faults);
        RequestDispatcher dispatcher = new RequestDispatcher(services, new KafkaRecordValidation(), coordinators);
        dispatcher.register(meters);
        this.server =
                KafkaServer.bind(options, new QuotaGate(dispatcher, services), SystemClock.INSTANCE, meters, faults);
        metadata.registerBroker(new BrokerInfo(
                        id,
                        id * 100L,
                        "rack-" + id,
                        List.of(new BrokerInfo.Endpoint(LISTENER, "PLAINTEXT", "127.0.0.1", port())),
                        BrokerInfo.State.LIVE))
                .join();
    }

    static KafkaServerOptions options() {
        return options(1_000, 256L << 20);
    }

    static KafkaServerOptions options(int connectionsMax, long requestMemoryBytes) {
        return new KafkaServerOptions(
                List.of(new KafkaServerOptions.Listener(LISTENER, "127.0.0.1", 0)),
                2,
                100 << 20,
                requestMemoryBytes,
                128,
                32 << 20,
                connectionsMax,
                1_000,
                60_000,
                1_000,
                128);
    }

    private static BrokerSettings settings(int id) {
        return new BrokerSettings(
                id,
                List.of(new BrokerSettings.MetadataServer(1, "localhost", 1)),
                1,
                3,
                true,
                8 << 20,
                64 << 20,
                1_000,
                1_000,
                2_000,
                30_000);
    }

    int port() {
        return server.port(LISTENER);
    }

    String bootstrap() {
        return "127.0.0.1:" + port();
    }

    /** The partition's id; its topic exists. */
    PartitionId partition(String topic, int index) {
        return new PartitionId(cluster.view().topic(topic).orElseThrow().id(), index);
    }

    /** Plays the owner: serves what the metadata gives it. */
    private void follow(MetadataView before, MetadataView after, MetadataDelta delta) {
        for (PartitionId partition : delta.partitions()) {
            int owner = after.partition(partition).map(PartitionState::owner).orElse(PartitionState.NO_OWNER);
            boolean serves = logs.find(partition) instanceof PartitionLogs.Lookup.Served;
            if (owner == id && !serves) {
                logs.serve(partition);
            } else if (owner != id && serves) {
                logs.lose(partition);
            }
        }
    }

    @Override
    public void close() {
        server.close();
        coordinators.close();
        wheel.stop();
        metadata.close();
        faults.assertNone();
    }
}
