package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.cli.link.MetadataLink;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * I-1, I-2, I-8 with real processes: a topic is compacted while it is written to, its owner and a bookie are killed meanwhile, and what a stock consumer reads from offset 0 is what was acknowledged, at the offsets at
 * which it was, with the newest of each key among it.
 */
class CompactionIT {

    private static final String TOPIC = "latest";
    private static final int RECORDS = 60_000;
    private static final int SEGMENT_BYTES = 256 * 1024;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    private final KeyedLog log = new KeyedLog(TOPIC, 100);

    @Test
    void aTopicIsCompactedThroughTheDeathOfItsOwnerAndOfABookie() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 2).withBroker("log.cleaner.backoff.ms", "100"));
        try (MetadataLink link = MetadataLink.open(cluster.layout().metadataNodes(), PATIENCE)) {
            cluster.createTopic(
                    TOPIC,
                    1,
                    Map.of(
                            "cleanup.policy",
                            "compact",
                            "segment.bytes",
                            Integer.toString(SEGMENT_BYTES),
                            "min.cleanable.dirty.ratio",
                            "0.01"));
            log.write(cluster.bootstrap(), 0, RECORDS / 2);
            Await.until(
                    "something is compacted",
                    PATIENCE,
                    () -> seen(link),
                    () -> partition(link).chain().segments().stream().anyMatch(SegmentDescriptor::isCompacted));
            cluster.bookie(2).kill();
            cluster.broker(cluster.ownerOf(TOPIC, 0)).kill();
            log.write(cluster.bootstrap(), RECORDS / 2, RECORDS);
            cluster.launchBookie(2);

            Await.until(
                    "all but the end is compacted",
                    PATIENCE,
                    () -> seen(link),
                    () -> sealedBytes(link) < 3 * SEGMENT_BYTES);
            assertReadsRight(cluster);
            Await.until(
                    "inputs are deleted from bookies",
                    PATIENCE,
                    () -> seen(link),
                    () -> link.client().view().tasks().stream().noneMatch(BookieTask.DeleteReplica.class::isInstance));

            cluster.broker(cluster.ownerOf(TOPIC, 0)).kill();
            cluster.launchBroker(1);
            cluster.launchBroker(2);
            assertReadsRight(cluster);
        }
    }

    private void assertReadsRight(ProcessCluster cluster) {
        assertThat(log.readBack(cluster.bootstrap(), PATIENCE))
                .as("most is gone")
                .isLessThan(RECORDS / 5);
    }

    private static PartitionState partition(MetadataLink link) {
        MetadataView view = link.client().view();
        return view.partitions(view.topic(TOPIC).orElseThrow().id()).iterator().next();
    }

    private static String seen(MetadataLink link) {
        return sealedBytes(link) + " sealed bytes, "
                + ChainText.of(link.client().view(), TOPIC, 0, SegmentDescriptor::isCompacted);
    }

    private static long sealedBytes(MetadataLink link) {
        return partition(link).chain().segments().stream()
                .filter(segment -> segment.state() == SegmentDescriptor.State.SEALED)
                .mapToLong(SegmentDescriptor::bytes)
                .sum();
    }
}
