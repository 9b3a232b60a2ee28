package io.varve.metadata.core;

import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.CommitManifestCommand;
import io.varve.protocol.meta.FailTaskCommand;
import io.varve.protocol.meta.MetadataCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What bookies would do to manifests, with a map in the place of a bucket: what each root describes, by its key. */
final class ModelManifests {

    private final Map<String, List<SegmentDescriptor>> roots = new TreeMap<>();
    private final String clusterId;

    ModelManifests(String clusterId) {
        this.clusterId = clusterId;
    }

    /** What a pointer describes. */
    List<SegmentDescriptor> described(ManifestRef manifest) {
        return roots.get(manifest.key()).stream()
                .filter(s -> s.startOffset() >= manifest.startOffset())
                .toList();
    }

    /** Writes what the task asks for, and the command that commits it. */
    MetadataCommand.Builder built(BookieTask.BuildManifest task, MetadataImage image) {
        List<SegmentDescriptor> all = new ArrayList<>();
        task.before().ifPresent(before -> all.addAll(described(before)));
        image.partition(task.partition()).orElseThrow().chain().segments().stream()
                .filter(s -> s.startOffset() >= task.startOffset() && s.endOffset() <= task.endOffset())
                .filter(SegmentDescriptor::isOffloaded)
                .forEach(all::add);
        if (all.isEmpty()) {
            return MetadataCommand.newBuilder()
                    .setFailTask(
                            FailTaskCommand.newBuilder().setTask(task.taskId()).setReason("nothing is left of it"));
        }
        List<String> superseded =
                task.before().map(before -> List.of(before.key())).orElse(List.of());
        return commit(task, Optional.of(write(task, all)), superseded);
    }

    /** The command that commits what is left when the objects that end at or below the task's offset are gone. */
    MetadataCommand.Builder pruned(BookieTask.PruneManifest task) {
        List<SegmentDescriptor> left = described(task.manifest()).stream()
                .filter(s -> s.object().orElseThrow().endOffset() > task.belowOffset())
                .toList();
        if (left.isEmpty()) {
            return commit(task, Optional.empty(), List.of(task.manifest().key()));
        }
        return commit(
                task, Optional.of(write(task, left)), List.of(task.manifest().key()));
    }

    /** The keys of the objects that the task deletes. */
    List<String> deletedBy(BookieTask.PruneManifest task) {
        return described(task.manifest()).stream()
                .map(s -> s.object().orElseThrow())
                .filter(object -> object.endOffset() <= task.belowOffset())
                .map(object -> object.key())
                .distinct()
                .toList();
    }

    private ManifestRef write(BookieTask task, List<SegmentDescriptor> segments) {
        SegmentDescriptor first = segments.get(0);
        String key = ObjectKeys.manifestRoot(clusterId, first.partition(), task.taskId());
        roots.put(key, List.copyOf(segments));
        return new ManifestRef(
                key,
                task.taskId(),
                first.startOffset(),
                segments.get(segments.size() - 1).endOffset(),
                segments.size(),
                segments.stream().mapToLong(SegmentDescriptor::bytes).sum(),
                segments.stream()
                        .mapToLong(SegmentDescriptor::maxTimestampMs)
                        .max()
                        .orElse(-1),
                100,
                7,
                marks(segments));
    }

    /** After 1, 2, 4, ... objects, and at the end. */
    private static List<ManifestRef.Mark> marks(List<SegmentDescriptor> segments) {
        List<ManifestRef.Mark> marks = new ArrayList<>();
        long bytes = 0;
        long stampMs = -1;
        int objects = 0;
        for (int i = 0; i < segments.size(); i++) {
            SegmentDescriptor segment = segments.get(i);
            bytes += segment.bytes();
            stampMs = Math.max(stampMs, segment.ageStampMs());
            boolean isCut =
                    segment.endOffset() == segment.object().orElseThrow().endOffset();
            objects += isCut ? 1 : 0;
            if (isCut && Integer.bitCount(objects) == 1 || i == segments.size() - 1) {
                marks.add(new ManifestRef.Mark(segment.endOffset(), bytes, stampMs));
            }
        }
        return marks;
    }

    static MetadataCommand.Builder commit(BookieTask task, Optional<ManifestRef> manifest, List<String> superseded) {
        CommitManifestCommand.Builder body =
                CommitManifestCommand.newBuilder().setTask(task.taskId()).addAllSuperseded(superseded);
        manifest.ifPresent(m -> body.setManifest(ProtoModel.toProto(m)));
        return MetadataCommand.newBuilder().setCommitManifest(body);
    }
}
