package io.varve.itest.clients;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.cli.link.MetadataLink;
import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.ProcessCluster;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.SegmentDescriptor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Kafka Streams counts words exactly once, through a repartition topic and a changelog, while the brokers are killed one after the other, and from a changelog that was compacted.
 */
class StreamsIT {

    private static final int LINES = 4_000;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    static final Clusters CLUSTERS = new Clusters();

    private static ProcessCluster cluster;

    /** What this test's topics and groups begin with: the cluster is the others', too. */
    private String name;

    @BeforeAll
    static void startACluster() throws Exception {
        cluster = CLUSTERS.start(ClusterShape.of(1, 3, 2)
                .withBroker("offsets.topic.num.partitions", "4")
                .withBroker("transaction.state.log.num.partitions", "4")
                .withBroker("log.cleaner.backoff.ms", "100"));
    }

    private void createTopics(String prefix) throws Exception {
        name = prefix;
        cluster.createTopic(in(), 3, Map.of());
        cluster.createTopic(out(), 3, Map.of());
    }

    private String in() {
        return name + "-lines";
    }

    private String out() {
        return name + "-counts";
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "streams"})
    void everyWordIsCountedOnceWhileBrokersAreKilled(String protocol) throws Exception {
        createTopics(protocol);
        try (KafkaStreams streams = new KafkaStreams(wordCount(), config(protocol))) {
            streams.setUncaughtExceptionHandler(failure -> StreamThreadExceptionResponse.REPLACE_THREAD);
            streams.start();
            List<Future<RecordMetadata>> sent = produceWhileBrokersDie();
            for (Future<RecordMetadata> one : sent) {
                one.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            }
            assertThat(lastCounts(LINES)).isEqualTo(countsOf(LINES));
        }
    }

    /** The second instance has nothing but the changelog, of which most is gone. */
    @Test
    void anInstanceGoesOnFromACompactedChangelog() throws Exception {
        createTopics("compacted");
        Properties config = config("classic");
        // An instance of Streams ends without a word to its group: the next one waits for its session to end.
        config.put("session.timeout.ms", "6000");
        config.put("topic.segment.ms", "1000");
        config.put("topic.min.cleanable.dirty.ratio", "0.01");
        count(config, 0, LINES / 2);
        try (MetadataLink link = MetadataLink.open(cluster.layout().metadataNodes(), PATIENCE)) {
            Await.until(
                    "the changelog is compacted",
                    PATIENCE,
                    () -> isCompacted(link, name + "-word-count-counts-changelog"));
        }
        count(config, LINES / 2, LINES);
    }

    /** Counts those lines and ends. */
    private void count(Properties config, int from, int to) throws Exception {
        try (KafkaStreams streams = new KafkaStreams(wordCount(), config);
                KafkaProducer<String, String> producer = new KafkaProducer<>(
                        Map.of("bootstrap.servers", cluster.bootstrap()),
                        new StringSerializer(),
                        new StringSerializer())) {
            streams.start();
            for (int line = from; line < to; line++) {
                producer.send(line(line));
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(3));
            }
            producer.flush();
            assertThat(lastCounts(to)).isEqualTo(countsOf(to));
        }
    }

    private static boolean isCompacted(MetadataLink link, String topic) {
        MetadataView view = link.client().view();
        return view.topic(topic).stream()
                .flatMap(found -> view.partitions(found.id()).stream())
                .flatMap(partition -> partition.chain().segments().stream())
                .anyMatch(SegmentDescriptor::isCompacted);
    }

    private static Map<String, Long> countsOf(int lines) {
        return Map.of("every", (long) lines, "even", lines / 2L, "odd", lines / 2L);
    }

    private ProducerRecord<String, String> line(int line) {
        return new ProducerRecord<>(in(), line % 3, "line-" + line, "every " + (line % 2 == 0 ? "even" : "odd"));
    }

    private Topology wordCount() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(in(), Consumed.with(Serdes.String(), Serdes.String()))
                .flatMapValues(line -> Arrays.asList(line.split(" ")))
                .groupBy((key, word) -> word, Grouped.with(Serdes.String(), Serdes.String()))
                .count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("counts"))
                        .withKeySerde(Serdes.String())
                        .withValueSerde(Serdes.Long()))
                .toStream()
                .to(out(), Produced.with(Serdes.String(), Serdes.Long()));
        return builder.build();
    }

    private Properties config(String protocol) {
        Properties config = new Properties();
        config.putAll(Map.of(
                "bootstrap.servers",
                cluster.bootstrap(),
                "application.id",
                name + "-word-count",
                "processing.guarantee",
                "exactly_once_v2",
                "group.protocol",
                protocol,
                "commit.interval.ms",
                "200",
                "state.dir",
                CLUSTERS.directory().resolve("streams").toString(),
                "reconnect.backoff.max.ms",
                "200"));
        return config;
    }

    /** A line every few milliseconds, and each broker killed once meanwhile. */
    private List<Future<RecordMetadata>> produceWhileBrokersDie() throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", cluster.bootstrap(), "reconnect.backoff.max.ms", "200"),
                new StringSerializer(),
                new StringSerializer())) {
            for (int line = 0; line < LINES; line++) {
                sent.add(producer.send(line(line)));
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(3));
                if (line == LINES / 3 || line == LINES * 2 / 3) {
                    int broker = line == LINES / 3 ? 1 : 2;
                    cluster.broker(broker).kill();
                    ProcessCluster.awaitReady(cluster.launchBroker(broker));
                }
            }
        }
        return sent;
    }

    /** The last count of each word, read until all lines are in it. */
    private Map<String, Long> lastCounts(int lines) {
        Map<String, Long> counts = new TreeMap<>();
        try (KafkaConsumer<String, Long> consumer = new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers", cluster.bootstrap(),
                        "group.id", name + "-reader",
                        "auto.offset.reset", "earliest",
                        "isolation.level", "read_committed",
                        "enable.auto.commit", "false"),
                new StringDeserializer(),
                new LongDeserializer())) {
            consumer.subscribe(Set.of(out()));
            long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
            int quietPolls = 0;
            while ((counts.getOrDefault("every", 0L) < lines || quietPolls < 10) && System.nanoTime() < deadlineNs) {
                boolean any = false;
                for (ConsumerRecord<String, Long> record : consumer.poll(Duration.ofMillis(200))) {
                    any = true;
                    counts.merge(record.key(), record.value(), Math::max);
                }
                quietPolls = any ? 0 : quietPolls + 1;
            }
        }
        return counts;
    }
}
