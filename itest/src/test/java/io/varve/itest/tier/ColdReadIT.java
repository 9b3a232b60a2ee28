package io.varve.itest.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.PartitionId;
import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.ProcessCluster;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.protocol.config.ConfigSchema;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.sim.RecordingFaultHandler;
import io.varve.tiering.client.Tiering;
import io.varve.tiering.client.TieringConfig;
import io.varve.tiering.testing.PlainS3Server;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * More data than bookies keep: it goes through their disks, which stay below a bound, and all of it is read back from offset 0, every byte compared, while a producer goes on at the tail. The store answers as one that is some way off. Its
 * own rate of ranged GETs, as many at a time as the reader had on average, is measured after it.
 */
@Tag("alone")
@EnabledIfSystemProperty(named = "varve.it.cold.mib", matches = "[0-9]{4,}")
class ColdReadIT {

    private static final long TOTAL_BYTES = Integer.getInteger("varve.it.cold.mib", 96) * 1024L * 1024;
    private static final int SEGMENT_BYTES = TOTAL_BYTES > 1L << 30 ? 64 << 20 : 8 << 20;
    private static final long FIRST_BYTE_MS = 15;
    /** Of each answer. What a reader gets is several times that, and on a machine that everything shares it decides how busy the processors are. */
    private static final long BYTES_PER_SECOND = Integer.getInteger("varve.it.cold.answer.mib", 40) * 1024L * 1024;

    /** What the broker may read of the store; 0 for no limit. */
    private static final long BROKER_BYTES_PER_SECOND = Integer.getInteger("varve.it.cold.rate.mib", 0) * 1024L * 1024;

    private static final int RANGE_BYTES = 4 << 20;
    private static final long STORE_BYTES_MAX = 2L << 30;
    private static final int VALUE_BYTES = 8_000;
    /** Code that was never run is slow, and a broker is in use for weeks: so much is read before anything is measured, from the start and as often as it takes. */
    private static final long WARM_RECORDS = Long.getLong("varve.it.cold.warm.mib", 4096) * 1024 * 1024 / VALUE_BYTES;
    /** Times without and with the cold reader take turns, so that what else goes on in the machine meets both. */
    private static final int PARTS = 4;

    private static final int CALM_SECONDS = 40;
    /** Half as much again is the aim, and what a quiet machine shows; one measurement of such a percentile strays by as much. */
    private static final long P99_GROWTH_MAX = 3;

    private static final String COLD = "cold";
    private static final String TAIL = "tail";
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    private final PatternRecords records = new PatternRecords(VALUE_BYTES);
    private final AtomicBoolean done = new AtomicBoolean();

    @Test
    void whatIsFarLargerThanLocalRetentionIsReadBackByteForByteWhileTheTailGoesOn() throws Exception {
        Path objects = clusters.directory().resolve("objects");
        Files.createDirectories(objects);
        TopicPartition partition = new TopicPartition(COLD, 0);
        try (PlainS3Server store = new PlainS3Server(true, Optional.of(objects))) {
            Map<String, String> s3 = store.config();
            ProcessCluster cluster = clusters.start(shape(s3));
            cluster.createTopic(
                    COLD,
                    1,
                    Map.of(
                            "segment.bytes", Integer.toString(SEGMENT_BYTES),
                            "retention.ms", "-1",
                            "local.retention.bytes", "0"));
            cluster.createTopic(TAIL, 4, Map.of());
            long count = TOTAL_BYTES / VALUE_BYTES;
            long diskBytesMax = produce(cluster, count);
            awaitRemote(cluster);

            store.pace(FIRST_BYTE_MS, BYTES_PER_SECOND);
            Measured measured = readBack(cluster, store, partition, count);
            double rate = count * (double) VALUE_BYTES * 1e3 / measured.readNs;
            long withoutMicros = measured.without.p99Micros();
            long besideMicros = measured.beside.p99Micros();
            int ranges = (int) Math.max(1, Math.ceil(measured.rangesAtATime()));
            double storeRate = storeRate(cluster, s3, ranges);
            System.out.printf(
                    "cold: %d MiB, bookies' disks at most %d MiB each, read back at %.0f MB/s with %.1f ranges at a time; the"
                            + " store alone %.0f MB/s with %d ranges of %d MiB at a time (%.2f); tail p99 %.2f ms (%s) without and"
                            + " %.2f ms (%s) with the cold reader (%.1f); %s; %s%n",
                    TOTAL_BYTES >> 20,
                    diskBytesMax >> 20,
                    rate,
                    measured.rangesAtATime(),
                    storeRate,
                    ranges,
                    RANGE_BYTES >> 20,
                    rate / storeRate,
                    withoutMicros / 1000.0,
                    measured.without.p99MsOfParts(),
                    besideMicros / 1000.0,
                    measured.beside.p99MsOfParts(),
                    (double) besideMicros / withoutMicros,
                    measured.whoGivesWay,
                    measured.bill.perGigabyte(count * VALUE_BYTES));
            double possible =
                    BROKER_BYTES_PER_SECOND == 0 ? storeRate : Math.min(storeRate, BROKER_BYTES_PER_SECOND / 1e6);
            assertThat(rate).as("MB/s, of the possible " + possible).isGreaterThan(0.7 * possible);
            assertThat(besideMicros)
                    .as("the tail's p99 beside the cold reader, in µs; without it " + withoutMicros)
                    .isLessThan(P99_GROWTH_MAX * withoutMicros);
        }
    }

    /** What came of reading everything back beside a producer at the tail. */
    private record Measured(
            TailTimes without, TailTimes beside, long readNs, long getNs, CpuBill bill, String whoGivesWay) {

        double rangesAtATime() {
            return (double) getNs / readNs;
        }
    }

    private Measured readBack(ProcessCluster cluster, PlainS3Server store, TopicPartition partition, long count)
            throws Exception {
        TailTimes without = new TailTimes();
        TailTimes beside = new TailTimes();
        CpuBill bill = new CpuBill(cluster);
        long getNs = 0;
        try (TailLoad tail = new TailLoad(cluster.bootstrap(), TAIL, 4, 500, clusters.directory());
                ColdReader reader = new ColdReader(cluster.bootstrap(), partition, records)) {
            String whoGivesWay = Elsewhere.giveWay();
            warm(cluster, tail, partition, count);
            for (int part = 1; part <= PARTS; part++) {
                tail.gather(without, CALM_SECONDS / PARTS, PATIENCE);
                without.endPart();
                long until = count * part / PARTS;
                bill.begin();
                long getBeganNs = store.getNs();
                CompletableFuture<Void> reading = CompletableFuture.runAsync(() -> reader.readUntil(until));
                tail.gather(beside, reading::isDone, PATIENCE);
                beside.endPart();
                reading.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                getNs += store.getNs() - getBeganNs;
                bill.end();
            }
            return new Measured(without, beside, reader.tookNs(), getNs, bill, whoGivesWay);
        }
    }

    private void warm(ProcessCluster cluster, TailLoad tail, TopicPartition partition, long count) throws Exception {
        CompletableFuture<Void> warming = CompletableFuture.runAsync(() -> {
            for (long left = WARM_RECORDS; left > 0; left -= count) {
                try (ColdReader reader = new ColdReader(cluster.bootstrap(), partition, records)) {
                    reader.readUntil(Math.min(left, count));
                }
            }
        });
        tail.gather(new TailTimes(), warming::isDone, PATIENCE);
        warming.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private static ClusterShape shape(Map<String, String> s3) {
        return ClusterShape.of(1, 3, 1)
                .measured()
                .withMetadata("metadata.offload.delay.ms", "100")
                .withMetadata("metadata.offload.small.wait.ms", "1000")
                .withBroker("tiering.cache.bytes", Integer.toString(128 << 20))
                .withBroker("tiering.read.bytes.per.second", Long.toString(BROKER_BYTES_PER_SECOND))
                .withStore(s3);
    }

    /** @return the most that any bookie's disk held */
    private long produce(ProcessCluster cluster, long count) throws Exception {
        AtomicLong most = new AtomicLong();
        Thread watcher = new Thread(() -> {
            while (!done.get()) {
                for (int id = 1; id <= 3; id++) {
                    long bytes = sizeOf(Path.of(cluster.layout().bookie(id).get("bookie.data.dirs")));
                    most.accumulateAndGet(bytes, Math::max);
                }
                LockSupport.parkNanos(200_000_000L);
            }
        });
        watcher.setDaemon(true);
        watcher.start();
        AtomicReference<Exception> failure = new AtomicReference<>();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of(
                        "bootstrap.servers",
                        cluster.bootstrap(),
                        "acks",
                        "all",
                        "batch.size",
                        256 * 1024,
                        "linger.ms",
                        5,
                        "delivery.timeout.ms",
                        600_000,
                        "buffer.memory",
                        32L << 20,
                        "max.block.ms",
                        600_000L),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            for (long number = 0; number < count && failure.get() == null; number++) {
                producer.send(new ProducerRecord<>(COLD, 0, null, records.value(number)), (metadata, exception) -> {
                    if (exception != null) {
                        failure.compareAndSet(null, exception);
                    }
                });
            }
        }
        assertThat(failure.get()).isNull();
        done.set(true);
        watcher.join(10_000);
        return most.get();
    }

    private static long sizeOf(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.mapToLong(ColdReadIT::length).sum();
        } catch (IOException | UncheckedIOException gone) {
            return 0;
        }
    }

    private static long length(Path file) {
        try {
            return Files.isRegularFile(file) ? Files.size(file) : 0;
        } catch (NoSuchFileException deleted) {
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void awaitRemote(ProcessCluster cluster) {
        Await.until(
                "all that is sealed is in the bucket alone",
                PATIENCE,
                () -> chain(cluster).stream()
                        .filter(segment -> segment.state() == SegmentDescriptor.State.SEALED)
                        .allMatch(segment ->
                                segment.isOffloaded() && segment.replicas().isEmpty()));
    }

    private static List<SegmentDescriptor> chain(ProcessCluster cluster) {
        MetadataView view = cluster.view();
        Topic topic = view.topic(COLD).orElseThrow();
        return List.copyOf(view.partition(new PartitionId(topic.id(), 0))
                .orElseThrow()
                .chain()
                .segments());
    }

    /** The store by itself, in MB/s: ranges of the objects in order, some at a time. */
    private static double storeRate(ProcessCluster cluster, Map<String, String> s3, int rangesAtATime) {
        ConfigSchema schema = TieringConfig.addTo(ConfigSchema.of("test")).build();
        TieringConfig config = new TieringConfig(schema.check("test", s3, Map.of(), Map.of()));
        List<ObjectRef> objects = new ArrayList<>(chain(cluster).stream()
                .flatMap(segment -> segment.object().stream())
                .distinct()
                .toList());
        try (Tiering tiering = Tiering.open(
                config,
                "",
                SystemClock.INSTANCE,
                SystemRandomness.INSTANCE,
                new SimpleMeterRegistry(),
                new RecordingFaultHandler())) {
            long startNs = System.nanoTime();
            long bytes = 0;
            ArrayDeque<CompletableFuture<ByteBuffer>> underWay = new ArrayDeque<>();
            for (ObjectRef object : objects) {
                for (long at = 0; at < object.length() && bytes < STORE_BYTES_MAX; at += RANGE_BYTES) {
                    if (underWay.size() == rangesAtATime) {
                        bytes += underWay.poll().join().remaining();
                    }
                    underWay.add(tiering.store()
                            .get(object.key(), at, (int) Math.min(RANGE_BYTES, object.length() - at)));
                }
            }
            while (!underWay.isEmpty()) {
                bytes += underWay.poll().join().remaining();
            }
            return bytes * 1e3 / (System.nanoTime() - startNs);
        }
    }
}
