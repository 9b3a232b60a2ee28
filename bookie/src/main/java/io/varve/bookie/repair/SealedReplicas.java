package io.varve.bookie.repair;

import io.varve.base.BookieId;
import io.varve.base.FaultHandler;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.store.ReplicaInfo;
import io.varve.bookie.store.SegmentStore;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataListener;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the store which of its segments the metadata has sealed, and tells the metadata when a replica that was behind at the seal has reached the end
 * after all: being a prefix by one writer it then holds the same bytes as the others (I-3), and nothing need be copied.
 */
public final class SealedReplicas implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SealedReplicas.class);
    private static final long CHECK_MS = 2_000;

    private final BookieId self;
    private final MetadataClient metadata;
    private final SegmentStore store;
    private final ScheduledExecutorService thread;
    private final FaultHandler faults;
    private final MetadataListener listener = this::onChange;
    private final Set<SegmentId> unconfirmed = new ConcurrentSkipListSet<>();
    private final Set<SegmentId> asking = new ConcurrentSkipListSet<>();

    /** @param thread runs everything here; shared with others */
    public SealedReplicas(
            BookieId self,
            MetadataClient metadata,
            SegmentStore store,
            ScheduledExecutorService thread,
            FaultHandler faults) {
        this.self = self;
        this.metadata = metadata;
        this.store = store;
        this.thread = thread;
        this.faults = faults;
    }

    /** Begins with all segments that are sealed now. */
    public void start() {
        metadata.subscribe(listener);
        thread.execute(guarded(this::lookAtAll));
        thread.scheduleWithFixedDelay(guarded(this::confirmAll), CHECK_MS, CHECK_MS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        metadata.unsubscribe(listener);
    }

    private void onChange(MetadataView before, MetadataView after, MetadataDelta delta) {
        if (delta.everything()) {
            thread.execute(guarded(this::lookAtAll));
            return;
        }
        for (PartitionId partition : delta.partitions()) {
            Collection<SegmentDescriptor> changed = sealedSince(before, after, partition);
            if (!changed.isEmpty()) {
                thread.execute(guarded(() -> changed.forEach(this::onSealed)));
            }
        }
    }

    /** The segments that were sealed between two versions: they begin at or after the one that was open before. */
    private List<SegmentDescriptor> sealedSince(MetadataView before, MetadataView after, PartitionId partition) {
        long from = before.partition(partition)
                .flatMap(p -> p.chain().open())
                .map(SegmentDescriptor::startOffset)
                .orElse(Long.MAX_VALUE);
        return after.partition(partition)
                .map(p -> p.chain().from(from).values().stream()
                        .filter(s -> s.state() == SegmentDescriptor.State.SEALED && isHere(s))
                        .toList())
                .orElse(List.of());
    }

    private void lookAtAll() {
        TreeMap<SegmentId, Long> sealedHere = new TreeMap<>();
        for (ReplicaInfo replica : store.inventory()) {
            sealedHere.put(replica.segment(), replica.sealedEnd());
        }
        for (SegmentDescriptor segment : metadata.view().segmentsOn(self)) {
            if (segment.state() == SegmentDescriptor.State.SEALED) {
                Long sealedEnd = sealedHere.get(segment.id());
                if (sealedEnd != null && sealedEnd == segment.endOffset() && !isUnconfirmedHere(segment)) {
                    continue;
                }
                onSealed(segment);
            }
        }
    }

    private void onSealed(SegmentDescriptor segment) {
        store.seal(segment.id(), Integer.MAX_VALUE, segment.endOffset()).thenAccept(status -> {
            if (status != BookieStatus.OK && status != BookieStatus.NO_SUCH_SEGMENT) {
                LOG.warn("event=seal-refused segment={} status={}", segment.id(), status);
            }
        });
        if (isUnconfirmedHere(segment)) {
            unconfirmed.add(segment.id());
            confirm(segment.id());
        }
    }

    private void confirmAll() {
        unconfirmed.forEach(this::confirm);
    }

    private void confirm(SegmentId id) {
        Optional<SegmentDescriptor> segment = metadata.view().segment(id);
        Optional<Replica> here = segment.flatMap(s -> on(s.unconfirmed()));
        if (here.isEmpty()) {
            unconfirmed.remove(id);
            return;
        }
        FenceReply held = store.describe(id, here.get().incarnation());
        if (held.status() != BookieStatus.OK || held.end() < segment.get().endOffset() || !asking.add(id)) {
            return;
        }
        metadata.confirmReplica(id, self).whenComplete((done, failure) -> {
            asking.remove(id);
            if (failure == null) {
                LOG.info("event=replica-confirmed segment={} end={}", id, held.end());
            } else {
                LOG.info("event=replica-not-confirmed segment={} reason=\"{}\"", id, failure.getMessage());
            }
        });
    }

    private boolean isHere(SegmentDescriptor segment) {
        return on(segment.replicas()).isPresent() || isUnconfirmedHere(segment);
    }

    private boolean isUnconfirmedHere(SegmentDescriptor segment) {
        return on(segment.unconfirmed()).isPresent();
    }

    private Optional<Replica> on(List<Replica> replicas) {
        return replicas.stream().filter(r -> r.bookie().equals(self)).findFirst();
    }

    private Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                faults.onFault("sealed replicas", e);
            }
        };
    }
}
