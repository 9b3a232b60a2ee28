package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.metadata.model.BookieTask.Offload;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.RestoredPartition;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RestoredImageTest {

    private final Cluster lost = Cluster.of(3);
    private final PartitionId partition = new PartitionId(lost.topic("t", 1, 3, "segment.bytes", "1024"), 0);
    private final Topic topic = lost.image().topic("t").orElseThrow();

    @Test
    void aRestoredClusterHasTopicsAndConfigurationAndGoesOnWhereItsObjectsEnd() {
        lost.clusterConfig("message.max.bytes", "5000");
        SegmentDescriptor offloaded = offloadOne();
        MetadataImage image = restored(offloaded);

        assertThat(image.clusterId()).isEqualTo("new");
        assertThat(image.bucketId()).isEqualTo("c");
        assertThat(image.topics()).containsExactly(topic);
        assertThat(image.clusterConfigs()).containsEntry("message.max.bytes", "5000");
        assertThat(image.bookies()).isEmpty();
        assertThat(image.brokers()).isEmpty();
        assertThat(image.tasks()).isEmpty();
        assertThat(image.partition(partition)).hasValueSatisfying(state -> {
            assertThat(state.owner()).isEqualTo(PartitionState.NO_OWNER);
            assertThat(state.epoch()).isEqualTo(1_000);
        });

        Cluster found = new Cluster(image);
        for (int id = 1; id <= 3; id++) {
            found.bookie(id, "", 2_000L + id);
        }
        found.broker(1);
        assertThat(found.partition(partition).owner()).isEqualTo(1);
        SegmentDescriptor opened = found.rolled(partition, 10);
        assertThat(opened.startOffset()).isEqualTo(10);
        assertThat(opened.id().value()).isGreaterThan(offloaded.id().value());
        assertThat(found.partition(partition).chain().size()).isEqualTo(2);
    }

    @Test
    void whatWasToBeDeletedStillIsUnlessItTurnedOutToBeTheOnlyCopy_I11() {
        SegmentDescriptor offloaded = offloadOne();
        lost.topicConfig(topic.id(), "retention.ms", "1");
        lost.nowMs += 1_000_000;
        lost.plan();
        String key = offloaded.object().orElseThrow().key();
        assertThat(lost.image().taskIndex().deadObjects()).containsOnlyKeys(key);

        assertThat(RestoredImage.of(lost.image(), "new", "c", List.of(topic), List.of(empty(20)))
                        .taskIndex()
                        .deadObjects())
                .containsOnlyKeys(key);
        assertThat(restored(offloaded).taskIndex().deadObjects()).isEmpty();
    }

    private MetadataImage restored(SegmentDescriptor offloaded) {
        RestoredPartition found = new RestoredPartition(partition, 0, Optional.empty(), List.of(offloaded), 1_000);
        return RestoredImage.of(lost.image(), "new", "c", List.of(topic), List.of(found));
    }

    private RestoredPartition empty(long start) {
        return new RestoredPartition(partition, start, Optional.empty(), List.of(), 1_000);
    }

    /** The first of two sealed segments, as a bucket has it. */
    private SegmentDescriptor offloadOne() {
        lost.rolled(partition, 0);
        lost.rolled(partition, 10);
        lost.nowMs += 2_000;
        lost.plan();
        Offload upload = lost.tasks(Offload.class).get(0);
        ObjectRef object = lost.objectOf(upload);
        lost.done(Cluster.commit(upload, object));
        SegmentDescriptor segment = lost.image().find(upload.segments().get(0));
        return Segments.withReplicas(segment, List.of(), List.of());
    }
}
