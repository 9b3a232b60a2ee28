package io.varve.serving.kafka.runtime;

import java.util.Map;

/**
 * What coordinators can be told.
 *
 * @param brokerId {@code node.id}
 * @param kafka the settings of Kafka's coordinators that were given, by Kafka's names: {@code group.*}, {@code offsets.*}, {@code
 *     transaction.*}. What isn't given has Kafka's default
 * @param offsetsPartitions how many partitions {@code __consumer_offsets} gets when this broker is the one that creates it
 * @param transactionPartitions the same for {@code __transaction_state}
 * @param sharePartitions the same for {@code __share_group_state}
 * @param batchBytesMax the largest batch a coordinator writes
 */
public record CoordinatorOptions(
        int brokerId,
        Map<String, String> kafka,
        int offsetsPartitions,
        int transactionPartitions,
        int sharePartitions,
        int batchBytesMax) {

    /** Kafka's defaults. */
    public static CoordinatorOptions defaults(int brokerId) {
        return new CoordinatorOptions(brokerId, Map.of(), 50, 50, 50, 1 << 20);
    }

    public CoordinatorOptions {
        kafka = Map.copyOf(kafka);
    }
}
