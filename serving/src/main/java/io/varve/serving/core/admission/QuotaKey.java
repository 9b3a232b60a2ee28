package io.varve.serving.core.admission;

import java.util.Optional;

/** What a client is limited in, by Kafka's names. */
public enum QuotaKey {
    /** Bytes of Produce requests per second. */
    PRODUCER_BYTE_RATE("producer_byte_rate"),
    /** Bytes of Fetch answers per second. */
    CONSUMER_BYTE_RATE("consumer_byte_rate"),
    /** Time of the broker's threads, as a percentage of one thread. */
    REQUEST_PERCENTAGE("request_percentage"),
    /** Partitions made and deleted per second (KIP-599). */
    CONTROLLER_MUTATION_RATE("controller_mutation_rate"),
    /** Connections made per second, from one address (KIP-612). */
    CONNECTION_CREATION_RATE("connection_creation_rate");

    private final String kafkaName;

    QuotaKey(String kafkaName) {
        this.kafkaName = kafkaName;
    }

    /** Kafka's name. */
    public String kafkaName() {
        return kafkaName;
    }

    /** Whether it limits an address, rather than a user or a client id. */
    public boolean ofAddress() {
        return this == CONNECTION_CREATION_RATE;
    }

    /** The one of that name. */
    public static Optional<QuotaKey> of(String kafkaName) {
        for (QuotaKey key : values()) {
            if (key.kafkaName.equals(kafkaName)) {
                return Optional.of(key);
            }
        }
        return Optional.empty();
    }
}
