package io.varve.cli.bench;

import java.time.Duration;
import java.util.Map;
import java.util.Properties;

/**
 * What is measured, and how.
 *
 * @param bootstrap where the cluster is
 * @param topic made by the bench and, unless it is to be kept, deleted by it
 * @param records how many are written by the produce phase
 * @param valueBytes size of each value, 16 or more
 * @param rate records in a second, 0 for as many as go
 * @param tailRate records in a second of the tail phase
 * @param tail how long the tail phase lasts
 * @param timeout what any wait ends with
 * @param client more configuration for the clients
 */
record BenchOptions(
        String bootstrap,
        String topic,
        int partitions,
        long records,
        int valueBytes,
        long rate,
        long tailRate,
        Duration tail,
        Duration timeout,
        Map<String, String> client) {

    /** Records carry their number and the time they were due. */
    static final int VALUE_BYTES_MIN = 16;

    Properties producerConfig() {
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("acks", "all");
        config.put("enable.idempotence", "true");
        config.put("delivery.timeout.ms", Long.toString(timeout.toMillis()));
        config.put("request.timeout.ms", Long.toString(Math.min(30_000, timeout.toMillis() / 2)));
        config.putAll(client);
        return config;
    }

    Properties consumerConfig() {
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("enable.auto.commit", "false");
        config.put("auto.offset.reset", "none");
        config.putAll(client);
        return config;
    }
}
