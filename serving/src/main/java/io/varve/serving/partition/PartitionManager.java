package io.varve.serving.partition;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataListener;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.serving.core.partition.LeaderEffects.Deposition;
import io.varve.serving.core.partition.SegmentRules;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLogs;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The partitions that the metadata service has given to this broker. It follows the watch: what becomes ours is taken over, what becomes another's is
 * let go, and when an operator drains this broker everything is handed over; each partition lives on one of a fixed number of event loops. Safe for any thread.
 *
 * <p>An ownership in the metadata is this process's own only while the registration beside it is: a process of the same id that was started later owns what stands
 * there from its registration on, under higher epochs, however long this one lives on beside it (I-14).
 */
public final class PartitionManager implements PartitionLogs, MetadataListener, AutoCloseable {

    private static final long REBALANCE_LOOK_MS = 50;
    private static final long COUNT_MS = 1_000;

    private final PartitionContext context;
    private final AutoCloseable threads;
    private final List<PartitionLoop> loops = new CopyOnWriteArrayList<>();
    private final ConcurrentHashMap<PartitionId, OwnedLog> logs = new ConcurrentHashMap<>();
    private final CopyOnWriteArrayList<Runnable> lossWatchers = new CopyOnWriteArrayList<>();
    private final SealedLogs sealed;
    private final PartitionLoop compaction;
    private final Compactor compactor;
    private volatile int usableBookies;
    private volatile boolean closing;

    /** A broker's partitions on threads of their own. */
    public PartitionManager(PartitionPorts ports, PartitionOptions options, MeterRegistry registry) {
        this(
                ports,
                options,
                registry,
                SegmentRules.STANDARD,
                PartitionThreads.own(options.loops()),
                CompactionPasses.byKey(options.compaction().keysBytes()));
    }

    /**
     * A broker's partitions on threads that the caller has, as a simulation does.
     *
     * @param rules {@link SegmentRules#STANDARD} everywhere but in the simulation's tests of itself
     * @param threads closed with this
     * @param passes what decides in compactions
     */
    public PartitionManager(
            PartitionPorts ports,
            PartitionOptions options,
            MeterRegistry registry,
            SegmentRules rules,
            PartitionThreads threads,
            CompactionPasses passes) {
        AtomicLong pendingBytes = new AtomicLong();
        PartitionMetrics metrics = new PartitionMetrics(registry, pendingBytes, loops);
        FenceBatcher fences = new FenceBatcher(ports.bookies(), options.callTimeoutMs());
        this.context = new PartitionContext(ports, options, rules, pendingBytes, fences, metrics);
        this.sealed = new SealedLogs(context, this::loopOf);
        this.threads = threads.onClose();
        for (LoopThread thread : threads.loops()) {
            PartitionLoop loop = new PartitionLoop(
                    thread,
                    ports.faults(),
                    options.cacheBytes() / threads.loops().size(),
                    options.recoveryReadsMax());
            loop.startTicking(options.tickMs(), () -> usableBookies);
            loop.startCounting(COUNT_MS, metrics::onCounted);
            loops.add(loop);
        }
        this.compaction = new PartitionLoop(threads.compaction(), ports.faults(), 0, options.recoveryReadsMax());
        this.compactor = new Compactor(context, compaction, logs::values, passes, new CompactionMetrics(registry));
        if (options.compaction().intervalMs() >= 0) {
            compaction.every(options.tickMs(), compactor::tick);
        }
        Rebalancer rebalancer = new Rebalancer(
                ports.brokerId(),
                ports.metadata()::view,
                ports.clock(),
                options.rebalanceDelayMs(),
                (partition, successor) -> release(partition, Optional.of(successor)));
        loops.get(0).every(REBALANCE_LOOK_MS, rebalancer::tick);
    }

    /** Begins to follow the metadata. */
    public void start() {
        context.metadata().subscribe(this);
    }

    private PartitionLoop loopOf(PartitionId partition) {
        return loops.get(Math.floorMod(partition.hashCode(), loops.size()));
    }

    // ---- following the metadata
    // -------------------------------------------------------------------------------------------------

    @Override
    public void onChange(MetadataView before, MetadataView after, MetadataDelta delta) {
        usableBookies = (int)
                after.bookies().stream().filter(b -> b.state().takesSegments()).count();
        TreeSet<PartitionId> concerned = new TreeSet<>(delta.partitions());
        if (delta.everything()) {
            concerned.addAll(after.ownedBy(context.brokerId()));
            concerned.addAll(logs.keySet());
        } else if (!delta.topics().isEmpty() || delta.configs() || areMoreDraining(before, after, delta)) {
            concerned.addAll(logs.keySet());
        }
        for (PartitionId partition : concerned) {
            boolean ours = isOurs(after, after.partition(partition));
            if (ours || logs.containsKey(partition)) {
                loopOf(partition).execute(() -> reconcile(partition));
            }
        }
        if (isDraining(after) && !isDraining(before)) {
            logs.keySet().forEach(partition -> release(partition, Optional.empty()));
        }
    }

    /** Whether a bookie that was to be written to is now to be emptied. */
    private static boolean areMoreDraining(MetadataView before, MetadataView after, MetadataDelta delta) {
        for (BookieId id : delta.bookies()) {
            boolean was = before.bookie(id).filter(PartitionManager::isDraining).isPresent();
            if (!was && after.bookie(id).filter(PartitionManager::isDraining).isPresent()) {
                return true;
            }
        }
        return false;
    }

    private static boolean isDraining(BookieInfo bookie) {
        return bookie.state() == BookieInfo.State.DRAINING;
    }

    /** Whether this broker is to hand over what it has. */
    private boolean isDraining(MetadataView view) {
        return view.brokers().stream()
                        .anyMatch(b -> b.id() == context.brokerId() && b.state() == BrokerInfo.State.DRAINING)
                && context.isRegistered(view);
    }

    private boolean isOurs(MetadataView view, Optional<PartitionState> state) {
        return state.isPresent() && state.get().owner() == context.brokerId() && context.isRegistered(view);
    }

    /** Brings what is served here in line with the newest metadata, which only moves forward. On the partition's loop. */
    private void reconcile(PartitionId partition) {
        MetadataView view = context.metadata().view();
        Optional<PartitionState> state = view.partition(partition);
        boolean ours = isOurs(view, state);
        OwnedLog log = logs.get(partition);
        if (log != null && ours && state.get().epoch() == log.epoch()) {
            log.onMetadata();
            return;
        }
        if (log != null) {
            log.depose(state.isEmpty() ? Deposition.STOPPED : Deposition.SUPERSEDED);
            logs.remove(partition, log);
        }
        if (ours && !closing) {
            PartitionLoop loop = loopOf(partition);
            OwnedLog taken = new OwnedLog(context, loop, state.get(), new Events(loop));
            logs.put(partition, taken);
            taken.start();
            if (isDraining(view)) {
                taken.release(Optional.empty());
            }
        }
    }

    private final class Events implements OwnedLog.OwnershipEvents {

        private final PartitionLoop loop;

        private Events(PartitionLoop loop) {
            this.loop = loop;
        }

        @Override
        public void onServing(OwnedLog log) {
            loop.listeners().forEach(l -> l.onServing(log));
        }

        @Override
        public void onLost(OwnedLog log, boolean wasServing, Deposition why) {
            if (wasServing) {
                loop.listeners().forEach(l -> l.onLost(log.id(), log.epoch()));
            }
            lossWatchers.forEach(Runnable::run);
        }
    }

    // ---- PartitionLogs
    // ----------------------------------------------------------------------------------------------------------

    @Override
    public Lookup find(PartitionId partition) {
        OwnedLog log = logs.get(partition);
        if (log != null && log.isServing()) {
            return new Lookup.Served(log);
        }
        MetadataView view = context.metadata().view();
        Optional<PartitionState> state = view.partition(partition);
        if (state.isEmpty()) {
            return new Lookup.Unknown();
        }
        boolean ours = isOurs(view, state);
        boolean gone = log != null && log.isLost() && log.epoch() == state.get().epoch();
        return ours && !gone && !closing ? new Lookup.TakingOver(state.get().epoch()) : new Lookup.NotOwner();
    }

    @Override
    public CompletableFuture<Optional<PartitionLog>> sealed(PartitionId partition) {
        return closing ? CompletableFuture.completedFuture(Optional.empty()) : sealed.find(partition);
    }

    @Override
    public Collection<PartitionLog> all() {
        List<PartitionLog> serving = new ArrayList<>();
        logs.values().stream().filter(OwnedLog::isServing).forEach(serving::add);
        return serving;
    }

    @Override
    public void subscribe(OwnershipListener listener) {
        // On each loop, so that no log is told of twice or in the wrong order.
        for (PartitionLoop loop : loops) {
            loop.execute(() -> {
                loop.addListener(listener);
                loop.logs().stream().filter(OwnedLog::isServing).forEach(listener::onServing);
            });
        }
    }

    // ---- giving back
    // ------------------------------------------------------------------------------------------------------------

    /** Gives one partition back, to {@code successor} if one is named. Does nothing if it isn't here. */
    public void release(PartitionId partition, Optional<Integer> successor) {
        OwnedLog log = logs.get(partition);
        if (log != null) {
            loopOf(partition).execute(() -> {
                if (!log.isLost()) {
                    log.release(successor);
                }
            });
        }
    }

    /**
     * Gives all partitions back, each as soon as what is under way is acknowledged. New ones are not taken any more.
     *
     * @return completes when none is left here
     */
    public CompletableFuture<Void> drain() {
        closing = true;
        CompletableFuture<Void> drained = new CompletableFuture<>();
        Runnable check = () -> {
            if (logs.values().stream().allMatch(OwnedLog::isLost)) {
                drained.complete(null);
            }
        };
        lossWatchers.add(check);
        logs.keySet().forEach(partition -> release(partition, Optional.empty()));
        check.run();
        return drained;
    }

    /** Stops serving at once; what is under way is lost to its callers, not to the log. Waits for the loops. */
    @Override
    public void close() {
        closing = true;
        context.metadata().unsubscribe(this);
        compaction.execute(compactor::stop);
        for (PartitionLoop loop : loops) {
            loop.execute(() -> loop.logs().forEach(log -> log.depose(Deposition.STOPPED)));
        }
        try {
            threads.close();
        } catch (Exception e) {
            throw new IllegalStateException("the partition loops did not stop", e);
        }
    }
}
