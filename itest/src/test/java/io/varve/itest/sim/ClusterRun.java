package io.varve.itest.sim;

import io.varve.base.PartitionId;
import io.varve.metadata.model.Topic;
import io.varve.serving.core.partition.SegmentRules;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.partition.CompactionPasses;
import io.varve.sim.SimScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One seed's life of a cluster: options are drawn first (what can go wrong in this run, and how often), then faults run for a while, then they
 * stop and everything must become well: written, readable, on as many bookies as it should be or in object storage, with nothing left to do.
 */
final class ClusterRun {

    private static final long FAULTS_NS = 4_000_000_000L;
    private static final long HEAL_NS = 60_000_000_000L;
    private static final long CHECK_NS = 50_000_000L;

    private final SimScheduler scheduler;
    private final RunOptions options;
    private final SimCluster cluster;
    private final Health health;
    private final SimFaults faults;
    private final Topic topic;
    private final List<SimProducer> producers = new ArrayList<>();
    private final List<SimReader> readers = new ArrayList<>();
    private final List<List<SimTransactions>> transactions = new ArrayList<>();
    private final List<SimCommittedReader> committedReaders = new ArrayList<>();
    private long healthLookNs;

    ClusterRun(long seed, SegmentRules rules) {
        this(seed, rules, BookieBugs.NONE);
    }

    ClusterRun(long seed, SegmentRules rules, BookieBugs bookieBugs) {
        this(seed, rules, bookieBugs, SimRewriting::new);
    }

    ClusterRun(long seed, SegmentRules rules, BookieBugs bookieBugs, CompactionPasses passes) {
        scheduler = new SimScheduler(seed);
        options = RunOptions.draw(scheduler.randomness().split());
        scheduler.trace(options.toString());
        cluster = new SimCluster(
                scheduler,
                options.brokers(),
                options.bookies(),
                options.partitionOptions(),
                options.settings(),
                rules,
                bookieBugs,
                passes);
        scheduler.runFor(20_000_000L);
        topic = cluster.createTopic(
                options.partitions(),
                options.replicas(),
                options.acks(),
                options.segmentMs(),
                options.segmentBytes(),
                options.localMs(),
                options.compacted());
        faults = new SimFaults(cluster, options, topic);
        health = new Health(cluster, topic, options);
    }

    /** @return the digest of the run's trace */
    long run() {
        for (int index = 0; index < topic.partitions(); index++) {
            startClients(new PartitionId(topic.id(), index));
        }
        faults.start();
        checkSoon();
        scheduler.runFor(FAULTS_NS);
        faults.heal();
        producers.forEach(SimProducer::stop);
        transactions.forEach(ofPartition -> ofPartition.forEach(SimTransactions::stop));
        await("clients and repair", this::isWell);
        cluster.history().onRepaired();
        List<SimReader> fresh = readAgain();
        try {
            finalChecks(fresh);
        } catch (AssertionError e) {
            throw scheduler.failure(e);
        }
        return scheduler.traceHash();
    }

    private void startClients(PartitionId partition) {
        int index = partition.index();
        for (int p = 0; p < options.producersPerPartition(); p++) {
            SimProducer producer = new SimProducer(cluster, partition, 1_000 + 100 * index + p);
            producers.add(producer);
            producer.start();
        }
        List<SimTransactions> ofPartition = new ArrayList<>();
        for (int t = 0; t < options.transactionsPerPartition(); t++) {
            SimTransactions transactional = new SimTransactions(cluster, partition, 5_000 + 100 * index + t);
            ofPartition.add(transactional);
            transactional.start();
        }
        transactions.add(ofPartition);
        SimCommittedReader committed = new SimCommittedReader(cluster, partition, ofPartition);
        committedReaders.add(committed);
        committed.start();
        readers.add(startReader(partition));
    }

    private SimReader startReader(PartitionId partition) {
        SimReader reader = new SimReader(cluster, partition);
        reader.start();
        return reader;
    }

    /** A consumer that comes late reads everything from the beginning, from whichever tier it is in now. */
    private List<SimReader> readAgain() {
        List<SimReader> fresh = new ArrayList<>();
        for (int index = 0; index < topic.partitions(); index++) {
            fresh.add(startReader(new PartitionId(topic.id(), index)));
        }
        await("a late reader", () -> areLevel(fresh));
        return fresh;
    }

    private void await(String what, java.util.function.BooleanSupplier done) {
        if (!scheduler.runUntil(done, HEAL_NS)) {
            throw scheduler.failure(
                    new AssertionError(what + ": not well " + HEAL_NS / 1_000_000_000 + " s after the faults stopped: "
                            + health.whatIsWrong() + "; producers done "
                            + producers.stream().map(SimProducer::isDone).toList() + " "
                            + cluster.metadata().view().partitions(topic.id())));
        }
    }

    long acknowledged() {
        return cluster.history().acknowledged();
    }

    /** What the run saw, for a test that all kinds of things happen in the runs. */
    Health health() {
        return health;
    }

    private void checkSoon() {
        scheduler.schedule(CHECK_NS, () -> {
            cluster.history().checkAllReached();
            cluster.fenceOracle().look();
            health.look();
            checkSoon();
        });
    }

    private boolean isWell() {
        if (!producers.stream().allMatch(SimProducer::isDone)
                || !transactions.stream().allMatch(t -> t.stream().allMatch(SimTransactions::isDone))
                || !areLevel(readers)) {
            return false;
        }
        for (int i = 0; i < readers.size(); i++) {
            if (committedReaders.get(i).position() != readers.get(i).position()) {
                return false;
            }
        }
        if (scheduler.nanoTime() < healthLookNs) {
            return false;
        }
        healthLookNs = scheduler.nanoTime() + CHECK_NS;
        return faults.areDrainsOver()
                && !cluster.hasGhosts()
                && health.whatIsWrong().isEmpty();
    }

    private boolean areLevel(List<SimReader> all) {
        for (int i = 0; i < all.size(); i++) {
            Optional<PartitionLog> log = cluster.find(new PartitionId(topic.id(), i));
            if (log.isEmpty()
                    || log.get().offsets().highWatermark() != all.get(i).position()) {
                return false;
            }
        }
        return true;
    }

    private void finalChecks(List<SimReader> fresh) {
        cluster.history().checkAllHeld();
        for (int i = 0; i < readers.size(); i++) {
            PartitionId partition = new PartitionId(topic.id(), i);
            cluster.history().checkRead(partition, readers.get(i).read());
            cluster.history()
                    .checkReadLater(
                            partition, readers.get(i).read(), fresh.get(i).read(), options.compacted());
            committedReaders.get(i).checkDelivered();
        }
        cluster.faults().assertNone();
    }
}
