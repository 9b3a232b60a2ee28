package io.varve.itest.sim;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.InMemoryBookies;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.serving.core.partition.SegmentRules;
import io.varve.serving.log.PartitionLog;
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

    private final SimScheduler scheduler;
    private final InMemoryMetadata metadata;
    private final InMemoryBookies bookies;
    private final MetadataClient admin;
    private final History history;
    private final FenceOracle fenceOracle;
    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private final PartitionOptions options;
    private final SegmentRules rules;
    private final BookieBugs bookieBugs;
    private final List<SimBroker> brokers = new ArrayList<>();
    private final TreeMap<Integer, Long> bookieSessions = new TreeMap<>();
    private final TreeSet<Integer> deadBookies = new TreeSet<>();
    private long numbers = 1;

    SimCluster(
            SimScheduler scheduler,
            int brokerCount,
            int bookieCount,
            PartitionOptions options,
            SegmentRules rules,
            BookieBugs bookieBugs) {
        this.scheduler = scheduler;
        this.bookieBugs = bookieBugs;
        this.options = options;
        this.rules = rules;
        this.metadata = new InMemoryMetadata(scheduler, scheduler.randomness().nextLong());
        this.bookies = new InMemoryBookies(new SimProcess(scheduler, "bookies"));
        this.admin = metadata.newClient();
        this.history = new History(metadata::image, bookies);
        this.fenceOracle = new FenceOracle(bookies, bookieCount);
        scheduler.watch(faults::assertNone);
        scheduler.watch(history::checkChains);
        for (int id = 1; id <= bookieCount; id++) {
            bookies.add(id);
            registerBookie(id);
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
            carryOutTasks();
            if (bookieBugs.deletesWhatIsNotListed()) {
                collectGarbageByList();
            }
            planSoon();
        });
    }

    /** Bookies delete what they are told to delete, and nothing else (I-9). Other work is not done here. */
    private void carryOutTasks() {
        for (BookieTask task : List.copyOf(metadata.image().tasks())) {
            int bookie = task.bookie().value();
            if (deadBookies.contains(bookie)) {
                continue;
            }
            if (task instanceof BookieTask.DeleteReplica deletion) {
                bookies.delete(bookie, deletion.segment());
                admin.completeTask(task.taskId());
            } else {
                admin.failTask(task.taskId(), "not simulated");
            }
        }
        bookieSessions.keySet().stream().filter(id -> !deadBookies.contains(id)).forEach(this::confirmReplicas);
    }

    /** A bookie that learns of a seal says so if it holds everything below. */
    private void confirmReplicas(int id) {
        for (SegmentDescriptor segment : List.copyOf(metadata.image().segmentsOn(new BookieId(id)))) {
            boolean unconfirmed =
                    segment.unconfirmed().stream().anyMatch(r -> r.bookie().value() == id);
            if (unconfirmed && bookies.end(id, segment.id()) >= segment.endOffset()) {
                admin.confirmReplica(segment.id(), new BookieId(id));
            }
        }
    }

    /** The bug of I-9: a list is fetched, time passes, and what it doesn't name is deleted. */
    private void collectGarbageByList() {
        MetadataView list = metadata.view();
        scheduler.schedule(PLAN_INTERVAL_NS / 2, () -> {
            for (int id : bookieSessions.keySet()) {
                TreeSet<SegmentId> listed = new TreeSet<>();
                list.segmentsOn(new BookieId(id)).forEach(segment -> listed.add(segment.id()));
                bookies.segments(id).stream()
                        .filter(segment -> !listed.contains(segment))
                        .forEach(segment -> bookies.delete(id, segment));
            }
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

    FenceOracle fenceOracle() {
        return fenceOracle;
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

    Topic createTopic(int partitions, int replicas, int acks, long segmentMs, int segmentBytes) {
        return admin.createTopic(
                        "t",
                        partitions,
                        replicas,
                        Map.of(
                                "min.insync.replicas",
                                Integer.toString(acks),
                                "segment.ms",
                                Long.toString(segmentMs),
                                "segment.bytes",
                                Integer.toString(segmentBytes),
                                "retention.ms",
                                "-1",
                                "remote.storage.enable",
                                "false"))
                .join();
    }

    /** The log as a client finds it: at the broker that the metadata names. A paused broker is found too. */
    Optional<PartitionLog> find(PartitionId partition) {
        return metadata.view()
                .partition(partition)
                .map(PartitionState::owner)
                .flatMap(owner -> brokers.stream().filter(b -> b.id() == owner).findFirst())
                .flatMap(broker -> broker.find(partition));
    }

    // ---- hands ----

    void killBroker(SimBroker broker) {
        broker.process().kill();
        expireLater(broker);
    }

    void startBroker(SimBroker broker) {
        broker.start(options, rules);
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
            if (broker.incarnation() != incarnation) {
                return;
            }
            if (broker.process().isPaused()) {
                reviveIfNeeded(broker, incarnation);
                return;
            }
            if (broker.process().isAlive()) {
                broker.process().kill();
            }
            startBroker(broker);
        });
    }

    void killBookie(int id) {
        if (deadBookies.add(id)) {
            scheduler.trace("killed bookie " + id);
            bookies.kill(id);
            long session = bookieSessions.get(id);
            scheduler.schedule(
                    scheduler.randomness().between(50_000_000L, 400_000_000L),
                    () -> metadata.expireBookie(new BookieId(id), session));
        }
    }

    void startBookie(int id) {
        if (deadBookies.remove(id)) {
            scheduler.trace("started bookie " + id);
            bookies.restart(id);
            if (bookieBugs.forgetsFences()) {
                bookies.forgetFences(id);
            }
            registerBookie(id);
        }
    }

    boolean isDead(int bookie) {
        return deadBookies.contains(bookie);
    }

    int deadBookies() {
        return deadBookies.size();
    }

    /** A bookie's disk is replaced by an empty one while it is down. */
    void loseDisk(int id) {
        history.onDiskLost();
        fenceOracle.onDiskLost(id);
        scheduler.trace("bookie " + id + " lost its disk");
        bookies.loseDisk(id);
    }

    private void registerBookie(int id) {
        long session = nextNumber();
        bookieSessions.put(id, session);
        registerBookie(id, session);
    }

    private void registerBookie(int id, long session) {
        if (deadBookies.contains(id) || bookieSessions.get(id) != session) {
            return;
        }
        // On the bookies' own turn, so after whatever was done to its disk.
        bookies.ask(() -> bookies.incarnation(id))
                .thenCompose(incarnation -> admin.registerBookie(new MetadataClient.BookieRegistration(
                        new BookieId(id), session, List.of(incarnation), "", "memory", id, 1L << 40, 1L << 40)))
                .whenComplete((registered, refusal) -> {
                    if (refusal != null) {
                        // The session of its life before has not ended yet.
                        scheduler.schedule(50_000_000L, () -> registerBookie(id, session));
                    }
                });
    }
}
