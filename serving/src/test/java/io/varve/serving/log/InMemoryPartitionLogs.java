package io.varve.serving.log;

import io.varve.base.PartitionId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * The twin of the owner's logs for tests: everything in memory, nothing on other threads, with the knobs that failures need. What is kept of
 * a partition outlives its tenures, as bookies would keep it. Safe for any thread.
 */
public final class InMemoryPartitionLogs implements PartitionLogs {

    private final Map<PartitionId, InMemoryPartition> partitions;
    private final Map<PartitionId, InMemoryPartitionLog> served = new TreeMap<>();
    private final Map<PartitionId, Integer> takingOver = new TreeMap<>();
    private final List<OwnershipListener> listeners = new CopyOnWriteArrayList<>();

    /** A broker's logs in a cluster of its own. */
    public InMemoryPartitionLogs() {
        this(Collections.synchronizedMap(new TreeMap<>()));
    }

    private InMemoryPartitionLogs(Map<PartitionId, InMemoryPartition> partitions) {
        this.partitions = partitions;
    }

    /** The logs of another broker over the same partitions. */
    public InMemoryPartitionLogs ofAnotherBroker() {
        return new InMemoryPartitionLogs(partitions);
    }

    /** Begins to serve the partition under the next epoch, from the entries that were acknowledged. */
    public InMemoryPartitionLog serve(PartitionId partition) {
        return serve(partition, log -> {});
    }

    /** {@link #serve}, with its reads held from the first one on. */
    public InMemoryPartitionLog serveWithReadsHeld(PartitionId partition) {
        return serve(partition, InMemoryPartitionLog::holdReads);
    }

    private InMemoryPartitionLog serve(PartitionId partition, Consumer<InMemoryPartitionLog> beforeAnybodyKnows) {
        InMemoryPartitionLog log;
        synchronized (this) {
            InMemoryPartition kept = partitions.computeIfAbsent(partition, p -> new InMemoryPartition());
            log = new InMemoryPartitionLog(partition, kept, kept.nextEpoch());
            takingOver.remove(partition);
            served.put(partition, log);
        }
        beforeAnybodyKnows.accept(log);
        listeners.forEach(l -> l.onServing(log));
        return log;
    }

    /** Owned, but not served yet. */
    public synchronized void takeOver(PartitionId partition, int epoch) {
        takingOver.put(partition, epoch);
    }

    /** Ends to serve the partition: what isn't acknowledged is gone. */
    public void lose(PartitionId partition) {
        InMemoryPartitionLog log;
        synchronized (this) {
            log = served.remove(partition);
        }
        if (log != null) {
            log.depose();
            listeners.forEach(l -> l.onLost(partition, log.epoch()));
        }
    }

    /** The served log; fails the test if there is none. */
    public synchronized InMemoryPartitionLog log(PartitionId partition) {
        InMemoryPartitionLog log = served.get(partition);
        if (log == null) {
            throw new AssertionError("not served: " + partition);
        }
        return log;
    }

    @Override
    public synchronized Lookup find(PartitionId partition) {
        InMemoryPartitionLog log = served.get(partition);
        if (log != null) {
            return new Lookup.Served(log);
        }
        Integer epoch = takingOver.get(partition);
        if (epoch != null) {
            return new Lookup.TakingOver(epoch);
        }
        return partitions.containsKey(partition) ? new Lookup.NotOwner() : new Lookup.Unknown();
    }

    @Override
    public CompletableFuture<Optional<PartitionLog>> sealed(PartitionId partition) {
        return CompletableFuture.completedFuture(Optional.empty());
    }

    @Override
    public synchronized Collection<PartitionLog> all() {
        return new ArrayList<>(served.values());
    }

    @Override
    public void subscribe(OwnershipListener listener) {
        List<PartitionLog> now;
        synchronized (this) {
            listeners.add(listener);
            now = new ArrayList<>(served.values());
        }
        now.forEach(listener::onServing);
    }
}
