package io.varve.itest.sim;

import io.varve.base.PartitionId;
import io.varve.metadata.model.Topic;
import io.varve.serving.core.partition.SegmentRules;
import io.varve.serving.partition.PartitionOptions;
import io.varve.sim.SimRandomness;
import io.varve.sim.SimScheduler;
import java.util.ArrayList;
import java.util.List;

/**
 * One seed's life of a cluster: options are drawn first (what can go wrong in this run, and how often), then faults run for a while, then they
 * stop and everything must become well.
 */
final class ClusterRun {

    private static final long FAULTS_NS = 4_000_000_000L;
    private static final long HEAL_NS = 30_000_000_000L;
    private static final long CHECK_NS = 50_000_000L;

    private final SimScheduler scheduler;
    private final SimRandomness randomness;
    private final SimCluster cluster;
    private final SimReconnectingZombie zombie;
    private final Topic topic;
    private final List<SimProducer> producers = new ArrayList<>();
    private final List<SimReader> readers = new ArrayList<>();
    private final List<List<SimTransactions>> transactions = new ArrayList<>();
    private final List<SimCommittedReader> committedReaders = new ArrayList<>();
    private final int bookieCount;
    private final int producersPerPartition;
    private final int transactionsPerPartition;
    private final int faultBookiesMax;
    private final int lostDisksMax;
    private final int killWeight;
    private final int pauseWeight;
    private final int isolateWeight;
    private final int bookieWeight;
    private final int diskWeight;
    private final int slowWeight;
    private final int cutWeight;
    private final int releaseWeight;
    private final double lostAnswersPercent;
    private final long faultGapNs;
    private boolean faultsOn = true;

    ClusterRun(long seed, SegmentRules rules) {
        this(seed, rules, BookieBugs.NONE);
    }

    ClusterRun(long seed, SegmentRules rules, BookieBugs bookieBugs) {
        scheduler = new SimScheduler(seed);
        randomness = scheduler.randomness().split();
        int brokers = 2 + randomness.nextInt(2);
        // Owners that don't know that they are none any more, with segments prepared on bookies that come and go: the
        // hardest weather for fences.
        boolean zombies = randomness.percent(30);
        bookieCount = zombies ? 5 : 3 + randomness.nextInt(3);
        int replicas = !zombies && randomness.percent(15) ? Math.min(5, bookieCount) : 3;
        int acks = replicas == 5 ? 3 : 2;
        faultBookiesMax = Math.min(replicas - acks, acks - 1);
        // Nothing is repaired here, so each lost disk is lost for good; A - 1 of them cost no acknowledged entry.
        lostDisksMax = acks - 1;
        producersPerPartition = randomness.percent(20) ? 6 : 1;
        transactionsPerPartition = randomness.percent(50) ? 1 + randomness.nextInt(3) : 0;
        killWeight = weight();
        pauseWeight = weight();
        isolateWeight = zombies ? 4 : weight();
        bookieWeight = zombies ? 8 : weight();
        diskWeight = randomness.percent(30) ? 1 : 0;
        slowWeight = weight();
        cutWeight = weight();
        releaseWeight = weight();
        lostAnswersPercent = randomness.percent(50) ? 2 : 0;
        faultGapNs = zombies ? 80_000_000L : randomness.between(50_000_000L, 900_000_000L);
        PartitionOptions options = new PartitionOptions(
                1,
                20,
                randomness.percent(30) ? 0 : randomness.nextInt(20_000),
                4_000 + randomness.nextInt(30_000),
                1 << 30,
                2_000 + randomness.nextInt(20_000),
                300 + randomness.nextInt(1_000),
                500 + randomness.nextInt(5_000),
                300,
                4,
                1 << 20,
                86_400_000L);
        scheduler.trace("brokers " + brokers + " bookies " + bookieCount + " R " + replicas + " A " + acks);
        cluster = new SimCluster(scheduler, brokers, bookieCount, options, rules, bookieBugs);
        zombie = new SimReconnectingZombie(cluster.bookies(), cluster.fenceOracle(), randomness.split());
        scheduler.runFor(20_000_000L);
        topic = cluster.createTopic(
                1 + randomness.nextInt(2),
                replicas,
                acks,
                randomness.between(50, 3_000),
                !zombies && randomness.percent(50) ? 1 << 30 : 5_000 + randomness.nextInt(zombies ? 15_000 : 60_000));
    }

    private int weight() {
        return randomness.percent(40) ? 0 : 1 + randomness.nextInt(4);
    }

    /** @return the digest of the run's trace */
    long run() {
        for (int index = 0; index < topic.partitions(); index++) {
            PartitionId partition = new PartitionId(topic.id(), index);
            for (int p = 0; p < producersPerPartition; p++) {
                SimProducer producer = new SimProducer(cluster, partition, 1_000 + 100 * index + p);
                producers.add(producer);
                producer.start();
            }
            List<SimTransactions> ofPartition = new ArrayList<>();
            for (int t = 0; t < transactionsPerPartition; t++) {
                SimTransactions transactional = new SimTransactions(cluster, partition, 5_000 + 100 * index + t);
                ofPartition.add(transactional);
                transactional.start();
            }
            transactions.add(ofPartition);
            SimCommittedReader committed = new SimCommittedReader(cluster, partition, ofPartition);
            committedReaders.add(committed);
            committed.start();
            SimReader reader = new SimReader(cluster, partition);
            readers.add(reader);
            reader.start();
        }
        faultSoon();
        checkSoon();
        scheduler.runFor(FAULTS_NS);
        heal();
        producers.forEach(SimProducer::stop);
        transactions.forEach(ofPartition -> ofPartition.forEach(SimTransactions::stop));
        boolean healthy = scheduler.runUntil(this::isWell, HEAL_NS);
        if (!healthy) {
            throw scheduler.failure(
                    new AssertionError("not well " + HEAL_NS / 1_000_000_000 + " s after the faults stopped: "
                            + producers.stream().map(SimProducer::isDone).toList() + " "
                            + cluster.metadata().view().partitions(topic.id())));
        }
        try {
            finalChecks();
        } catch (AssertionError e) {
            throw scheduler.failure(e);
        }
        return scheduler.traceHash();
    }

    long acknowledged() {
        return cluster.history().acknowledged();
    }

    private void faultSoon() {
        scheduler.schedule(randomness.between(1_000_000L, faultGapNs), () -> {
            if (faultsOn) {
                fault();
                faultSoon();
            }
        });
    }

    private void fault() {
        int[] weights = {
            killWeight, pauseWeight, isolateWeight, bookieWeight, diskWeight, slowWeight, cutWeight, releaseWeight
        };
        int sum = 0;
        for (int weight : weights) {
            sum += weight;
        }
        if (sum == 0) {
            return;
        }
        int drawn = randomness.nextInt(sum);
        int kind = 0;
        while (drawn >= weights[kind]) {
            drawn -= weights[kind++];
        }
        SimBroker broker =
                cluster.brokers().get(randomness.nextInt(cluster.brokers().size()));
        int bookie = 1 + randomness.nextInt(bookieCount);
        for (SimBroker b : cluster.brokers()) {
            b.link().setFaults(lostAnswersPercent, randomness.between(1_000_000L, 20_000_000L));
        }
        zombie.tryAppending(bookie);
        boolean steady = broker.process().isAlive() && !broker.process().isPaused();
        switch (kind) {
            case 0 -> {
                if (steady) {
                    cluster.killBroker(broker);
                }
            }
            case 1 -> {
                if (steady) {
                    cluster.pauseBroker(broker, randomness.between(10_000_000L, 1_500_000_000L));
                }
            }
            case 2 -> {
                if (steady) {
                    cluster.isolateBroker(broker, randomness.between(100_000_000L, 1_500_000_000L));
                }
            }
            case 3 -> downBookie(bookie, false);
            case 4 -> downBookie(bookie, true);
            case 5 -> slowBookie(bookie);
            case 6 -> cutBookie(broker, bookie);
            default -> releasePartition(broker);
        }
    }

    private void downBookie(int bookie, boolean andLoseDisk) {
        if (cluster.deadBookies() >= faultBookiesMax
                || cluster.isDead(bookie)
                || (andLoseDisk && lostDisks >= lostDisksMax)) {
            return;
        }
        cluster.killBookie(bookie);
        if (andLoseDisk) {
            lostDisks++;
            cluster.loseDisk(bookie);
        }
        scheduler.schedule(randomness.between(50_000_000L, 1_500_000_000L), () -> cluster.startBookie(bookie));
    }

    private int lostDisks;

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

    private void releasePartition(SimBroker broker) {
        PartitionId partition = new PartitionId(topic.id(), randomness.nextInt(topic.partitions()));
        if (broker.manager() != null && broker.process().isAlive()) {
            scheduler.trace("release " + partition.index() + " by " + broker.id());
            broker.manager().release(partition, java.util.Optional.empty());
        }
    }

    private void checkSoon() {
        scheduler.schedule(CHECK_NS, () -> {
            cluster.history().checkAllReached();
            cluster.fenceOracle().look();
            checkSoon();
        });
    }

    private void heal() {
        scheduler.trace("healing");
        faultsOn = false;
        for (int id = 1; id <= bookieCount; id++) {
            int bookie = id;
            cluster.bookies().resume(id);
            cluster.bookies().slow(id, 100_000L);
            cluster.startBookie(bookie);
        }
        for (SimBroker broker : cluster.brokers()) {
            broker.link().setFaults(0, 2_000_000L);
            broker.link().setCut(false);
            broker.process().resume();
            String client = "broker-" + broker.id() + "/" + broker.incarnation();
            for (int id = 1; id <= bookieCount; id++) {
                cluster.bookies().mend(client, id);
            }
        }
    }

    private boolean isWell() {
        boolean readAll = true;
        for (SimReader reader : readers) {
            readAll &= reader.position() > 0 || acknowledged() == 0;
        }
        for (SimProducer producer : producers) {
            if (!producer.isDone()) {
                return false;
            }
        }
        if (!transactions.stream().allMatch(t -> t.stream().allMatch(SimTransactions::isDone))) {
            return false;
        }
        for (int i = 0; i < readers.size(); i++) {
            PartitionId partition = new PartitionId(topic.id(), i);
            var log = cluster.find(partition);
            if (log.isEmpty()
                    || log.get().offsets().highWatermark() != readers.get(i).position()
                    || committedReaders.get(i).position() != readers.get(i).position()) {
                return false;
            }
        }
        return readAll;
    }

    private void finalChecks() {
        cluster.history().checkAllHeld();
        for (int i = 0; i < readers.size(); i++) {
            cluster.history()
                    .checkRead(new PartitionId(topic.id(), i), readers.get(i).read());
        }
        cluster.faults().assertNone();
    }
}
