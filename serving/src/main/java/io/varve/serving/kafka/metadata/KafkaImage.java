package io.varve.serving.kafka.metadata;

import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Topic;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.server.common.GroupVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.common.ShareVersion;
import org.apache.kafka.server.common.StreamsVersion;
import org.apache.kafka.server.common.TransactionVersion;

/**
 * Keeps the image of a Kafka cluster's metadata in step with ours. It holds what coordinators read of it: topics, how many partitions they
 * have, and feature levels.
 *
 * <p>Partitions have no replicas and no leader in it. Kafka derives a partition's racks from its replicas, and a change of racks is a
 * reason to assign a group's partitions anew; here a partition changes its owner whenever a broker stops, and that must rebalance nobody.
 *
 * <p>One thread.
 */
public final class KafkaImage {

    private static final int NO_BROKER = -1;

    private final Map<TopicId, Topic> known = new TreeMap<>();

    private MetadataImage image = MetadataImage.EMPTY;
    private boolean begun;

    /** A step of the image. */
    public record Change(MetadataDelta delta, MetadataImage image) {}

    /** Takes over what differs in {@code view}; empty if nothing does that coordinators would see. */
    public Optional<Change> advance(MetadataView view) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        boolean changed = beginOnce(delta);
        Map<TopicId, Topic> now = new TreeMap<>();
        for (Topic topic : view.topics()) {
            now.put(topic.id(), topic);
        }
        for (Topic topic : List.copyOf(known.values())) {
            if (!now.containsKey(topic.id())) {
                known.remove(topic.id());
                delta.replay(new RemoveTopicRecord().setTopicId(uuid(topic.id())));
                changed = true;
            }
        }
        for (Topic topic : now.values()) {
            changed |= addWhatIsNew(topic, delta);
        }
        if (!changed) {
            return Optional.empty();
        }
        long version = Math.max(view.version(), image.provenance().lastContainedOffset() + 1);
        image = delta.apply(new MetadataProvenance(version, 0, 0, true));
        return Optional.of(new Change(delta, image));
    }

    private boolean beginOnce(MetadataDelta delta) {
        if (begun) {
            return false;
        }
        begun = true;
        delta.replay(feature(MetadataVersion.FEATURE_NAME, MetadataVersion.LATEST_PRODUCTION.featureLevel()));
        delta.replay(feature(GroupVersion.FEATURE_NAME, GroupVersion.LATEST_PRODUCTION.featureLevel()));
        delta.replay(feature(TransactionVersion.FEATURE_NAME, TransactionVersion.LATEST_PRODUCTION.featureLevel()));
        delta.replay(feature(StreamsVersion.FEATURE_NAME, StreamsVersion.LATEST_PRODUCTION.featureLevel()));
        delta.replay(feature(ShareVersion.FEATURE_NAME, ShareVersion.SV_1.featureLevel()));
        return true;
    }

    private boolean addWhatIsNew(Topic topic, MetadataDelta delta) {
        Topic before = known.put(topic.id(), topic);
        if (before == null) {
            delta.replay(new TopicRecord().setName(topic.name()).setTopicId(uuid(topic.id())));
        }
        int from = before == null ? 0 : before.partitions();
        for (int partition = from; partition < topic.partitions(); partition++) {
            delta.replay(new PartitionRecord()
                    .setTopicId(uuid(topic.id()))
                    .setPartitionId(partition)
                    .setReplicas(List.of())
                    .setIsr(List.of())
                    .setLeader(NO_BROKER)
                    .setLeaderEpoch(0)
                    .setPartitionEpoch(0));
        }
        return before == null || from < topic.partitions();
    }

    private static FeatureLevelRecord feature(String name, short level) {
        return new FeatureLevelRecord().setName(name).setFeatureLevel(level);
    }

    /** The same bits. */
    public static Uuid uuid(TopicId id) {
        return new Uuid(id.high(), id.low());
    }

    /** The same bits. */
    public static TopicId topicId(Uuid id) {
        return new TopicId(id.getMostSignificantBits(), id.getLeastSignificantBits());
    }
}
