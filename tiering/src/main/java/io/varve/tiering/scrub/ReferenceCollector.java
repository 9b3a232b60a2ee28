package io.varve.tiering.scrub;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.tiering.core.ObjectReferences;
import java.util.TreeMap;
import java.util.TreeSet;

/** Collects everything in the metadata that names an object. */
public final class ReferenceCollector {

    private ReferenceCollector() {}

    /**
     * What a view names.
     *
     * @param view linearizable
     */
    public static ObjectReferences collect(MetadataView view) {
        TreeMap<String, ObjectRef> objects = new TreeMap<>();
        for (Topic topic : view.topics()) {
            for (PartitionState partition : view.partitions(topic.id())) {
                for (SegmentDescriptor segment : partition.chain().segments()) {
                    segment.object().ifPresent(object -> objects.put(object.key(), object));
                }
            }
        }
        TreeSet<Long> live = new TreeSet<>();
        TreeSet<String> due = new TreeSet<>();
        for (BookieTask task : view.tasks()) {
            if (task instanceof BookieTask.Offload offload) {
                live.add(offload.taskId());
            } else if (task instanceof BookieTask.DeleteObject deletion) {
                due.add(deletion.key());
            }
        }
        return new ObjectReferences(objects, live, due);
    }
}
