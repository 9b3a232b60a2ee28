package io.varve.itest.sim;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.NodeSession;
import io.varve.metadata.model.BrokerInfo;
import io.varve.serving.core.partition.SegmentRules;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLogs;
import io.varve.serving.partition.PartitionManager;
import io.varve.serving.partition.PartitionOptions;
import io.varve.serving.partition.PartitionPorts;
import io.varve.serving.partition.PartitionThreads;
import io.varve.sim.SimProcess;
import io.varve.tiering.testing.NoBucket;
import java.util.List;
import java.util.Optional;

/** One broker: a process that can die and be paused, and the real partition manager in each of its lives. */
final class SimBroker {

    private final SimCluster cluster;
    private final int id;
    private final SimProcess process;
    private long incarnation;
    private PartitionManager manager;
    private SimMetadataLink link;
    private NodeSession session;

    SimBroker(SimCluster cluster, int id) {
        this.cluster = cluster;
        this.id = id;
        this.process = new SimProcess(cluster.scheduler(), "broker-" + id);
    }

    int id() {
        return id;
    }

    long incarnation() {
        return incarnation;
    }

    SimProcess process() {
        return process;
    }

    SimMetadataLink link() {
        return link;
    }

    PartitionManager manager() {
        return manager;
    }

    void start(PartitionOptions options, SegmentRules rules) {
        process.start();
        session = null;
        incarnation = cluster.nextNumber();
        SimLoopThread loop = new SimLoopThread(process);
        MetadataClient direct = cluster.metadata().newClient(loop);
        link = new SimMetadataLink(cluster.scheduler(), direct, loop);
        MetadataClient metadata = link.client();
        PartitionPorts ports = new PartitionPorts(
                id,
                incarnation,
                metadata,
                cluster.bookies().client("broker-" + id + "/" + incarnation),
                cluster.bucket(),
                NoBucket.INSTANCE,
                cluster.scheduler(),
                cluster.faults());
        PartitionThreads threads = new PartitionThreads(List.of(loop), loop, () -> {});
        manager = new PartitionManager(ports, options, new SimpleMeterRegistry(), rules, threads, cluster.passes());
        register(metadata, manager);
    }

    private void register(MetadataClient metadata, PartitionManager registering) {
        metadata.registerBroker(new BrokerInfo(id, incarnation, "", List.of(), BrokerInfo.State.LIVE))
                .whenComplete((registered, failure) -> {
                    if (failure == null) {
                        if (registering == manager) {
                            session = link.across(registered);
                        }
                        registering.start();
                        registering.subscribe(new Watcher());
                    } else if (registering == manager && process.isAlive()) {
                        process.schedule(50_000_000L, () -> register(metadata, registering));
                    }
                });
    }

    /** Whether it knows that the metadata service has taken it. */
    boolean isRegistered() {
        return session != null;
    }

    /** SIGTERM of a registered one: it says in its session that it goes (said late, it must not hit its successor), hands over what it has, and ends. */
    void drain(Runnable ended) {
        int life = process.life();
        session.setBrokerState(BrokerInfo.State.DRAINING)
                .thenCompose(done -> manager.drain())
                .whenComplete((done, failure) -> {
                    if (process.isAlive() && process.life() == life) {
                        ended.run();
                    }
                });
    }

    private final class Watcher implements PartitionLogs.OwnershipListener {
        @Override
        public void onServing(PartitionLog log) {
            cluster.scheduler().trace("serving " + log.id().index() + " epoch " + log.epoch() + " " + log.offsets());
            cluster.history().onServing(log.id(), log.epoch(), log.offsets().highWatermark());
        }

        @Override
        public void onLost(PartitionId partition, int epoch) {
            cluster.scheduler().trace("lost " + partition.index() + " epoch " + epoch);
        }
    }

    Optional<PartitionLog> find(PartitionId partition) {
        return manager == null || !process.isAlive()
                ? Optional.empty()
                : Optional.ofNullable(SimProducer.served(manager.find(partition)));
    }
}
