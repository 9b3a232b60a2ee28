package io.varve.itest.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.cli.report.OffloadReport;
import io.varve.itest.cluster.AckLog;
import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.CommandRun;
import io.varve.itest.cluster.NumberedProducer;
import io.varve.itest.cluster.ProcessCluster;
import io.varve.itest.cluster.ReadBack;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.tiering.testing.PlainS3Server;
import io.varve.tiering.testing.PlainS3Server.Trouble;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * S24, S25: the object store goes away under load and comes back. Producers and groups don't notice, the operator is told, and the backlog drains by itself. Twenty seconds in a normal run, ten
 * minutes in a slow one.
 */
@Tag("alone")
class StoreOutageIT {

    private static final int OUTAGE_SECONDS = Integer.getInteger("varve.it.outage.seconds", 20);
    private static final String TOPIC = "steady";
    private static final int PARTITIONS = 4;
    private static final int VALUE_BYTES = 1_000;
    private static final int PER_SECOND = 300;

    /** Between two acknowledgements; a build machine that does other things as well can take this long by itself. */
    private static final long PAUSE_MS_MAX = Integer.getInteger("varve.it.outage.pause.ms", 5_000);

    private static final Duration PATIENCE = Duration.ofMinutes(4);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void theStoreIsAwayUnderLoadAndProducersAndGroupsGoOnAndTheBacklogDrainsByItself() throws Exception {
        try (PlainS3Server store = new PlainS3Server(true)) {
            ProcessCluster cluster = clusters.start(shape(store));
            cluster.createTopic(
                    TOPIC,
                    PARTITIONS,
                    Map.of("segment.bytes", "131072", "retention.ms", "-1", "local.retention.bytes", "0"));
            AckLog acks = new AckLog(PARTITIONS);
            AtomicLong lastNs = new AtomicLong();
            AtomicLong worstNs = new AtomicLong();
            try (NumberedProducer producer =
                    new NumberedProducer(cluster.bootstrap(), TOPIC, VALUE_BYTES, acks, PATIENCE)) {
                producer.onAcknowledged(nowNs -> {
                            long before = lastNs.getAndSet(nowNs);
                            worstNs.accumulateAndGet(before == 0 ? 0 : nowNs - before, Math::max);
                        })
                        .start(1, Long.MAX_VALUE, PER_SECOND);
                Await.until(
                        "something is offloaded",
                        PATIENCE,
                        () -> seen(cluster, acks, producer),
                        () -> offloaded(cluster.view()) > 5);

                store.always(new Trouble.Answer(503, "SlowDown"));
                long untilNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(OUTAGE_SECONDS);
                long atStart = acks.count();
                int commits = 0;
                while (System.nanoTime() < untilNs) {
                    commit(cluster, ++commits);
                }
                assertThat(acks.count() - atStart)
                        .as("acknowledged while the store was away")
                        .isGreaterThan((long) (OUTAGE_SECONDS * PER_SECOND * 0.8));
                assertThat(producer.failure()).isNull();
                assertTheOperatorIsTold(cluster);
                long backlog = report(cluster).segments();

                store.mend();
                Await.until(
                        "the backlog of " + backlog + " segments has drained",
                        PATIENCE,
                        () -> seen(cluster, acks, producer),
                        () -> {
                            OffloadReport now = report(cluster);
                            return now.errors().isEmpty() && now.segments() < 20;
                        });
                producer.stop();
                producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertThat(producer.failure()).isNull();
                System.out.printf(
                        "outage of %d s: %d records acknowledged, longest pause %d ms, %d commits, backlog %d segments%n",
                        OUTAGE_SECONDS, acks.count() - atStart, worstNs.get() / 1_000_000, commits, backlog);
                assertThat(worstNs.get() / 1_000_000)
                        .as("longest time without an acknowledgement")
                        .isLessThan(PAUSE_MS_MAX);
            }
            ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE).isExactly(acks);
        }
    }

    private static ClusterShape shape(PlainS3Server store) {
        return ClusterShape.of(1, 3, 1)
                .withMetadata("metadata.offload.delay.ms", "100")
                .withMetadata("metadata.offload.small.wait.ms", "1000")
                .withStore(s3(store));
    }

    /** The keys of a cluster that stores in a bucket that goes away: what doesn't come about soon is told soon. */
    static Map<String, String> s3(PlainS3Server store) {
        Map<String, String> config = store.config();
        config.put("tiering.retry.ms", "2000");
        return config;
    }

    /** S25: what keeps the cluster itself going is not held up. */
    private static void commit(ProcessCluster cluster, int offset) {
        Map<String, Object> config = Map.of(
                "bootstrap.servers",
                cluster.bootstrap(),
                "group.id",
                "watchers",
                "enable.auto.commit",
                false,
                "default.api.timeout.ms",
                20_000);
        TopicPartition partition = new TopicPartition(TOPIC, 0);
        try (KafkaConsumer<byte[], byte[]> member =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            member.assign(List.of(partition));
            member.commitSync(Map.of(partition, new OffsetAndMetadata(offset)));
        }
    }

    /** S24: how much waits, for how long and why, while the store is away. */
    private void assertTheOperatorIsTold(ProcessCluster cluster) throws Exception {
        OffloadReport report = report(cluster);
        assertThat(report.segments()).isPositive();
        assertThat(report.bytes()).isPositive();
        assertThat(report.oldestMs()).isGreaterThan(OUTAGE_SECONDS * 1_000L / 2);
        assertThat(report.errors()).containsKey("THROTTLED");
        CommandRun status =
                CommandRun.of("status", "--metadata", cluster.layout().metadataServers());
        assertThat(status.exitCode()).as(status.output()).isZero();
        assertThat(status.output())
                .contains("segments (", "wait, the oldest for", "THROTTLED: ")
                // To a HEAD the store says no more than the status line.
                .containsAnyOf("503 SlowDown", "503 Service Unavailable");
    }

    private static String seen(ProcessCluster cluster, AckLog acks, NumberedProducer producer) {
        return report(cluster) + "\n" + acks.count() + " acknowledged, failure " + producer.failure();
    }

    private static OffloadReport report(ProcessCluster cluster) {
        return OffloadReport.of(cluster.view(), System.currentTimeMillis());
    }

    private static long offloaded(MetadataView view) {
        Topic topic = view.topic(TOPIC).orElseThrow();
        long count = 0;
        for (int index = 0; index < PARTITIONS; index++) {
            count += view.partition(new PartitionId(topic.id(), index)).orElseThrow().chain().segments().stream()
                    .filter(SegmentDescriptor::isOffloaded)
                    .count();
        }
        return count;
    }
}
