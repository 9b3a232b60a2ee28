package io.varve.cli.bench;

import io.varve.cli.text.Progress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;

/** The topic that is measured: made, watched on its way to object storage, and deleted. */
final class BenchTopic {

    private static final Duration SETTLED_FOR = Duration.ofSeconds(10);

    private final Admin admin;
    private final BenchOptions options;

    BenchTopic(Admin admin, BenchOptions options) {
        this.admin = admin;
        this.options = options;
    }

    void create(short replicationFactor, boolean cold) {
        Map<String, String> configs = new TreeMap<>();
        if (cold) {
            configs.put("remote.storage.enable", "true");
            configs.put("segment.bytes", Integer.toString(8 * 1024 * 1024));
            configs.put("local.retention.ms", "1000");
        }
        await(admin.createTopics(List.of(
                        new NewTopic(options.topic(), options.partitions(), replicationFactor).configs(configs)))
                .all());
    }

    void delete() {
        await(admin.deleteTopics(List.of(options.topic())).all());
    }

    /**
     * Waits until the start of what is kept locally has stopped moving up.
     *
     * @return how much lies below it, in percent of all records
     */
    long awaitCold() {
        long end = sum(offsets(OffsetSpec.latest()));
        long local = sum(offsets(OffsetSpec.earliestLocal()));
        long changedNs = System.nanoTime();
        long deadlineNs = changedNs + options.timeout().toNanos();
        try (Progress progress = Progress.of("offload", OptionalLong.of(end))) {
            while (System.nanoTime() - changedNs < SETTLED_FOR.toNanos() || local == 0) {
                if (System.nanoTime() - deadlineNs > 0) {
                    throw new BenchFailure(
                            "local copies go down to offset " + local + " of " + end
                                    + " in all, and didn't stop moving",
                            null);
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(500));
                long now = sum(offsets(OffsetSpec.earliestLocal()));
                if (now != local) {
                    local = now;
                    changedNs = System.nanoTime();
                }
                progress.to(local);
            }
        }
        return end == 0 ? 0 : 100 * local / end;
    }

    private Map<TopicPartition, Long> offsets(OffsetSpec spec) {
        Map<TopicPartition, OffsetSpec> asked = IntStream.range(0, options.partitions())
                .boxed()
                .collect(Collectors.toMap(index -> new TopicPartition(options.topic(), index), index -> spec));
        Map<TopicPartition, Long> offsets = new LinkedHashMap<>();
        await(admin.listOffsets(asked).all()).forEach((partition, info) -> offsets.put(partition, info.offset()));
        return offsets;
    }

    private static long sum(Map<TopicPartition, Long> offsets) {
        return offsets.values().stream()
                .mapToLong(offset -> Math.max(0, offset))
                .sum();
    }

    private <T> T await(KafkaFuture<T> future) {
        try {
            return future.get(options.timeout().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw new BenchFailure(String.valueOf(e.getCause().getMessage()), e.getCause());
        } catch (TimeoutException e) {
            throw new BenchFailure("no answer from " + options.bootstrap() + " within " + options.timeout(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted", e);
        }
    }
}
