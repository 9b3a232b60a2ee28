package io.varve.tiering.core;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.RestoredPartition;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Puts together what a backup of the metadata says and what the objects in the bucket say of themselves. The backup knows topics, configurations, where
 * logs start, and what was deleted; it can be older than the objects, and name some that are gone. So the chains are made of the objects that are there, and everything else
 * comes from the backup. What is missing is said, partition by partition.
 */
public final class RestorePlan {

    /**
     * Owners that came after the backup had epochs that nobody knows of any longer; clients that saw one wait for a higher.
     */
    private static final int EPOCHS_LEFT_OUT = 1_000;

    private final Found found;
    private final TreeMap<TopicId, Topic> topics = new TreeMap<>();
    private final List<RestoredPartition> partitions = new ArrayList<>();
    private final List<String> lost = new ArrayList<>();

    private RestorePlan(Found found) {
        this.found = found;
    }

    /**
     * What there is.
     *
     * @param backup the last known metadata, if any
     * @param objects all intact objects that no usable manifest names, by partition
     * @param manifestsFrom of the backup's manifests that can be read, the offset from which on everything is there that they name
     * @param replicas R of topics that the backup doesn't know
     * @param acks A of topics that the backup doesn't know
     */
    public record Found(
            Optional<MetadataView> backup,
            SortedMap<PartitionId, List<HeldObject>> objects,
            SortedMap<PartitionId, Long> manifestsFrom,
            int replicas,
            int acks) {}

    /**
     * What will be there.
     *
     * @param partitions one for each partition of each topic
     * @param lost a line for each thing that is known to be missing
     */
    public record Restored(List<Topic> topics, List<RestoredPartition> partitions, List<String> lost) {
        public Restored {
            topics = List.copyOf(topics);
            partitions = List.copyOf(partitions);
            lost = List.copyOf(lost);
        }
    }

    /** Makes the plan. */
    public static Restored of(Found found) {
        RestorePlan plan = new RestorePlan(found);
        plan.collectTopics();
        plan.topics.values().forEach(plan::restore);
        return new Restored(List.copyOf(plan.topics.values()), plan.partitions, plan.lost);
    }

    private void collectTopics() {
        TreeMap<String, TopicId> names = new TreeMap<>();
        found.backup()
                .ifPresent(view -> view.topics().forEach(topic -> {
                    topics.put(topic.id(), topic);
                    names.put(topic.name(), topic.id());
                }));
        TreeSet<PartitionId> condemned = new TreeSet<>();
        found.backup().ifPresent(view -> view.condemned().forEach(partition -> condemned.add(partition.id())));
        TreeMap<TopicId, HeldObject> newest = new TreeMap<>();
        TreeMap<TopicId, Integer> sizes = new TreeMap<>();
        found.objects().forEach((partition, objects) -> {
            if (condemned.contains(partition)) {
                return;
            }
            sizes.merge(partition.topic(), partition.index() + 1, Math::max);
            for (HeldObject object : objects) {
                HeldObject before = newest.get(partition.topic());
                if (before == null || object.ref().attemptId() > before.ref().attemptId()) {
                    newest.put(partition.topic(), object);
                }
            }
        });
        newest.forEach((id, object) -> {
            Topic known = topics.get(id);
            int size = sizes.get(id);
            if (known != null) {
                topics.put(id, withPartitions(known, Math.max(known.partitions(), size)));
            } else if (names.putIfAbsent(object.topicName(), id) == null) {
                topics.put(
                        id,
                        new Topic(
                                id,
                                object.topicName(),
                                size,
                                found.replicas(),
                                found.acks(),
                                Collections.emptySortedMap()));
                lost.add("topic " + object.topicName() + " (" + id
                        + "): no backup knows it, so it has the default configuration");
            } else {
                lost.add("topic " + object.topicName() + " (" + id + "): not restored, for topic "
                        + names.get(object.topicName()) + " has that name");
            }
        });
    }

    private static Topic withPartitions(Topic topic, int partitions) {
        return new Topic(topic.id(), topic.name(), partitions, topic.replicas(), topic.acks(), topic.configs());
    }

    private void restore(Topic topic) {
        for (int index = 0; index < topic.partitions(); index++) {
            PartitionId id = new PartitionId(topic.id(), index);
            Optional<PartitionState> known = found.backup().flatMap(view -> view.partition(id));
            partitions.add(restore(topic, id, known));
        }
    }

    private RestoredPartition restore(Topic topic, PartitionId id, Optional<PartitionState> known) {
        String name = topic.name() + "-" + id.index();
        long wasFrom = known.map(PartitionState::logStartOffset).orElse(0L);
        long floor = wasFrom;
        long knownEnd = known.map(RestorePlan::sealedEnd).orElse(floor);
        Optional<ManifestRef> manifest = known.flatMap(p -> p.chain().manifest())
                .filter(m -> found.manifestsFrom().getOrDefault(id, Long.MAX_VALUE) < m.endOffset());
        floor = Math.max(floor, manifest.map(m -> found.manifestsFrom().get(id)).orElse(0L));
        List<SegmentDescriptor> segments = new ArrayList<>();
        long next = manifest.map(ManifestRef::endOffset).orElse(-1L);
        for (SegmentDescriptor segment : candidates(topic, id, Math.max(floor, next))) {
            if (next >= 0 && segment.startOffset() > next) {
                long from = segments.isEmpty()
                        ? manifest.map(ManifestRef::startOffset).orElse(next)
                        : segments.get(0).startOffset();
                lost.add(name + ": offsets " + next + " to " + (segment.startOffset() - 1)
                        + " are in no object; those from " + from + " on are there and can't be read for it");
                segments.clear();
                manifest = Optional.empty();
                next = -1;
            }
            if (next < 0 || segment.startOffset() == next) {
                segments.add(segment);
                next = segment.endOffset();
            }
        }
        int epoch = known.map(PartitionState::epoch).orElse(0);
        for (SegmentDescriptor segment : segments) {
            epoch = Math.max(epoch, segment.epoch());
        }
        return told(
                name,
                new RestoredPartition(
                        id, start(floor, knownEnd, manifest, segments), manifest, segments, epoch + EPOCHS_LEFT_OUT),
                wasFrom,
                knownEnd);
    }

    private RestoredPartition told(String name, RestoredPartition restored, long floor, long knownEnd) {
        if (restored.logStartOffset() > floor) {
            lost.add(name + ": offsets " + floor + " to " + (restored.logStartOffset() - 1)
                    + " are in no object: deleted since the backup was taken, or on bookies only");
        }
        if (restored.endOffset() < knownEnd) {
            lost.add(name + ": offsets " + restored.endOffset() + " to " + (knownEnd - 1)
                    + " were written before the backup was taken, and are in no object");
        }
        return restored;
    }

    private static long start(
            long floor, long knownEnd, Optional<ManifestRef> manifest, List<SegmentDescriptor> segments) {
        if (manifest.isPresent()) {
            return Math.max(floor, manifest.get().startOffset());
        }
        // Of an empty log only the start says where it goes on, and offsets must not be given out again.
        return segments.isEmpty()
                ? Math.max(floor, knownEnd)
                : Math.max(floor, segments.get(0).startOffset());
    }

    /** Where the open segment began, or the chain ended. */
    private static long sealedEnd(PartitionState partition) {
        return partition
                .chain()
                .last()
                .map(last -> last.state() == SegmentDescriptor.State.SEALED ? last.endOffset() : last.startOffset())
                .or(() -> partition.chain().manifest().map(ManifestRef::endOffset))
                .orElse(partition.logStartOffset());
    }

    /**
     * Segments that reach beyond an offset, in order, each once. A sealed segment never changes, so any intact object that holds it will do; one that the backup names is
     * taken first, and of others that of the latest attempt. Of segments that overlap one is what compaction made of the others, which are about to be deleted: the one with the highest id.
     */
    private List<SegmentDescriptor> candidates(Topic topic, PartitionId id, long beyond) {
        TreeSet<String> named = new TreeSet<>();
        found.backup()
                .flatMap(view -> view.partition(id))
                .ifPresent(partition -> partition
                        .chain()
                        .segments()
                        .forEach(segment -> segment.object().ifPresent(object -> named.add(object.key()))));
        List<HeldObject> objects = new ArrayList<>(found.objects().getOrDefault(id, List.of()));
        objects.sort((a, b) -> {
            int byName = Boolean.compare(
                    named.contains(a.ref().key()), named.contains(b.ref().key()));
            return byName != 0
                    ? byName
                    : Long.compare(a.ref().attemptId(), b.ref().attemptId());
        });
        TreeMap<SegmentId, SegmentDescriptor> byId = new TreeMap<>();
        for (HeldObject object : objects) {
            for (ObjectFooter.Segment segment : object.segments()) {
                if (segment.endOffset() > beyond) {
                    byId.put(segment.id(), descriptor(topic, id, object, segment));
                }
            }
        }
        TreeMap<Long, SegmentDescriptor> byStart = new TreeMap<>();
        byId.descendingMap().values().forEach(segment -> {
            if (isFree(byStart, segment)) {
                byStart.put(segment.startOffset(), segment);
            }
        });
        return List.copyOf(byStart.values());
    }

    private static boolean isFree(TreeMap<Long, SegmentDescriptor> taken, SegmentDescriptor segment) {
        Map.Entry<Long, SegmentDescriptor> before = taken.floorEntry(segment.startOffset());
        Map.Entry<Long, SegmentDescriptor> after = taken.higherEntry(segment.startOffset());
        return (before == null || before.getValue().endOffset() <= segment.startOffset())
                && (after == null || after.getKey() >= segment.endOffset());
    }

    private static SegmentDescriptor descriptor(
            Topic topic, PartitionId id, HeldObject object, ObjectFooter.Segment segment) {
        return new SegmentDescriptor(
                segment.id(),
                id,
                segment.epoch(),
                SegmentDescriptor.State.SEALED,
                segment.startOffset(),
                segment.endOffset(),
                topic.acks(),
                List.of(),
                List.of(),
                segment.bytes(),
                segment.maxTimestampMs(),
                segment.createdMs(),
                segment.sealedMs(),
                Optional.of(object.ref()));
    }
}
