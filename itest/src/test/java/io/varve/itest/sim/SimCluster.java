package io.varve.itest.sim;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.bookie.client.InMemoryBookies;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.core.PlannerSettings;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Topic;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.serving.core.partition.SegmentRules;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.partition.CompactionPasses;
import io.varve.serving.partition.PartitionOptions;
import io.varve.sim.RecordingFaultHandler;
import io.varve.sim.SimProcess;
import io.varve.sim.SimScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Brokers, bookies and the metadata service, with the hands that a person, a kernel and a network would lay on them. */
final class SimCluster {

    private static final long PLAN_INTERVAL_NS = 100_000_000L;
    private static final double GHOST_PERCENT = 40;
    private static final long DRAIN_NS_MAX = 2_000_000_000L;
    private static final long REMOVE_RETRY_NS = 50_000_000L;

    private final SimScheduler scheduler;
    private final InMemoryMetadata metadata;
    private final InMemoryBookies bookies;
    private final SimBucket bucket;
    private final MetadataClient admin;
    private final History history;
    private final FenceOracle fenceOracle;
    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private final PartitionOptions options;
    private final SegmentRules rules;
    private final BookieBugs bookieBugs;
    private final CompactionPasses passes;
    private final List<SimBroker> brokers = new ArrayList<>();
    /** Processes that live on beside a later one of the same id. */
    private final List<SimBroker> ghosts = new ArrayList<>();

    private final TreeMap<Integer, SimBookie> bookieProcesses = new TreeMap<>();
    private final TreeSet<Integer> drainedBookies = new TreeSet<>();
    private long numbers = 1;

    SimCluster(
            SimScheduler scheduler,
            int brokerCount,
            int bookieCount,
            PartitionOptions options,
            PlannerSettings settings,
            SegmentRules rules,
            BookieBugs bookieBugs,
            CompactionPasses passes) {
        this.scheduler = scheduler;
        this.bookieBugs = bookieBugs;
        this.passes = passes;
        this.options = options;
        this.rules = rules;
        this.metadata = new InMemoryMetadata(scheduler, scheduler.randomness().nextLong(), settings);
        this.bookies = new InMemoryBookies(new SimProcess(scheduler, "bookies"));
        this.admin = metadata.newClient();
        this.bucket = new SimBucket(scheduler);
        this.history = new History(metadata::image, bookies, bucket);
        this.fenceOracle = new FenceOracle(bookies, bookieCount);
        scheduler.watch(faults::assertNone);
        scheduler.watch(history::checkChains);
        for (int id = 1; id <= bookieCount; id++) {
            bookies.add(id);
            if (bookieBugs.answersBeforeSync()) {
                bookies.answerEarly(id);
            }
            SimBookie bookie = new SimBookie(this, id);
            bookieProcesses.put(id, bookie);
            bookie.start();
        }
        for (int id = 1; id <= brokerCount; id++) {
            SimBroker broker = new SimBroker(this, id);
            brokers.add(broker);
            broker.start(options, rules);
        }
        planSoon();
    }

    private void planSoon() {
        scheduler.schedule(PLAN_INTERVAL_NS, () -> {
            metadata.plan();
            planSoon();
        });
    }

    SimScheduler scheduler() {
        return scheduler;
    }

    InMemoryMetadata metadata() {
        return metadata;
    }

    InMemoryBookies bookies() {
        return bookies;
    }

    SimBucket bucket() {
        return bucket;
    }

    BookieBugs bookieBugs() {
        return bookieBugs;
    }

    SimBookie bookie(int id) {
        return bookieProcesses.get(id);
    }

    FenceOracle fenceOracle() {
        return fenceOracle;
    }

    CompactionPasses passes() {
        return passes;
    }

    History history() {
        return history;
    }

    RecordingFaultHandler faults() {
        return faults;
    }

    /** Hands an answer to a client; what the client finds wrong with it fails the run, and is not swallowed by the future. */
    <T> void observe(CompletableFuture<T> future, Consumer<T> client) {
        future.whenComplete((answer, failure) -> {
            try {
                History.require(failure == null, "futures of a log never fail: " + failure);
                client.accept(answer);
            } catch (RuntimeException | Error wrong) {
                faults.onFault("client", wrong);
            }
        });
    }

    List<SimBroker> brokers() {
        return brokers;
    }

    long nextNumber() {
        return numbers++;
    }

    /** @param localMs for how long bookies keep what object storage has; negative if the topic isn't to be there */
    Topic createTopic(
            int partitions, int replicas, int acks, long segmentMs, int segmentBytes, long localMs, boolean compacted) {
        return admin.createTopic(
                        "t",
                        partitions,
                        replicas,
                        Map.of(
                                "cleanup.policy",
                                compacted ? "compact" : "delete",
                                "min.cleanable.dirty.ratio",
                                "0",
                                "min.insync.replicas",
                                Integer.toString(acks),
                                "segment.ms",
                                Long.toString(segmentMs),
                                "segment.bytes",
                                Integer.toString(segmentBytes),
                                "retention.ms",
                                "-1",
                                "local.retention.ms",
                                Long.toString(Math.max(0, localMs)),
                                "remote.storage.enable",
                                Boolean.toString(localMs >= 0)))
                .join();
    }

    /** The log as a client finds it: at the broker that the metadata names. A paused broker is found too, and one that a later process of its id has replaced. */
    Optional<PartitionLog> find(PartitionId partition) {
        List<SimBroker> processes = new ArrayList<>(brokers);
        if (!ghosts.isEmpty() && scheduler.randomness().percent(GHOST_PERCENT)) {
            processes.addAll(0, ghosts);
        }
        return metadata.view()
                .partition(partition)
                .map(PartitionState::owner)
                .flatMap(
                        owner -> processes.stream().filter(b -> b.id() == owner).findFirst())
                .flatMap(broker -> broker.find(partition));
    }

    // ---- hands ----

    void killBroker(SimBroker broker) {
        broker.process().kill();
        expireLater(broker);
    }

    /** A pause that is long enough costs the session; the zombie doesn't know. */
    void pauseBroker(SimBroker broker, long pauseNs) {
        broker.process().pause();
        expireLater(broker);
        int life = broker.process().life();
        scheduler.schedule(pauseNs, () -> {
            if (broker.process().life() == life) {
                broker.process().resume();
            }
        });
    }

    /** The broker's link to the metadata service breaks; its session ends, its partitions move, it goes on until it hears of it. */
    void isolateBroker(SimBroker broker, long forNs) {
        scheduler.trace("isolated " + broker.id());
        broker.link().setCut(true);
        expireLater(broker);
        SimMetadataLink link = broker.link();
        scheduler.schedule(forNs, () -> link.setCut(false));
    }

    private void expireLater(SimBroker broker) {
        long incarnation = broker.incarnation();
        scheduler.schedule(scheduler.randomness().between(50_000_000L, 400_000_000L), () -> {
            scheduler.trace("expired broker " + broker.id());
            metadata.expireBroker(broker.id(), incarnation);
            reviveIfNeeded(broker, incarnation);
        });
    }

    /** A broker whose session ended stops and starts again, as the real one does. */
    private void reviveIfNeeded(SimBroker broker, long incarnation) {
        scheduler.schedule(scheduler.randomness().between(500_000_000L, 2_000_000_000L), () -> {
            if (!brokers.contains(broker) || broker.incarnation() != incarnation) {
                return;
            }
            if (broker.process().isAlive() && scheduler.randomness().percent(GHOST_PERCENT)) {
                startBeside(broker);
                return;
            }
            if (broker.process().isPaused()) {
                reviveIfNeeded(broker, incarnation);
                return;
            }
            if (broker.process().isAlive()) {
                broker.process().kill();
            }
            broker.start(options, rules);
        });
    }

    /** Somebody starts a broker again whose process lives, paused or cut off: there are two of the same id for a while. */
    private void startBeside(SimBroker broker) {
        scheduler.trace("broker " + broker.id() + " is started beside itself");
        SimBroker another = new SimBroker(this, broker.id());
        brokers.set(brokers.indexOf(broker), another);
        ghosts.add(broker);
        another.start(options, rules);
        scheduler.schedule(scheduler.randomness().between(100_000_000L, 2_000_000_000L), () -> {
            ghosts.remove(broker);
            if (broker.process().isAlive()) {
                broker.process().kill();
                // It may have registered meanwhile, if the other one's session had ended.
                scheduler.schedule(
                        scheduler.randomness().between(50_000_000L, 400_000_000L),
                        () -> metadata.expireBroker(broker.id(), broker.incarnation()));
            }
        });
    }

    boolean hasGhosts() {
        return !ghosts.isEmpty();
    }

    /** SIGTERM: it hands over what it has and ends, or is killed when that takes too long. */
    void drainBroker(SimBroker broker) {
        if (!broker.isRegistered()) {
            killBroker(broker); // Its registration may still be on its way: only silence ends that session.
            return;
        }
        scheduler.trace("draining broker " + broker.id());
        int life = broker.process().life();
        long incarnation = broker.incarnation();
        Runnable end = () -> {
            if (broker.process().isAlive() && broker.process().life() == life) {
                broker.process().kill();
                metadata.expireBroker(broker.id(), incarnation);
                reviveIfNeeded(broker, incarnation);
            }
        };
        broker.drain(end);
        scheduler.schedule(DRAIN_NS_MAX, end);
    }

    /** An operator takes a broker's partitions away, or lets it have some again; it runs on. */
    void setBrokerState(SimBroker broker, BrokerInfo.State state) {
        scheduler.trace("broker " + broker.id() + " is to be " + state);
        admin.setBrokerState(broker.id(), state);
    }

    /** @param share of what was under way on the disk that is there afterwards */
    void killBookie(int id, double share) {
        SimBookie bookie = bookieProcesses.get(id);
        if (bookie.isAlive()) {
            long session = bookie.session();
            bookie.kill();
            bookies.killTorn(id, share);
            scheduler.schedule(
                    scheduler.randomness().between(50_000_000L, 400_000_000L),
                    () -> metadata.expireBookie(new BookieId(id), session));
        }
    }

    void startBookie(int id) {
        if (isDead(id) && !drainedBookies.contains(id)) {
            bookies.restart(id);
            if (bookieBugs.forgetsFences()) {
                bookies.forgetFences(id);
            }
            bookieProcesses.get(id).start();
        }
    }

    boolean isDead(int bookie) {
        return !bookieProcesses.get(bookie).isAlive();
    }

    int deadBookies() {
        return (int) bookieProcesses.keySet().stream().filter(this::isDead).count();
    }

    /** A bookie's disk is replaced by an empty one while it is down. */
    void loseDisk(int id) {
        history.onDiskLost();
        replaceDisk(id);
    }

    private void replaceDisk(int id) {
        fenceOracle.onDiskLost(id);
        scheduler.trace("bookie " + id + " lost its disk");
        bookies.loseDisk(id);
    }

    /** An operator has a bookie emptied. */
    void drainBookie(int id) {
        scheduler.trace("draining bookie " + id);
        admin.setBookieState(new BookieId(id), BookieInfo.State.DRAINING);
    }

    /** Whether nothing is on a bookie any more: what {@code varve bookie drain} waits for. */
    boolean isEmptied(int id) {
        return metadata.view().segmentsOn(new BookieId(id)).isEmpty();
    }

    /**
     * An operator believes that, switches the bookie off and throws its disk away: nothing may miss it.
     *
     * @param removed runs when the metadata service has forgotten the bookie
     */
    void switchOff(int id, Runnable removed) {
        scheduler.trace("bookie " + id + " is switched off");
        drainedBookies.add(id);
        killBookie(id, 1);
        replaceDisk(id);
        remove(id, removed);
    }

    private void remove(int id, Runnable removed) {
        admin.removeBookie(new BookieId(id)).whenComplete((done, refusal) -> {
            if (refusal == null) {
                removed.run();
            } else {
                // Its session has not ended yet.
                scheduler.schedule(REMOVE_RETRY_NS, () -> remove(id, removed));
            }
        });
    }

    /** Puts a bookie that was switched off into service again, with an empty disk. */
    void bringBack(int id) {
        if (drainedBookies.remove(id)) {
            startBookie(id);
        }
    }
}
