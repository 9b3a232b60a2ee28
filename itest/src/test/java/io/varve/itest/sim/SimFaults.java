package io.varve.itest.sim;

import io.varve.base.PartitionId;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.Topic;
import io.varve.sim.SimRandomness;
import io.varve.sim.SimScheduler;
import java.util.Optional;
import java.util.TreeSet;

/** What goes wrong in a run, and what operators do in it, one thing at a time at chance moments; and its end. */
final class SimFaults {

    private static final long DRAIN_LOOK_NS = 200_000_000L;
    private static final double CALM = 0;

    /** A kind of trouble. */
    enum Kind {
        KILL_BROKER(40),
        PAUSE_BROKER(40),
        ISOLATE_BROKER(40),
        DRAIN_BROKER(50),
        OPERATE_BROKER(60),
        KILL_BOOKIE(40),
        LOSE_DISK(65),
        SLOW_BOOKIE(40),
        CUT_BOOKIE(40),
        DRAIN_BOOKIE(50),
        RELEASE(40);

        private final int absentPercent;

        Kind(int absentPercent) {
            this.absentPercent = absentPercent;
        }

        /** In how many runs of a hundred it doesn't happen. */
        int absentPercent() {
            return absentPercent;
        }
    }

    private final SimCluster cluster;
    private final SimScheduler scheduler;
    private final SimRandomness randomness;
    private final RunOptions options;
    private final Topic topic;
    private final SimReconnectingZombie zombie;
    private final TreeSet<Integer> draining = new TreeSet<>();
    private int lostDisks;
    private boolean on = true;

    SimFaults(SimCluster cluster, RunOptions options, Topic topic) {
        this.cluster = cluster;
        this.scheduler = cluster.scheduler();
        this.randomness = scheduler.randomness().split();
        this.options = options;
        this.topic = topic;
        this.zombie = new SimReconnectingZombie(cluster.bookies(), cluster.fenceOracle(), randomness.split());
    }

    void start() {
        for (int id = 1; id <= options.bookies(); id++) {
            if (options.syncNsMax() > 0) {
                cluster.bookies().syncAfter(id, randomness.between(0, options.syncNsMax()));
            }
        }
        cluster.bucket().setFaults(options.bucketTroublePercent(), randomness.between(1_000_000, 60_000_000));
        soon();
        lookAtDrains();
    }

    private void soon() {
        scheduler.schedule(randomness.between(1_000_000L, options.faultGapNs()), () -> {
            if (on) {
                fault();
                soon();
            }
        });
    }

    private void fault() {
        for (SimBroker broker : cluster.brokers()) {
            disturb(broker.link());
        }
        for (int id = 1; id <= options.bookies(); id++) {
            disturb(cluster.bookie(id).link());
        }
        int bookie = 1 + randomness.nextInt(options.bookies());
        zombie.tryAppending(bookie);
        Kind kind = drawn();
        SimBroker broker =
                cluster.brokers().get(randomness.nextInt(cluster.brokers().size()));
        boolean steady = broker.process().isAlive() && !broker.process().isPaused();
        if (kind != null && steady) {
            fault(kind, broker, bookie);
        }
    }

    private void disturb(SimMetadataLink link) {
        link.setFaults(options.lostPercent(), options.strayPercent(), randomness.between(1_000_000L, 20_000_000L));
    }

    private Kind drawn() {
        int sum = 0;
        for (int weight : options.weights()) {
            sum += weight;
        }
        int drawn = sum == 0 ? 0 : randomness.nextInt(sum);
        for (Kind kind : Kind.values()) {
            drawn -= options.weights()[kind.ordinal()];
            if (drawn < 0) {
                return kind;
            }
        }
        return null;
    }

    private void fault(Kind kind, SimBroker broker, int bookie) {
        switch (kind) {
            case KILL_BROKER -> cluster.killBroker(broker);
            case PAUSE_BROKER -> cluster.pauseBroker(broker, randomness.between(10_000_000L, 1_500_000_000L));
            case ISOLATE_BROKER -> cluster.isolateBroker(broker, randomness.between(100_000_000L, 1_500_000_000L));
            case DRAIN_BROKER -> cluster.drainBroker(broker);
            case OPERATE_BROKER -> operate(broker);
            case KILL_BOOKIE -> downBookie(bookie, false);
            case LOSE_DISK -> downBookie(bookie, true);
            case SLOW_BOOKIE -> slowBookie(bookie);
            case CUT_BOOKIE -> cutBookie(broker, bookie);
            case DRAIN_BOOKIE -> drainBookie(bookie);
            case RELEASE -> release(broker);
        }
    }

    // ---- brokers
    // ----------------------------------------------------------------------------------------------------------------

    private void operate(SimBroker broker) {
        cluster.setBrokerState(broker, BrokerInfo.State.DRAINING);
        scheduler.schedule(
                randomness.between(10_000_000L, 800_000_000L),
                () -> cluster.setBrokerState(broker, BrokerInfo.State.LIVE));
    }

    private void release(SimBroker broker) {
        PartitionId partition = new PartitionId(topic.id(), randomness.nextInt(topic.partitions()));
        Optional<Integer> successor =
                randomness.percent(50) ? Optional.empty() : Optional.of(1 + randomness.nextInt(options.brokers()));
        scheduler.trace("release " + partition.index() + " by " + broker.id() + " to " + successor);
        broker.manager().release(partition, successor);
    }

    // ---- bookies
    // ----------------------------------------------------------------------------------------------------------------

    private void downBookie(int bookie, boolean andLoseDisk) {
        if (cluster.deadBookies() >= options.faultBookiesMax()
                || cluster.isDead(bookie)
                || (andLoseDisk && lostDisks >= options.lostDisksMax())) {
            return;
        }
        cluster.killBookie(bookie, randomness.nextInt(101) / 100.0);
        if (andLoseDisk) {
            lostDisks++;
            cluster.loseDisk(bookie);
        }
        scheduler.schedule(randomness.between(50_000_000L, 1_500_000_000L), () -> cluster.startBookie(bookie));
    }

    private void slowBookie(int bookie) {
        if (randomness.percent(30)) {
            cluster.bookies().hang(bookie);
            scheduler.schedule(
                    randomness.between(10_000_000L, 1_000_000_000L),
                    () -> cluster.bookies().resume(bookie));
        } else {
            cluster.bookies().slow(bookie, randomness.between(100_000L, 60_000_000L));
            scheduler.schedule(
                    randomness.between(10_000_000L, 1_500_000_000L),
                    () -> cluster.bookies().slow(bookie, 100_000L));
        }
    }

    private void cutBookie(SimBroker broker, int bookie) {
        String client = "broker-" + broker.id() + "/" + broker.incarnation();
        scheduler.trace("cut " + client + " " + bookie);
        cluster.bookies().cut(client, bookie);
        scheduler.schedule(
                randomness.between(5_000_000L, 1_000_000_000L),
                () -> cluster.bookies().mend(client, bookie));
    }

    /** One at a time, and only if enough stay that all copies have a place. */
    private void drainBookie(int bookie) {
        boolean roomy = options.bookies() > options.replicas();
        if (roomy && draining.isEmpty() && !cluster.isDead(bookie)) {
            draining.add(bookie);
            cluster.drainBookie(bookie);
        }
    }

    private void lookAtDrains() {
        scheduler.schedule(DRAIN_LOOK_NS, () -> {
            for (int bookie : new TreeSet<>(draining)) {
                if (!cluster.isDead(bookie) && cluster.isEmptied(bookie)) {
                    cluster.switchOff(bookie, () -> bringBackLater(bookie));
                }
            }
            lookAtDrains();
        });
    }

    private void bringBackLater(int bookie) {
        scheduler.schedule(randomness.between(50_000_000L, 1_000_000_000L), () -> {
            cluster.bringBack(bookie);
            draining.remove(bookie);
        });
    }

    /** Whether no bookie is being emptied. */
    boolean areDrainsOver() {
        return draining.isEmpty();
    }

    // ---- the end
    // ----------------------------------------------------------------------------------------------------------------

    /** Nothing goes wrong any more, and what went wrong is mended. Drains go on. */
    void heal() {
        scheduler.trace("healing");
        on = false;
        cluster.bucket().setFaults(CALM, 5_000_000L);
        for (int id = 1; id <= options.bookies(); id++) {
            cluster.bookies().resume(id);
            cluster.bookies().slow(id, 100_000L);
            cluster.startBookie(id);
            cluster.bookie(id).link().setFaults(CALM, CALM, 2_000_000L);
        }
        for (SimBroker broker : cluster.brokers()) {
            broker.link().setFaults(CALM, CALM, 2_000_000L);
            broker.link().setCut(false);
            broker.process().resume();
            String client = "broker-" + broker.id() + "/" + broker.incarnation();
            for (int id = 1; id <= options.bookies(); id++) {
                cluster.bookies().mend(client, id);
            }
        }
    }
}
