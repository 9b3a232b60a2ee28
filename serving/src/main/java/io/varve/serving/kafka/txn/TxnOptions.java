package io.varve.serving.kafka.txn;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;

/**
 * The settings of transactions, by Kafka's names and defaults.
 *
 * @param timeoutMaxMs {@code transaction.max.timeout.ms}
 * @param idRetentionMs {@code transactional.id.expiration.ms}
 * @param abortIntervalMs {@code transaction.abort.timed.out.transaction.cleanup.interval.ms}
 * @param expireIntervalMs {@code transaction.remove.expired.transaction.cleanup.interval.ms}
 */
public record TxnOptions(int timeoutMaxMs, long idRetentionMs, long abortIntervalMs, long expireIntervalMs) {

    private static final String TIMEOUT_MAX = "transaction.max.timeout.ms";
    private static final String ID_RETENTION = "transactional.id.expiration.ms";
    private static final String ABORT_INTERVAL = "transaction.abort.timed.out.transaction.cleanup.interval.ms";
    private static final String EXPIRE_INTERVAL = "transaction.remove.expired.transaction.cleanup.interval.ms";

    private static final ConfigDef SCHEMA = new ConfigDef()
            .define(TIMEOUT_MAX, ConfigDef.Type.INT, 900_000, ConfigDef.Range.atLeast(1), ConfigDef.Importance.HIGH, "")
            .define(
                    ID_RETENTION,
                    ConfigDef.Type.INT,
                    604_800_000,
                    ConfigDef.Range.atLeast(1),
                    ConfigDef.Importance.HIGH,
                    "")
            .define(
                    ABORT_INTERVAL,
                    ConfigDef.Type.INT,
                    10_000,
                    ConfigDef.Range.atLeast(1),
                    ConfigDef.Importance.LOW,
                    "")
            .define(
                    EXPIRE_INTERVAL,
                    ConfigDef.Type.INT,
                    3_600_000,
                    ConfigDef.Range.atLeast(1),
                    ConfigDef.Importance.LOW,
                    "");

    /** What {@code kafka} says, and Kafka's defaults for the rest. Other keys are ignored. */
    public static TxnOptions of(Map<String, String> kafka) {
        Map<String, Object> parsed = SCHEMA.parse(kafka);
        return new TxnOptions(
                (int) parsed.get(TIMEOUT_MAX), (int) parsed.get(ID_RETENTION), (int) parsed.get(ABORT_INTERVAL), (int)
                        parsed.get(EXPIRE_INTERVAL));
    }
}
