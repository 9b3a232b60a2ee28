package io.varve.serving.server;

import io.micrometer.core.instrument.MeterRegistry;
import io.netty.util.HashedWheelTimer;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.varve.base.FaultHandler;
import io.varve.metadata.model.BrokerInfo;
import io.varve.serving.coordinator.Coordinators;
import io.varve.serving.kafka.record.KafkaRecordValidation;
import io.varve.serving.net.KafkaServer;
import io.varve.serving.net.RequestDispatcher;
import io.varve.serving.partition.PartitionManager;
import io.varve.serving.partition.PartitionPorts;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientQuotas;
import io.varve.serving.request.Deadlines;
import io.varve.serving.request.FreshViews;
import io.varve.serving.request.PartitionFinder;
import io.varve.serving.request.TopicCache;
import io.varve.serving.request.admission.QuotaGate;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running broker. It holds nothing: everything it knows is in the metadata service, on bookies and in object storage.
 *
 * <p>Closing drains: the metadata service gives it nothing more, its partitions are handed over sealed, clients are answered what they asked and
 * sent on, and then the sockets close.
 */
public final class ServingNode implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ServingNode.class);
    private static final long WHEEL_TICK_MS = 5;

    private final ServingConfig config;
    private final ServingParts parts;
    private final HashedWheelTimer wheel;
    private final PartitionManager manager;
    private final Coordinators coordinators;
    private final KafkaServer server;
    private final TopicCache topics = new TopicCache();
    private final BrokerSession session;
    private final Disconnect remote;
    private final AtomicBoolean closed = new AtomicBoolean();

    private ServingNode(ServingConfig config, ServingParts parts, Disconnect remote) {
        this.config = config;
        this.remote = remote;
        this.parts = parts;
        this.wheel = new HashedWheelTimer(
                new DefaultThreadFactory("broker-deadlines", true), WHEEL_TICK_MS, TimeUnit.MILLISECONDS);
        Deadlines deadlines = new Deadlines(wheel);
        PartitionPorts ports = new PartitionPorts(
                config.nodeId(),
                parts.incarnation(),
                parts.metadata(),
                parts.bookies(),
                parts.remote(),
                parts.manifests(),
                parts.clock(),
                parts.faults());
        this.manager = new PartitionManager(ports, config.partitions(), parts.registry());
        FreshViews views = new FreshViews(parts.metadata(), deadlines);
        PartitionFinder finder = new PartitionFinder(config.nodeId(), parts.metadata(), manager, views, deadlines);
        BrokerServices services = new BrokerServices(
                config.settings(),
                config.forClients(),
                parts.clock(),
                parts.metadata(),
                manager,
                finder,
                topics,
                deadlines,
                new ClientQuotas(parts.metadata(), parts.clock()));
        this.coordinators = parts.coordinators().over(manager);
        RequestDispatcher dispatcher = new RequestDispatcher(services, new KafkaRecordValidation(), coordinators);
        dispatcher.register(parts.registry());
        parts.metadata().subscribe(topics);
        try {
            this.server = KafkaServer.bind(
                    config.network(),
                    new QuotaGate(dispatcher, services),
                    parts.clock(),
                    parts.registry(),
                    parts.faults());
        } catch (RuntimeException e) {
            closeInside();
            throw e;
        }
        this.session = new BrokerSession(
                parts.metadata(),
                new BrokerInfo(
                        config.nodeId(),
                        parts.incarnation(),
                        config.rack(),
                        config.listeners().endpoints(server::port),
                        BrokerInfo.State.LIVE),
                deadlines);
    }

    /**
     * Connects to the cluster and starts a broker.
     *
     * @param faults ends the process: a broker that broke an invariant must not go on
     * @throws io.varve.base.StartupException BAD_CONFIG, NO_QUORUM, PORT_TAKEN or DUPLICATE_NODE, each in one line
     */
    public static ServingNode start(ServingConfig config, MeterRegistry registry, FaultHandler faults) {
        RemoteParts remote = new RemoteParts(config, registry, faults);
        try {
            return start(config, remote.parts(), remote);
        } catch (RuntimeException e) {
            remote.close();
            throw e;
        }
    }

    /**
     * Starts a broker on parts that are connected already; they stay the caller's.
     *
     * @throws io.varve.base.StartupException PORT_TAKEN, DUPLICATE_NODE or NO_QUORUM
     */
    static ServingNode start(ServingConfig config, ServingParts parts) {
        return start(config, parts, () -> {});
    }

    private static ServingNode start(ServingConfig config, ServingParts parts, Disconnect remote) {
        ServingNode node = new ServingNode(config, parts, remote);
        try {
            node.session.open(config.metadataWaitMs());
            node.manager.start();
        } catch (RuntimeException e) {
            node.server.close();
            node.closeInside();
            throw e;
        }
        LOG.info("event=broker_started broker={} rack=\"{}\"", config.nodeId(), config.rack());
        return node;
    }

    /** Lets go of what the node was started with. */
    interface Disconnect extends AutoCloseable {
        @Override
        void close();
    }

    /** The port of a listener, which matters if it was configured as 0. */
    public int port(String listener) {
        return server.port(listener);
    }

    /** Drains and stops; a second time does nothing. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        long deadlineNs = parts.clock().nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.drainMs());
        session.startDraining(config.drainMs() / 4);
        handOver(leftMs(deadlineNs));
        server.drain(Math.max(100, leftMs(deadlineNs)));
        server.close();
        session.close();
        closeInside();
        remote.close();
        LOG.info("event=broker_stopped broker={}", config.nodeId());
    }

    private void handOver(long waitMs) {
        try {
            manager.drain().get(waitMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            LOG.warn("event=handover_unfinished broker={} after_ms={}", config.nodeId(), waitMs);
        } catch (ExecutionException e) {
            LOG.warn("event=handover_failed broker={}", config.nodeId(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private long leftMs(long deadlineNs) {
        return Math.max(
                0, TimeUnit.NANOSECONDS.toMillis(deadlineNs - parts.clock().nanoTime()));
    }

    private void closeInside() {
        parts.metadata().unsubscribe(topics);
        coordinators.close();
        manager.close();
        wheel.stop();
    }
}
