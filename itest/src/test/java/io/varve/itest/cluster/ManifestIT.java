package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.cli.link.MetadataLink;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * I-8, I-10, I-11 with real processes: chains of many small segments whose old ends live in manifests, read from offset 0 by a stock consumer, across the death of a bookie and of
 * the broker; verified, scrubbed, and shrunk by retention. {@code -Dvarve.manifest.segments} makes it as long as one likes.
 */
class ManifestIT {

    private static final String TOPIC = "layers";
    private static final String PAID = "paid";
    private static final int PARTITIONS = 4;
    private static final int SEGMENTS = Integer.getInteger("varve.manifest.segments", 300);
    private static final int RECORDS_PER_SEGMENT = 16;
    private static final int SEGMENT_BYTES = 16 * 1024;

    /** Slow enough for a roll as soon as a segment is full. */
    private static final int RECORDS_PER_SECOND = 125 * PARTITIONS;

    private static final int MANIFEST_SEGMENTS_MIN = 8;
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void theOldEndsOfChainsLiveInManifestsAndAreReadVerifiedAndDeletedThere() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 1)
                .withMetadata("metadata.manifest.segments.min", Integer.toString(MANIFEST_SEGMENTS_MIN))
                .withMetadata("metadata.offload.delay.ms", "0")
                .withMetadata("metadata.offload.small.bytes", "1")
                .withMetadata("metadata.offload.merge.bytes", Integer.toString(3 * SEGMENT_BYTES)));
        try (MetadataLink link = MetadataLink.open(cluster.layout().metadataNodes(), PATIENCE)) {
            cluster.set(new ConfigResource(ConfigResource.Type.BROKER, ""), "metadata.object.grace.ms", "1000");
            Map<String, String> configs = Map.of(
                    "segment.bytes",
                    Integer.toString(SEGMENT_BYTES),
                    "retention.ms",
                    "-1",
                    "local.retention.ms",
                    "1000");
            cluster.createTopic(TOPIC, PARTITIONS, configs);
            cluster.createTopic(PAID, 1, configs);

            List<String> committed = writeTransactions(cluster);
            AckLog acks = write(cluster);
            awaitManifests(link, TOPIC, SEGMENTS / 2);
            awaitManifests(link, PAID, 10);
            ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE).isExactly(acks);

            try (KafkaConsumer<byte[], byte[]> reader = readerOfTheOldEnd(cluster)) {
                cluster.broker(1).kill();
                Path needed = rootOf(cluster, link);
                Set<String> orphansBefore = orphanSegments(scrub(cluster));
                Path hidden = Files.move(needed, clusters.directory().resolve("hidden"));
                ProcessCluster.awaitReady(cluster.launchBroker(1));
                assertMissingManifestIsTrouble(cluster, orphansBefore);
                Files.move(hidden, needed);
                assertReadsOn(reader, acks);
            }
            ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE).isExactly(acks);
            assertThat(readCommitted(cluster)).isEqualTo(committed);
            assertTimesAreFound(cluster, acks);

            assertVerified(cluster, "described by manifests, ");
            assertNoOrphans(cluster);
            assertSegmentsAreShown(cluster);

            shrink(cluster, link);
            assertVerified(cluster, "described by manifests, ");
            assertNoOrphans(cluster);

            // Nobody can say any longer what this one names.
            Path root = rootOf(cluster, link);
            Files.write(root, new byte[(int) Files.size(root)]);
            List<String> topics = List.of(idOf(link, TOPIC), idOf(link, PAID));
            try (Admin admin = cluster.admin()) {
                admin.deleteTopics(List.of(TOPIC, PAID)).all().get(60, TimeUnit.SECONDS);
            }
            Await.until(
                    "nothing is left in the bucket",
                    PATIENCE,
                    () -> topics.stream()
                            .map(topic -> objects(cluster, topic).keySet())
                            .toList()
                            .toString(),
                    () -> topics.stream()
                            .allMatch(topic -> objects(cluster, topic).isEmpty()));
        }
    }

    /** Writes through the death of a bookie, which comes back. */
    private static AckLog write(ProcessCluster cluster) throws Exception {
        AckLog acks = new AckLog(PARTITIONS);
        long records = (long) SEGMENTS * RECORDS_PER_SEGMENT;
        try (NumberedProducer producer =
                new NumberedProducer(cluster.bootstrap(), TOPIC, 1_000, acks, Duration.ofSeconds(120))) {
            producer.start(1, records, RECORDS_PER_SECOND);
            acks.awaitCount(records / 2, PATIENCE);
            cluster.bookie(2).kill();
            acks.awaitCount(records * 3 / 4, PATIENCE);
            cluster.launchBookie(2);
            producer.done().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            assertThat(producer.failure()).isNull();
            ProcessCluster.awaitReady(cluster.bookie(2));
        }
        return acks;
    }

    /** Every third transaction is aborted; answers what the others wrote. */
    private static List<String> writeTransactions(ProcessCluster cluster) {
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", cluster.bootstrap());
        config.put("transactional.id", "payments");
        List<String> committed = new ArrayList<>();
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            for (int i = 0; i < 40; i++) {
                producer.beginTransaction();
                String value = i + "-" + "x".repeat(SEGMENT_BYTES / 2);
                producer.send(new ProducerRecord<>(PAID, null, value));
                if (i % 3 == 0) {
                    producer.flush();
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                    committed.add(value);
                }
            }
        }
        return committed;
    }

    /** A consumer that has read a little of what an epoch wrote that has long ended. */
    private static KafkaConsumer<byte[], byte[]> readerOfTheOldEnd(ProcessCluster cluster) {
        KafkaConsumer<byte[], byte[]> consumer = consumer(cluster);
        TopicPartition partition = new TopicPartition(TOPIC, 0);
        consumer.assign(List.of(partition));
        consumer.seek(partition, 0);
        Await.until(
                "the first records come",
                PATIENCE,
                () -> !consumer.poll(Duration.ofMillis(200)).isEmpty());
        return consumer;
    }

    private static KafkaConsumer<byte[], byte[]> consumer(ProcessCluster cluster) {
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", cluster.bootstrap());
        config.put("auto.offset.reset", "none");
        config.put("max.poll.records", 10);
        config.put("max.partition.fetch.bytes", SEGMENT_BYTES);
        config.put("default.api.timeout.ms", (int) PATIENCE.toMillis());
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static Path rootOf(ProcessCluster cluster, MetadataLink link) throws IOException {
        String key = partitions(link.client().view(), TOPIC)
                .iterator()
                .next()
                .chain()
                .manifest()
                .orElseThrow()
                .key();
        try (Stream<Path> files = Files.walk(cluster.layout().bucket())) {
            return files.filter(file -> file.endsWith(key)).findFirst().orElseThrow();
        }
    }

    /** I-7: a manifest that isn't there gives no record, skips none, is told by verify and by scrub, and makes nothing an orphan. */
    private static void assertMissingManifestIsTrouble(ProcessCluster cluster, Set<String> orphansBefore)
            throws Exception {
        TopicPartition partition = new TopicPartition(TOPIC, 0);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(cluster)) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, 0);
            // Whether the new owner can serve at all depends: with all that is sealed in the manifest, the log's state
            // is there too.
            assertThat(consumer.poll(Duration.ofSeconds(5)).count()).isZero();
            assertThat(consumer.position(partition)).isZero();
        }
        CommandRun verify = runOnBucket(cluster, "verify", "topic", TOPIC);
        assertThat(verify.output()).contains(TOPIC + "-0: MISSING manifest");
        assertThat(verify.exitCode()).isEqualTo(1);
        // Without a grace, what is being uploaded is an orphan for a moment, and what a bookie that died had uploaded
        // is one
        // for some minutes.
        CommandRun scrub = scrub(cluster);
        long untilNs = System.nanoTime() + PATIENCE.toNanos();
        while (!orphansBefore.containsAll(orphanSegments(scrub))) {
            assertThat(System.nanoTime() - untilNs).as(scrub.output()).isNegative();
            scrub = scrub(cluster);
        }
        assertThat(scrub.output()).contains("WRONG").contains("can't be read");
        assertThat(scrub.exitCode()).isEqualTo(1);
    }

    private static CommandRun scrub(ProcessCluster cluster) {
        return runOnBucket(cluster, "bucket", "scrub", "--grace-hours", "0");
    }

    private static Set<String> orphanSegments(CommandRun scrub) {
        return scrub.output()
                .lines()
                .filter(line -> line.startsWith("orphan: ") && line.contains(".seg ("))
                .collect(Collectors.toSet());
    }

    /** Under the next epoch the consumer asks where the one of its records ended, and goes on where it was. */
    private static void assertReadsOn(KafkaConsumer<byte[], byte[]> consumer, AckLog acks) {
        TopicPartition partition = new TopicPartition(TOPIC, 0);
        long next = consumer.position(partition);
        assertThat(next).isLessThan(acks.end(0) / 2);
        long untilNs = System.nanoTime() + PATIENCE.toNanos();
        while (next < acks.end(0) && System.nanoTime() - untilNs < 0) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                assertThat(record.offset()).isEqualTo(next);
                assertThat(NumberedProducer.record(record.value())).isEqualTo(acks.at(0, next));
                next++;
            }
        }
        assertThat(next).isEqualTo(acks.end(0));
    }

    private static List<String> readCommitted(ProcessCluster cluster) {
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", cluster.bootstrap());
        config.put("isolation.level", "read_committed");
        config.put("default.api.timeout.ms", (int) PATIENCE.toMillis());
        List<String> read = new ArrayList<>();
        TopicPartition partition = new TopicPartition(PAID, 0);
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            long untilNs = System.nanoTime() + PATIENCE.toNanos();
            while (consumer.position(partition) < end && System.nanoTime() - untilNs < 0) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    read.add(record.value());
                }
            }
        }
        return read;
    }

    /** By the time of a record in the manifests its offset is found; and the largest time of all. */
    private static void assertTimesAreFound(ProcessCluster cluster, AckLog acks) throws Exception {
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", cluster.bootstrap());
        config.put("default.api.timeout.ms", (int) PATIENCE.toMillis());
        TopicPartition partition = new TopicPartition(TOPIC, 0);
        long offset = acks.end(0) / 3;
        ConsumerRecord<String, String> record;
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, offset);
            record = consumer.poll(Duration.ofSeconds(60)).iterator().next();
            assertThat(record.offset()).isEqualTo(offset);
            long found = consumer.offsetsForTimes(Map.of(partition, record.timestamp()))
                    .get(partition)
                    .offset();
            assertThat(found).isLessThanOrEqualTo(offset);
            consumer.seek(partition, found);
            ConsumerRecord<String, String> first =
                    consumer.poll(Duration.ofSeconds(60)).iterator().next();
            assertThat(first.offset()).isEqualTo(found);
            assertThat(first.timestamp()).isEqualTo(record.timestamp());
        }
        try (Admin admin = cluster.admin()) {
            ListOffsetsResultInfo newest = admin.listOffsets(Map.of(partition, OffsetSpec.maxTimestamp()))
                    .partitionResult(partition)
                    .get(60, TimeUnit.SECONDS);
            assertThat(newest.timestamp()).isGreaterThan(record.timestamp());
            assertThat(newest.offset()).isGreaterThan(offset);
        }
    }

    private static void awaitManifests(MetadataLink link, String topic, int segments) {
        Await.until(segments + " segments of " + topic + " are in manifests", PATIENCE, () -> seen(link, topic), () -> {
            long described = 0;
            int left = 0;
            for (PartitionState partition : partitions(link.client().view(), topic)) {
                described +=
                        partition.chain().manifest().map(ManifestRef::segments).orElse(0L);
                left = Math.max(left, partition.chain().size());
            }
            return described >= segments && left <= 2 * MANIFEST_SEGMENTS_MIN;
        });
        for (PartitionState partition : partitions(link.client().view(), topic)) {
            long next = partition.chain().manifest().map(ManifestRef::endOffset).orElse(0L);
            for (SegmentDescriptor segment : partition.chain().segments()) {
                assertThat(segment.startOffset()).as("I-8").isEqualTo(next);
                next = segment.endOffset();
            }
        }
    }

    private static Collection<PartitionState> partitions(MetadataView view, String topic) {
        return view.partitions(view.topic(topic).orElseThrow().id());
    }

    private static void assertVerified(ProcessCluster cluster, String line) throws Exception {
        for (String topic : List.of(TOPIC, PAID)) {
            CommandRun verify = runOnBucket(cluster, "verify", "topic", topic, "--deep");
            assertThat(verify.output()).contains(line).contains(" 0 problems");
            assertThat(verify.exitCode()).isZero();
        }
    }

    /** What was superseded goes a moment after its readers; then nothing is left that nobody names. */
    private static void assertNoOrphans(ProcessCluster cluster) throws Exception {
        CommandRun[] scrub = {null};
        Await.until("no orphans", PATIENCE, () -> scrub[0].output(), () -> {
            scrub[0] = scrub(cluster);
            assertThat(scrub[0].output()).doesNotContain("WRONG");
            return scrub[0].exitCode() == 0;
        });
    }

    private static CommandRun run(ProcessCluster cluster, String... words) {
        List<String> arguments = new ArrayList<>(List.of(words));
        arguments.addAll(List.of("--metadata", cluster.layout().metadataServers(), "--timeout-ms", "60000"));
        return CommandRun.of(arguments.toArray(String[]::new));
    }

    private static CommandRun runOnBucket(ProcessCluster cluster, String... words) {
        List<String> arguments = new ArrayList<>(List.of(words));
        arguments.addAll(
                List.of("--set", "tiering.local.dir=" + cluster.layout().bucket()));
        return run(cluster, arguments.toArray(String[]::new));
    }

    private static void assertSegmentsAreShown(ProcessCluster cluster) throws Exception {
        CommandRun table = run(cluster, "segments", TOPIC);
        assertThat(table.output()).contains("manifest").contains(" segments");
        CommandRun json = run(cluster, "segments", TOPIC, "--json");
        assertThat(json.output()).contains("\"tier\"").contains("\"manifest\"").contains(".root");
    }

    private static void shrink(ProcessCluster cluster, MetadataLink link) throws Exception {
        String id = idOf(link, TOPIC);
        long before = bucketBytes(cluster, id);
        long kept = (long) SEGMENTS * SEGMENT_BYTES / PARTITIONS / 5;
        cluster.set(new ConfigResource(ConfigResource.Type.TOPIC, TOPIC), "retention.bytes", Long.toString(kept));
        Await.until(
                "the bucket shrinks from " + before,
                PATIENCE,
                () -> bucketBytes(cluster, id) + ", " + seen(link, TOPIC),
                () -> bucketBytes(cluster, id) < before / 2);
        Await.until(
                "what is kept is near what is asked for",
                PATIENCE,
                () -> seen(link, TOPIC),
                () -> partitions(link.client().view(), TOPIC).stream()
                        .allMatch(partition -> partition.chain().manifest().stream()
                                        .mapToLong(ManifestRef::bytes)
                                        .sum()
                                <= kept * 2));
        for (PartitionState partition : partitions(link.client().view(), TOPIC)) {
            assertThat(partition.logStartOffset()).isPositive();
        }
    }

    private static String seen(MetadataLink link, String topic) {
        MetadataView view = link.client().view();
        return IntStream.range(0, view.topic(topic).orElseThrow().partitions())
                .mapToObj(partition -> ChainText.of(view, topic, partition, segment -> false))
                .collect(Collectors.joining("\n"));
    }

    private static String idOf(MetadataLink link, String topic) {
        return link.client().view().topic(topic).orElseThrow().id().toString();
    }

    private static long bucketBytes(ProcessCluster cluster, String topic) {
        return objects(cluster, topic).values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    /** A topic's segments, roots and leaves, with their lengths. */
    private static Map<Path, Long> objects(ProcessCluster cluster, String topic) {
        Map<Path, Long> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(cluster.layout().bucket())) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                boolean isObject = name.endsWith(".seg") || name.endsWith(".root") || name.endsWith(".leaf");
                if (isObject && file.toString().contains(topic)) {
                    lengthOf(file).ifPresent(length -> found.put(file, length));
                }
            }
        } catch (UncheckedIOException | IOException changing) {
            return Map.of(
                    cluster.layout().bucket(), Long.MAX_VALUE); // Something was deleted under the walk: look again.
        }
        return found;
    }

    private static Optional<Long> lengthOf(Path file) throws IOException {
        try {
            return Optional.of(Files.size(file));
        } catch (NoSuchFileException deleted) {
            return Optional.empty();
        }
    }
}
