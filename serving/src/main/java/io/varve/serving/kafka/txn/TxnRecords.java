package io.varve.serving.kafka.txn;

import io.varve.serving.core.txn.Txn;
import io.varve.serving.core.txn.TxnPartition;
import io.varve.serving.core.txn.TxnStatus;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.transaction.generated.TransactionLogKey;
import org.apache.kafka.coordinator.transaction.generated.TransactionLogValue;
import org.apache.kafka.coordinator.transaction.generated.TransactionLogValue.PartitionsSchema;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/**
 * Transactions in the records of {@code __transaction_state}: Kafka's format, with one tagged field of ours. Kafka keeps the epoch before
 * the last bump in memory alone, so that there a producer's repeated InitProducerId is fenced if the coordinator moved in between. Readers
 * that don't know the tag skip it.
 */
final class TxnRecords {

    /** Flexible: it can carry tags. */
    private static final short VALUE_VERSION = 1;

    /** Two bytes: {@link Txn#lastEpoch()}. Far from the tags that Kafka gives out, which are small. */
    private static final int LAST_EPOCH_TAG = 0x5641;

    private TxnRecords() {}

    /** The record that says {@code txn}. */
    static CoordinatorRecord record(Txn txn) {
        return CoordinatorRecord.record(key(txn.id()), new ApiMessageAndVersion(value(txn), VALUE_VERSION));
    }

    /** The record that says that {@code id} is forgotten. */
    static CoordinatorRecord tombstone(String id) {
        return CoordinatorRecord.tombstone(key(id));
    }

    private static TransactionLogKey key(String id) {
        return new TransactionLogKey().setTransactionalId(id);
    }

    private static TransactionLogValue value(Txn txn) {
        TransactionLogValue value = new TransactionLogValue()
                .setProducerId(txn.producerId())
                .setPreviousProducerId(txn.previousProducerId())
                .setNextProducerId(txn.nextProducerId())
                .setProducerEpoch(txn.epoch())
                .setTransactionTimeoutMs(txn.timeoutMs())
                .setTransactionStatus(txn.status().id())
                .setTransactionPartitions(partitions(txn))
                .setTransactionStartTimestampMs(txn.startMs())
                .setTransactionLastUpdateTimestampMs(txn.updateMs())
                .setClientTransactionVersion(txn.version());
        if (txn.lastEpoch() != Txn.NO_EPOCH) {
            byte[] epoch =
                    ByteBuffer.allocate(Short.BYTES).putShort(txn.lastEpoch()).array();
            value.unknownTaggedFields().add(new RawTaggedField(LAST_EPOCH_TAG, epoch));
        }
        return value;
    }

    private static List<PartitionsSchema> partitions(Txn txn) {
        if (txn.status() == TxnStatus.EMPTY) {
            return null; // as Kafka writes it
        }
        List<PartitionsSchema> topics = new ArrayList<>();
        PartitionsSchema last = null;
        for (TxnPartition partition : txn.partitions()) {
            if (last == null || !last.topic().equals(partition.topic())) {
                last = new PartitionsSchema().setTopic(partition.topic()).setPartitionIds(new ArrayList<>());
                topics.add(last);
            }
            last.partitionIds().add(partition.index());
        }
        return topics;
    }

    /** What the record says of the id in its key. */
    static Txn read(String id, TransactionLogValue value) {
        TreeSet<TxnPartition> partitions = new TreeSet<>();
        if (value.transactionPartitions() != null) {
            for (PartitionsSchema topic : value.transactionPartitions()) {
                topic.partitionIds().forEach(index -> partitions.add(new TxnPartition(topic.topic(), index)));
            }
        }
        return new Txn(
                id,
                value.producerId(),
                value.previousProducerId(),
                value.nextProducerId(),
                value.producerEpoch(),
                lastEpochIn(value),
                value.transactionTimeoutMs(),
                TxnStatus.of(value.transactionStatus()),
                partitions,
                value.transactionStartTimestampMs(),
                value.transactionLastUpdateTimestampMs(),
                value.clientTransactionVersion());
    }

    private static short lastEpochIn(TransactionLogValue value) {
        for (RawTaggedField field : value.unknownTaggedFields()) {
            if (field.tag() == LAST_EPOCH_TAG && field.size() == Short.BYTES) {
                return ByteBuffer.wrap(field.data()).getShort();
            }
        }
        return Txn.NO_EPOCH;
    }
}
