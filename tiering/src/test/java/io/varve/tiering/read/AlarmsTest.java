package io.varve.tiering.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.Roll;
import io.varve.metadata.api.MetadataClient.Seal;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.metadata.testing.StepClock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What an alarm is about is in the metadata, or it is none any more. */
class AlarmsTest {

    private final StepClock clock = new StepClock(0);
    private final InMemoryMetadata metadata = new InMemoryMetadata(clock, 1).withBookies(3);
    private final MetadataClient client = metadata.newClient();

    @Test
    void anObjectIsNamedAsLongAsReadersMayComeToIt() {
        client.registerBroker(new BrokerInfo(1, 11, "", List.of(), BrokerInfo.State.LIVE))
                .join();
        Topic topic = client.createTopic("t", 1, 3, Map.of("segment.bytes", "1024", "retention.ms", "-1"))
                .join();
        PartitionId partition = new PartitionId(topic.id(), 0);
        rolled(partition, Optional.empty(), 0);
        rolled(
                partition,
                client.view().partition(partition).orElseThrow().chain().last(),
                100);
        clock.advance(TimeUnit.MINUTES.toMillis(2));
        metadata.plan();
        BookieTask task = metadata.view().tasks().iterator().next();
        String key = ObjectKeys.segment(metadata.view().bucketId(), partition, 0, task.taskId());
        ObjectRef object = new ObjectRef(key, task.taskId(), 500, 1, 0, 100, -1);
        Alarms.Place place = new Alarms.Place(partition, key, Optional.of(object));
        assertThat(place.isNamedIn(metadata.view())).isFalse();
        client.commitOffload(task.taskId(), object).join();
        assertThat(place.isNamedIn(metadata.view())).isTrue();
        assertThat(new Alarms.Place(partition, key, Optional.empty()).isNamedIn(metadata.view()))
                .as("no manifest")
                .isFalse();
        ObjectRef other = new ObjectRef(key + "x", 9, 500, 1, 0, 100, -1);
        assertThat(new Alarms.Place(partition, key + "x", Optional.of(other)).isNamedIn(metadata.view()))
                .isFalse();

        int epoch = metadata.view().partition(partition).orElseThrow().epoch();
        client.advanceLogStart(partition, epoch, 100).join();
        assertThat(place.isNamedIn(metadata.view())).isFalse();
        client.deleteTopic(topic.id()).join();
        assertThat(place.isNamedIn(metadata.view())).isFalse();
    }

    private void rolled(PartitionId partition, Optional<SegmentDescriptor> open, long at) {
        int epoch = client.view().partition(partition).orElseThrow().epoch();
        SegmentDescriptor next =
                client.allocateSegment(partition, epoch, at, Set.of()).join();
        Set<BookieId> holders = Set.of(new BookieId(1), new BookieId(2), new BookieId(3));
        client.roll(new Roll(
                        partition, epoch, open.map(last -> new Seal(last.id(), at, 1_000, -1, holders)), next.id()))
                .join();
    }
}
