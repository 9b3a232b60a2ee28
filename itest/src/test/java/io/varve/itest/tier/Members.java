package io.varve.itest.tier;

import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Members of groups that begin where the group has committed, or nowhere, and commit when they are told to. */
final class Members {

    private Members() {}

    /** A new one. The caller closes it. */
    static KafkaConsumer<byte[], byte[]> of(String bootstrap, String group) {
        Map<String, Object> config = Map.of(
                "bootstrap.servers",
                bootstrap,
                "group.id",
                group,
                "enable.auto.commit",
                false,
                "auto.offset.reset",
                "none",
                "default.api.timeout.ms",
                120_000);
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }
}
