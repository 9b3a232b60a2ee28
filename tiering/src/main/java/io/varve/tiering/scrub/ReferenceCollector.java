package io.varve.tiering.scrub;

import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.core.KeyRange;
import io.varve.tiering.core.ObjectReferences;
import io.varve.tiering.manifest.ManifestWalk;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Collects everything that names an object within a range of keys: the metadata, and the manifests that it points to. A manifest that can't be read leaves its partition unknown, and
 * nothing of it is taken for an orphan. Blocks; used once.
 */
final class ReferenceCollector {

    private final ManifestWalk manifests;
    private final String clusterId;
    private final Supplier<MetadataView> views;
    private final KeyRange range;
    private final TreeMap<String, Long> lengths = new TreeMap<>();
    private final TreeSet<Long> live = new TreeSet<>();
    private final TreeSet<String> due = new TreeSet<>();
    private final TreeMap<PartitionId, String> unreadable = new TreeMap<>();

    /** @param views linearizable ones */
    ReferenceCollector(ManifestWalk manifests, String clusterId, Supplier<MetadataView> views, KeyRange range) {
        this.manifests = manifests;
        this.clusterId = clusterId;
        this.views = views;
        this.range = range;
    }

    /** What there is. */
    ObjectReferences collect() {
        MetadataView view = views.get();
        for (BookieTask task : view.tasks()) {
            collect(task);
        }
        view.replacedObjects().forEach(this::markDue);
        for (Topic topic : view.topics()) {
            for (PartitionState partition : view.partitions(topic.id())) {
                if (range.touches(clusterId, partition.id())) {
                    living(partition, true);
                }
            }
        }
        for (PartitionState partition : view.condemned()) {
            if (range.touches(clusterId, partition.id())) {
                condemned(partition);
            }
        }
        return new ObjectReferences(lengths, live, due, unreadable);
    }

    private void collect(BookieTask task) {
        if (task instanceof BookieTask.Offload
                || task instanceof BookieTask.BuildManifest
                || task instanceof BookieTask.PruneManifest) {
            live.add(task.taskId());
        } else if (task instanceof BookieTask.DeleteObject deletion) {
            markDue(deletion.key());
        }
    }

    private void name(String key, long length) {
        if (range.contains(key)) {
            lengths.put(key, length);
        }
    }

    private void markDue(String key) {
        if (range.contains(key)) {
            due.add(key);
        }
    }

    private void living(PartitionState partition, boolean mayBeReplaced) {
        for (SegmentDescriptor segment : partition.chain().segments()) {
            segment.object().ifPresent(object -> name(object.key(), object.length()));
        }
        ManifestRef manifest = partition.chain().manifest().orElse(null);
        if (manifest == null) {
            return;
        }
        try {
            walk(manifest, partition.id(), new Named(partition.logStartOffset()));
        } catch (RemoteReadException trouble) {
            Optional<PartitionState> now = views.get().partition(partition.id());
            boolean isReplaced = now.isEmpty()
                    || !now.get().chain().manifest().equals(partition.chain().manifest());
            if (isReplaced && mayBeReplaced && now.isPresent()) {
                living(now.get(), false);
            } else {
                unreadable.put(partition.id(), trouble.getMessage());
            }
        }
    }

    /** What a deleted topic still names is about to go, or gone. */
    private void condemned(PartitionState partition) {
        for (SegmentDescriptor segment : partition.chain().segments()) {
            segment.object().ifPresent(object -> markDue(object.key()));
        }
        ManifestRef manifest = partition.chain().manifest().orElse(null);
        if (manifest != null) {
            try {
                walk(manifest, partition.id(), new Named(Long.MAX_VALUE));
            } catch (RemoteReadException trouble) {
                unreadable.put(partition.id(), trouble.getMessage());
            }
        }
    }

    /** Of the leaves only those that can name what is asked for. */
    private void walk(ManifestRef manifest, PartitionId partition, ManifestWalk.Visitor visitor) {
        manifests.walk(
                manifest,
                partition,
                range.offsetFrom(clusterId, partition),
                range.offsetUpTo(clusterId, partition),
                visitor);
    }

    /** What a manifest names: what may be read must be there, what lies below the log's start is about to go, or gone. */
    private final class Named implements ManifestWalk.Visitor {
        private final long logStartOffset;

        Named(long logStartOffset) {
            this.logStartOffset = logStartOffset;
        }

        @Override
        public void onManifest(String key, long length) {
            if (logStartOffset == Long.MAX_VALUE) {
                markDue(key);
            } else {
                name(key, length);
            }
        }

        @Override
        public void onSegment(SegmentDescriptor segment) {
            ObjectRef object = segment.object().orElseThrow();
            if (object.endOffset() <= logStartOffset) {
                markDue(object.key());
            } else {
                name(object.key(), object.length());
            }
        }
    }
}
