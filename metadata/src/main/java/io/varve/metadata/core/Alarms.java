package io.varve.metadata.core;

import io.varve.base.PartitionId;
import io.varve.metadata.model.Alarm;
import io.varve.metadata.model.FailedWork;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Tells of what bookies run into in the bucket, from what became of their work. There is no alarm of its own in the state, so none can outlive what it is about.
 */
final class Alarms {

    /** What failed so often in a row, some half a minute of it, doesn't pass by itself. */
    static final int LASTING_ATTEMPTS = 6;

    /** The class of what isn't there, in a bookie's words. */
    private static final String MISSING = "MISSING";

    /** The class of what isn't there, and the copy that should be deleted for it is damaged too. */
    private static final String UNREADABLE = "UNREADABLE";

    /** The class of what is there and isn't what it should be. */
    private static final String CORRUPT = "CORRUPT";

    private final MetadataImage image;
    private final List<Alarm> found = new ArrayList<>();

    private Alarms(MetadataImage image) {
        this.image = image;
    }

    /** Those that stand, by what they are about: a walk over all work that failed and isn't done yet. */
    static List<Alarm> of(MetadataImage image) {
        Alarms alarms = new Alarms(image);
        image.taskIndex().retries().forEach((id, retry) -> alarms.segment(image.find(id), retry));
        ManifestWork manifests = image.taskIndex().manifests();
        manifests.retries().forEach(alarms::manifest);
        for (Map.Entry<PartitionId, ManifestWork.DeadStretch> dead :
                manifests.deadStretches().entrySet()) {
            if (!manifests.retries().containsKey(dead.getKey())) {
                alarms.manifest(dead.getKey(), dead.getValue().when());
            }
        }
        image.taskIndex().deadObjects().forEach(alarms::deadObject);
        return List.copyOf(alarms.found);
    }

    /** Work on a segment that is in object storage fails so only when its object is looked for. */
    private void segment(SegmentDescriptor segment, Retry retry) {
        Optional<ObjectRef> object = segment == null ? Optional.empty() : segment.object();
        if (object.isPresent() && (is(retry, MISSING) || is(retry, UNREADABLE))) {
            // Another bookie may have offered a whole copy since.
            boolean isReadable = is(retry, MISSING) || !segment.replicas().isEmpty();
            add(
                    isReadable ? Alarm.Kind.OBJECT_MISSING : Alarm.Kind.SEGMENT_UNREADABLE,
                    Optional.of(segment.partition()),
                    object.get().key(),
                    retry);
        }
    }

    private void manifest(PartitionId id, Retry retry) {
        PartitionState partition = image.partitionIndex().find(id);
        String key = partition == null
                ? ""
                : partition.chain().manifest().map(manifest -> manifest.key()).orElse("");
        boolean isDamaged = is(retry, MISSING) || is(retry, CORRUPT);
        if (isDamaged || retry.attempts() >= LASTING_ATTEMPTS) {
            add(isDamaged ? Alarm.Kind.MANIFEST_DAMAGED : Alarm.Kind.MANIFEST_WORK_FAILS, Optional.of(id), key, retry);
        }
    }

    private void deadObject(String key, DeadObject dead) {
        if (dead.when().attempts() >= LASTING_ATTEMPTS) {
            add(Alarm.Kind.OBJECT_NOT_DELETED, dead.held().map(DeadObject.Held::partition), key, dead.when());
        }
    }

    private void add(Alarm.Kind kind, Optional<PartitionId> partition, String about, Retry retry) {
        found.add(new Alarm(kind, partition, about, retry.attempts(), retry.reason()));
    }

    private static boolean is(Retry retry, String errorClass) {
        return new FailedWork(retry.attempts(), retry.notBeforeMs(), retry.reason())
                .errorClass()
                .equals(errorClass);
    }
}
