package io.varve.itest.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.varve.cli.report.OffloadReport;
import io.varve.itest.cluster.AckLog;
import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.NumberedProducer;
import io.varve.itest.cluster.ProcessCluster;
import io.varve.itest.cluster.ReadBack;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieInfo;
import io.varve.tiering.testing.PlainS3Server;
import io.varve.tiering.testing.PlainS3Server.Trouble;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * S25: the object store is away until the disks of bookies are full. Then producers wait, groups and transactions go on, also after the broker was killed, and when the store is back everything drains by
 * itself.
 */
class FullDisksIT {

    private static final String TOPIC = "flood";
    private static final int PARTITIONS = 2;
    private static final int ACKS = 2;
    private static final int VALUE_BYTES = 8_000;
    private static final long DISK_BYTES = 256L << 20;
    private static final long RESERVE_BYTES = 48L << 20;
    private static final long COMMIT_MS_MAX = 20_000;
    private static final int COMMITS = 30;
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void whenAllDisksAreFullTheClusterItselfGoesOnAndWhenTheStoreIsBackAllOfItDrains() throws Exception {
        assumeTrue(SmallDisks.areThere(clusters.directory()), "mounting file systems is not allowed here");
        try (PlainS3Server store = new PlainS3Server(true);
                SmallDisks disks = new SmallDisks()) {
            ProcessCluster cluster = clusters.prepare(shape(store));
            for (int id = 1; id <= 3; id++) {
                disks.mount(Path.of(cluster.layout().bookie(id).get("bookie.data.dirs")), DISK_BYTES);
            }
            try {
                cluster.startAll();
                run(cluster, store);
            } finally {
                cluster.killAll();
            }
        }
    }

    private void run(ProcessCluster cluster, PlainS3Server store) throws Exception {
        cluster.createTopic(
                TOPIC,
                PARTITIONS,
                Map.of("segment.bytes", "1048576", "retention.ms", "-1", "local.retention.bytes", "0"));
        goOn(cluster, 1);
        AckLog acks = new AckLog(PARTITIONS);
        try (NumberedProducer producer =
                new NumberedProducer(cluster.bootstrap(), TOPIC, VALUE_BYTES, acks, PATIENCE.multipliedBy(2))) {
            store.always(new Trouble.Answer(503, "SlowDown"));
            producer.start(1, Long.MAX_VALUE, 0);
            Await.until(
                    "too many bookies are full", PATIENCE, () -> seen(cluster, acks), () -> areTooManyFull(cluster));
            long acknowledged = acks.count();
            goOn(cluster, COMMITS);
            cluster.broker(1).kill();
            ProcessCluster.awaitReady(cluster.launchBroker(1));
            goOn(cluster, COMMITS);
            assertThat(areTooManyFull(cluster)).as("still full").isTrue();
            System.out.printf("full disks: %d records acknowledged until too many were full%n", acknowledged);

            store.mend();
            Await.until("there is room again", PATIENCE, () -> seen(cluster, acks), () -> !areTooManyFull(cluster));
            Await.until(
                    "the producer goes on",
                    PATIENCE,
                    () -> seen(cluster, acks),
                    () -> acks.count() > acknowledged + 5_000);
            producer.stop();
            producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
        }
        ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE).isExactly(acks);
    }

    /** Groups commit, by themselves and in transactions. */
    private static void goOn(ProcessCluster cluster, int times) {
        TopicPartition partition = new TopicPartition(TOPIC, 0);
        try (KafkaConsumer<byte[], byte[]> member = new KafkaConsumer<>(
                        Map.of(
                                "bootstrap.servers",
                                cluster.bootstrap(),
                                "group.id",
                                "alone",
                                "enable.auto.commit",
                                false),
                        new ByteArrayDeserializer(),
                        new ByteArrayDeserializer());
                KafkaProducer<byte[], byte[]> transactions = new KafkaProducer<>(
                        Map.of("bootstrap.servers", cluster.bootstrap(), "transactional.id", "mover"),
                        new ByteArraySerializer(),
                        new ByteArraySerializer())) {
            member.assign(List.of(partition));
            transactions.initTransactions();
            for (int i = 1; i <= times; i++) {
                long startNs = System.nanoTime();
                Map<TopicPartition, OffsetAndMetadata> offsets = Map.of(partition, new OffsetAndMetadata(i));
                member.commitSync(offsets, PATIENCE);
                transactions.beginTransaction();
                transactions.sendOffsetsToTransaction(offsets, member.groupMetadata());
                transactions.commitTransaction();
                assertThat((System.nanoTime() - startNs) / 1_000_000)
                        .as("ms for a commit and a transaction")
                        .isLessThan(COMMIT_MS_MAX);
            }
        }
    }

    /** Whether fewer bookies take writes than must hold each entry: one that was slow has room left when the others are full. */
    private static boolean areTooManyFull(ProcessCluster cluster) {
        return cluster.view().bookies().stream()
                        .filter(bookie -> bookie.state() != BookieInfo.State.READ_ONLY)
                        .count()
                < ACKS;
    }

    private static String seen(ProcessCluster cluster, AckLog acks) {
        MetadataView view = cluster.view();
        OffloadReport waiting = OffloadReport.of(view, System.currentTimeMillis());
        return acks.count() + " acknowledged, bookies " + view.bookies() + ", " + waiting;
    }

    private static ClusterShape shape(PlainS3Server store) {
        return ClusterShape.of(1, 3, 1)
                .withMetadata("metadata.offload.delay.ms", "100")
                .withMetadata("metadata.offload.small.wait.ms", "1000")
                .withBookie("bookie.journal.file.bytes", Long.toString(8L << 20))
                .withBookie("bookie.entry.bytes.max", Long.toString(2L << 20))
                .withBookie("bookie.settle.backlog.bytes.max", Long.toString(32L << 20))
                .withBookie("bookie.disk.reserve.bytes", Long.toString(RESERVE_BYTES))
                .withBookie("bookie.disk.relieve.bytes", Long.toString(2 * RESERVE_BYTES))
                .withStore(StoreOutageIT.s3(store));
    }
}
