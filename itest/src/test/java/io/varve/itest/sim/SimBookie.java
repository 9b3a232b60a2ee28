package io.varve.itest.sim;

import io.varve.base.BookieId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.sim.SimProcess;
import io.varve.sim.SimRandomness;
import io.varve.sim.SimScheduler;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/**
 * A bookie's process around its store: it registers, carries out what the metadata service gives it to do, and says of replicas that were behind at a
 * seal that they have gone on. In each of its lives anew.
 */
final class SimBookie {

    private static final long LOOK_NS = 60_000_000L;
    private static final long RETRY_NS = 50_000_000L;
    private static final int AT_WORK_MAX = 4;

    private final SimCluster cluster;
    private final SimScheduler scheduler;
    private final SimRandomness randomness;
    private final int id;
    private final SimProcess process;
    private final TreeSet<Long> atWork = new TreeSet<>();
    private final TreeSet<Long> inherited = new TreeSet<>();
    private SimMetadataLink link;
    private MetadataClient metadata;
    private SimBookieWork work;
    private long session;

    SimBookie(SimCluster cluster, int id) {
        this.cluster = cluster;
        this.scheduler = cluster.scheduler();
        this.randomness = scheduler.randomness().split();
        this.id = id;
        this.process = new SimProcess(scheduler, "bookie-" + id);
    }

    int id() {
        return id;
    }

    long session() {
        return session;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    SimMetadataLink link() {
        return link;
    }

    void start() {
        process.start();
        atWork.clear();
        inherited.clear();
        session = cluster.nextNumber();
        SimLoopThread thread = new SimLoopThread(process);
        link = new SimMetadataLink(scheduler, cluster.metadata().newClient(thread), thread);
        metadata = link.client();
        work = new SimBookieWork(cluster, id, process, metadata);
        register();
        failInherited();
    }

    /** What an earlier life was given to upload may have been written already, and keys are written once. */
    private void failInherited() {
        metadata.linearizable().whenComplete((view, failure) -> {
            if (failure != null) {
                process.schedule(RETRY_NS, this::failInherited);
                return;
            }
            for (BookieTask task : List.copyOf(view.tasksOf(new BookieId(id)))) {
                if (task instanceof BookieTask.Offload) {
                    inherited.add(task.taskId());
                }
            }
            look();
        });
    }

    void kill() {
        process.kill();
    }

    private void register() {
        // On the bookies' own turn, so after whatever was done to its disk.
        int life = process.life();
        cluster.bookies()
                .ask(() -> cluster.bookies().incarnation(id))
                .thenCompose(incarnation -> metadata.registerBookie(new MetadataClient.BookieRegistration(
                        new BookieId(id), session, List.of(incarnation), "", "memory", id, 1L << 40, 1L << 40)))
                .whenComplete((registered, refusal) -> {
                    if (refusal != null && process.isAlive() && process.life() == life) {
                        // The session of its life before has not ended yet, or nobody answered.
                        process.schedule(RETRY_NS, this::register);
                    }
                });
    }

    private void look() {
        process.schedule(LOOK_NS, this::look);
        if (cluster.bookieBugs().deletesWhatIsNotListed()) {
            deleteWhatIsNotListed();
        }
        MetadataView view = metadata.view();
        for (BookieTask task : List.copyOf(view.tasksOf(new BookieId(id)))) {
            if (atWork.size() < AT_WORK_MAX && atWork.add(task.taskId())) {
                process.schedule(
                        randomness.between(0, 20_000_000),
                        () -> carryOut(task).whenComplete((done, failure) -> atWork.remove(task.taskId())));
            }
        }
        confirmReplicas(view);
    }

    private CompletableFuture<Void> carryOut(BookieTask task) {
        return inherited.contains(task.taskId()) ? work.fail(task, "an earlier process began it") : work.carryOut(task);
    }

    /** Learning of a seal, it says so if it holds everything below. */
    private void confirmReplicas(MetadataView view) {
        for (SegmentDescriptor segment : List.copyOf(view.segmentsOn(new BookieId(id)))) {
            boolean unconfirmed =
                    segment.unconfirmed().stream().anyMatch(r -> r.bookie().value() == id);
            if (unconfirmed && cluster.bookies().end(id, segment.id()) >= segment.endOffset()) {
                metadata.confirmReplica(segment.id(), new BookieId(id));
            }
        }
    }

    /** The bug of I-9: a list is fetched, time passes, and what it doesn't name is deleted. */
    private void deleteWhatIsNotListed() {
        MetadataView list = metadata.view();
        process.schedule(LOOK_NS / 2, () -> {
            TreeSet<Long> listed = new TreeSet<>();
            list.segmentsOn(new BookieId(id))
                    .forEach(segment -> listed.add(segment.id().value()));
            cluster.bookies().segments(id).stream()
                    .filter(segment -> !listed.contains(segment.value()))
                    .forEach(segment -> cluster.bookies().delete(id, segment));
        });
    }
}
