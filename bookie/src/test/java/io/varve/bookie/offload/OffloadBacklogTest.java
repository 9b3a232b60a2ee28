package io.varve.bookie.offload;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.api.MetadataClient;
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
import org.junit.jupiter.api.Test;

/** S24: the backlog is told from the metadata, whether anything is being uploaded or not. */
class OffloadBacklogTest {

    private final StepClock clock = new StepClock(1_000_000);
    private final InMemoryMetadata metadata = new InMemoryMetadata(clock, 1).withBookies(3);
    private final MetadataClient client = metadata.newClient();
    private final OffloadBacklog backlog = new OffloadBacklog(new BookieId(1), metadata::view, clock);

    @Test
    void whatIsSealedAndNotOffloadedWaitsAndGrowsOldUntilItsUploadIsCommitted() {
        client.registerBroker(new BrokerInfo(1, 11, "", List.of(), BrokerInfo.State.LIVE))
                .join();
        PartitionId partition = sealed("tiered", Map.of("segment.bytes", "1024"));
        sealed("local", Map.of("remote.storage.enable", "false"));
        clock.advance(10_000);
        assertThat(backlog.count()).isEqualTo(new OffloadBacklog.Count(1, 5_000, 10_000));

        metadata.plan();
        BookieTask upload = upload();
        client.failTask(upload.taskId(), "UNREACHABLE: no route").join();
        clock.advance(60_000);
        assertThat(backlog.count().oldestMs()).isEqualTo(70_000);

        metadata.plan();
        BookieTask again = upload();
        String key = ObjectKeys.segment(metadata.view().clusterId(), partition, 0, again.taskId());
        client.commitOffload(again.taskId(), new ObjectRef(key, again.taskId(), 100, 1, 0, 10, -1))
                .join();
        clock.advance(10_000);
        assertThat(backlog.count()).isEqualTo(new OffloadBacklog.Count(0, 0, 0));
    }

    private BookieTask upload() {
        return metadata.view().tasks().stream()
                .filter(BookieTask.Offload.class::isInstance)
                .findFirst()
                .orElseThrow();
    }

    private PartitionId sealed(String name, Map<String, String> configs) {
        Topic topic = client.createTopic(name, 1, 3, configs).join();
        PartitionId partition = new PartitionId(topic.id(), 0);
        SegmentId first = rolled(partition, Optional.empty(), 0);
        rolled(partition, Optional.of(first), 10);
        return partition;
    }

    private SegmentId rolled(PartitionId partition, Optional<SegmentId> sealed, long at) {
        int epoch = metadata.view().partition(partition).orElseThrow().epoch();
        SegmentDescriptor next =
                client.allocateSegment(partition, epoch, at, Set.of()).join();
        Set<BookieId> holders = Set.of(new BookieId(1), new BookieId(2), new BookieId(3));
        Optional<MetadataClient.Seal> seal =
                sealed.map(segment -> new MetadataClient.Seal(segment, at, 5_000, -1, holders));
        client.roll(new MetadataClient.Roll(partition, epoch, seal, next.id())).join();
        return next.id();
    }
}
