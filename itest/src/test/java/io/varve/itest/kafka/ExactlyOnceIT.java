package io.varve.itest.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.itest.cluster.AckLog;
import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.NumberedProducer;
import io.varve.itest.cluster.ProcessCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeProducersResult.PartitionProducerState;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Exactly once under fire: two instances read eight partitions and write eight others, while brokers, and with them the coordinators of the group
 * and of the transactions, are killed one after the other.
 */
class ExactlyOnceIT {

    private static final String IN = "in";
    private static final String OUT = "out";
    private static final int PARTITIONS = 8;
    private static final int VALUE_BYTES = 100;
    private static final int PER_SECOND = 500;
    private static final int TRANSACTION_TIMEOUT_MS = 10_000;
    private static final long SECONDS = Long.getLong("varve.it.fire.seconds", 45);
    private static final long KILL_EVERY_SECONDS = Long.getLong("varve.it.kill.every.seconds", 12);
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void theOutputIsTheInputAndNoTransactionStaysOpen() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 3)
                .withBroker("group.initial.rebalance.delay.ms", "0")
                .withBroker("offsets.topic.num.partitions", "4")
                .withBroker("transaction.state.log.num.partitions", "4")
                .withBroker("transaction.abort.timed.out.transaction.cleanup.interval.ms", "1000"));
        cluster.createTopic(IN, PARTITIONS, Map.of());
        cluster.createTopic(OUT, PARTITIONS, Map.of("segment.bytes", "1048576"));
        AckLog acks = new AckLog(PARTITIONS);
        long count = SECONDS * PER_SECOND;
        try (NumberedProducer producer =
                        new NumberedProducer(cluster.bootstrap(), IN, VALUE_BYTES, acks, Duration.ofMinutes(2));
                Transformer one = transformer("one", cluster).start();
                Transformer two = transformer("two", cluster).start()) {
            producer.start(1, count, PER_SECOND);
            int kills = 0;
            while (!producer.done().isDone()) {
                LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(KILL_EVERY_SECONDS));
                killAndRestart(cluster, 1 + kills++ % 3);
            }
            producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
            assertThat(kills).as("each kill takes a restart's time, too").isGreaterThanOrEqualTo((int)
                    (SECONDS / (KILL_EVERY_SECONDS * 2)));

            List<long[]> read = readCommitted(cluster, count);
            one.stop(PATIENCE);
            two.stop(PATIENCE);
            System.out.println("records=" + count + " kills=" + kills + " begun_again="
                    + (one.begunAgain() + two.begunAgain()) + " read=" + read.size());

            assertThat(read.stream().mapToLong(record -> record[0]).sorted().toArray())
                    .as("the output as a multiset")
                    .isEqualTo(read.stream()
                            .mapToLong(record -> record[0])
                            .distinct()
                            .sorted()
                            .toArray())
                    .isEqualTo(LongStream.rangeClosed(1, count).toArray());
        }
        noTransactionStaysOpen(cluster);
    }

    private static Transformer transformer(String name, ProcessCluster cluster) {
        return new Transformer(name, cluster.bootstrap(), "transformers", IN, OUT, TRANSACTION_TIMEOUT_MS);
    }

    private static void killAndRestart(ProcessCluster cluster, int broker) throws Exception {
        cluster.broker(broker).kill();
        ProcessCluster.awaitReady(cluster.launchBroker(broker));
    }

    /** Reads until there are as many as are expected, and on for a while: there must be no more. */
    private static List<long[]> readCommitted(ProcessCluster cluster, long expected) {
        List<long[]> read = new ArrayList<>();
        List<TopicPartition> partitions = IntStream.range(0, PARTITIONS)
                .mapToObj(index -> new TopicPartition(OUT, index))
                .toList();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers", cluster.bootstrap(),
                        "isolation.level", "read_committed",
                        "enable.auto.commit", "false"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
            int quietPolls = 0;
            while ((read.size() < expected || quietPolls < 10) && System.nanoTime() < deadlineNs) {
                int before = read.size();
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                    read.add(new long[] {NumberedProducer.record(record.value()), record.partition(), record.offset()});
                }
                quietPolls = read.size() == before ? quietPolls + 1 : 0;
            }
        }
        return read;
    }

    private static void noTransactionStaysOpen(ProcessCluster cluster) throws Exception {
        try (Admin admin = cluster.admin()) {
            Duration patience = Duration.ofMillis(TRANSACTION_TIMEOUT_MS * 3L);
            Await.until(
                    "all transactions to have ended",
                    patience,
                    () -> open(admin).toString(),
                    () -> open(admin).isEmpty());
            for (int index = 0; index < PARTITIONS; index++) {
                TopicPartition partition = new TopicPartition(OUT, index);
                PartitionProducerState state = admin.describeProducers(List.of(partition))
                        .partitionResult(partition)
                        .get(60, TimeUnit.SECONDS);
                assertThat(state.activeProducers())
                        .allSatisfy(producer -> assertThat(producer.currentTransactionStartOffset())
                                .isEmpty());
            }
        }
    }

    private static Collection<TransactionListing> open(Admin admin) {
        try {
            return admin.listTransactions().all().get(60, TimeUnit.SECONDS).stream()
                    .filter(listing -> listing.state() != TransactionState.COMPLETE_COMMIT
                            && listing.state() != TransactionState.COMPLETE_ABORT
                            && listing.state() != TransactionState.EMPTY)
                    .toList();
        } catch (Exception e) {
            throw new AssertionError("transactions can't be listed", e);
        }
    }
}
