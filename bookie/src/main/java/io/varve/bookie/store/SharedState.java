package io.varve.bookie.store;

import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.core.Fence;
import io.varve.bookie.core.RecoveryRule;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What the directories of one store have in common. Safe for any thread. */
final class SharedState {

    final StoreOptions options;
    final Clock clock;
    final FaultHandler faults;
    final StoreListener listener;
    final StoreMetrics metrics;
    final RecoveryRule recoveryRule;

    /** Every replica that is here or on its way, by segment. */
    final ConcurrentHashMap<SegmentId, Replica> replicas = new ConcurrentHashMap<>();

    private final ConcurrentHashMap<PartitionId, Fence> fences = new ConcurrentHashMap<>();

    private final Set<Long> vouchedFor = ConcurrentHashMap.newKeySet();
    private volatile boolean somethingLost;
    private volatile Runnable directoryStateChanged = () -> {};

    SharedState(StoreOptions options, StoreEnvironment environment) {
        this.options = options;
        this.clock = environment.clock();
        this.faults = environment.faults();
        this.listener = environment.listener();
        this.metrics = new StoreMetrics(environment.registry());
        this.recoveryRule = environment.recoveryRule();
    }

    /** A partition's fence: one object, for ever. */
    Fence fence(PartitionId partition) {
        return fences.computeIfAbsent(partition, key -> new Fence(key, 0));
    }

    /** A directory is not to be written any more. */
    void setOutOfService(long incarnation) {
        vouchedFor.remove(incarnation);
        somethingLost = true;
        onDirectoryState();
    }

    /** A directory is here, and has lost nothing. */
    void setVouchedFor(long incarnation) {
        vouchedFor.add(incarnation);
    }

    /** Whether a directory of that incarnation is here, and has lost nothing. */
    boolean isVouchedFor(long incarnation) {
        return vouchedFor.contains(incarnation);
    }

    /** Something that was here is gone: from now on only incarnations that are still whole are vouched for. */
    void onSomethingLost() {
        somethingLost = true;
    }

    /**
     * Whether a segment that no directory has said it holds was truthfully never here, or was deleted on instruction (I-5).
     *
     * @param incarnation of the directory that should hold it, or 0 if nobody knows which
     */
    boolean vouchesForAbsence(SegmentId segment, long incarnation) {
        Replica replica = replicas.get(segment);
        if (replica != null && (replica.directory.isOutOfService() || !replica.isIntact())) {
            return false;
        }
        return incarnation == 0 ? !somethingLost : isVouchedFor(incarnation);
    }

    /** What is called whenever a directory's state has changed. */
    void whenDirectoryStateChanges(Runnable action) {
        directoryStateChanged = action;
    }

    void onDirectoryState() {
        directoryStateChanged.run();
    }

    /** All fences there are. */
    Iterable<Fence> fences() {
        return fences.values();
    }
}
