package io.varve.serving.kafka.runtime;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.serving.coordinator.TransactionCoordinators.Verification;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLog.AppendOptions;
import io.varve.serving.log.PartitionLog.Batch;
import io.varve.serving.log.PartitionLog.Marker;
import io.varve.serving.log.PartitionLog.Started;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.coordinator.common.runtime.PartitionWriter;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/**
 * The log as Kafka's coordinator runtime writes it: offsets at once, the quorum later.
 *
 * <p>The runtime knows a partition by its number only, and may still act on a tenure that has ended. So a tenure is bound to the runtime's
 * context when that loads it, and what the context writes is written in that tenure's name or refused ({@link Tenure}).
 *
 * <p>{@link #append} waits for the partition's loop to assign offsets, which never waits for the quorum. It is called on the runtime's own
 * threads, never on that loop.
 */
public final class LogWriter implements PartitionWriter {

    /** Far beyond any pause of a loop that still works. */
    private static final long ASSIGNMENT_WAIT_MS = 5_000;

    /** From this version on TxnOffsetCommit adds the partition to the transaction itself (KIP-890). */
    private static final int ADDS_ITSELF_SINCE_VERSION = 5;

    private static final int KNOWS_ABORTABLE_SINCE_VERSION = 4;

    private final TenureKeeper keeper;
    private final Verifier verifier;
    private final LogConfig config;
    private final Map<Integer, Tenure> bound = new ConcurrentHashMap<>();

    /** Asks a transaction's coordinator whether this partition is in it. */
    @FunctionalInterface
    public interface Verifier {
        /** Of a log in which nothing is ever part of a transaction. */
        Verifier NO_TRANSACTIONS = (partition, id, producerId, epoch, verification) ->
                CompletableFuture.completedFuture(Errors.INVALID_REQUEST);

        /** NONE, or what to answer to the client. */
        CompletableFuture<Errors> verify(
                TopicPartition partition,
                String transactionalId,
                long producerId,
                short producerEpoch,
                Verification verification);
    }

    /** @param batchBytesMax the largest batch a coordinator may write */
    public LogWriter(TenureKeeper keeper, Verifier verifier, int batchBytesMax) {
        this.keeper = keeper;
        this.verifier = verifier;
        this.config = new LogConfig(Map.of("max.message.bytes", Integer.toString(batchBytesMax)));
    }

    /** Binds the runtime's context of that partition, which is about to load, to its tenure. Null if there is none. */
    Tenure bind(int partition) {
        Tenure tenure = keeper.nextToLoad(partition);
        if (tenure != null) {
            bound.put(partition, tenure);
        }
        return tenure;
    }

    /** The epoch of the log that the runtime's context of that partition was loaded from. */
    public int epochOf(int partition) {
        return bound.get(partition).log().epoch();
    }

    @Override
    public void registerListener(TopicPartition partition, Listener listener) {
        bound.get(partition.partition()).register(listener);
    }

    @Override
    public void deregisterListener(TopicPartition partition, Listener listener) {
        Tenure tenure = bound.get(partition.partition());
        if (tenure != null) {
            tenure.deregister(listener);
        }
    }

    @Override
    public LogConfig config(TopicPartition partition) {
        return config;
    }

    @Override
    public long append(TopicPartition partition, VerificationGuard guard, MemoryRecords records, short txnVersion) {
        Tenure tenure = tenureFor(partition);
        Started started = null;
        List<Batch> data = new ArrayList<>(1);
        for (MutableRecordBatch batch : records.batches()) {
            if (batch.isControlBatch()) {
                tenure.onMarker(batch.producerId());
                started = tenure.log().startMarker(markerIn(batch, txnVersion));
            } else {
                if (batch.isTransactional()) {
                    requireOpen(tenure, batch, guard);
                    tenure.onTransactionalWrite(batch.producerId(), batch.producerEpoch());
                }
                data.add(copyOf(batch));
            }
        }
        if (!data.isEmpty()) {
            started = tenure.log().start(data, AppendOptions.COORDINATOR);
        }
        if (started == null) {
            throw Errors.INVALID_RECORD.exception("nothing to append to " + partition);
        }
        tenure.await(started.acknowledged(), error -> keeper.abandon(tenure, error));
        return endOffsetOf(tenure, started);
    }

    /**
     * The first write of a transaction here is on its coordinator's word that it is open, and that counts only while its end isn't written. If it
     * doesn't, or was given to another tenure, the client is to try again: its coordinator is asked again, and says what is true now.
     */
    private static void requireOpen(Tenure tenure, MutableRecordBatch batch, VerificationGuard guard) {
        if (!tenure.inTransaction(batch.producerId(), batch.producerEpoch())
                && !tenure.guards().holds(batch.producerId(), guard)) {
            throw Errors.NOT_ENOUGH_REPLICAS.exception(
                    "the transaction may have ended since its coordinator was asked");
        }
    }

    private Tenure tenureFor(TopicPartition partition) {
        Tenure tenure = bound.get(partition.partition());
        if (tenure == null || tenure.retired()) {
            throw Errors.NOT_LEADER_OR_FOLLOWER.exception();
        }
        return tenure;
    }

    private long endOffsetOf(Tenure tenure, Started started) {
        try {
            PartitionLog.Assigned assigned = started.assigned().get(ASSIGNMENT_WAIT_MS, TimeUnit.MILLISECONDS);
            if (assigned.error() != LogError.NONE) {
                throw LogErrors.exceptionOf(assigned.error());
            }
            if (!tenure.onWritten(assigned.endOffset())) {
                throw repeated(tenure, assigned.endOffset());
            }
            return assigned.endOffset();
        } catch (TimeoutException | ExecutionException e) {
            keeper.abandon(tenure, LogError.TIMED_OUT);
            throw Errors.NOT_LEADER_OR_FOLLOWER.exception();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            keeper.abandon(tenure, LogError.TIMED_OUT);
            throw Errors.NOT_LEADER_OR_FOLLOWER.exception();
        }
    }

    /**
     * The log found that a marker is a repeat of one that it has, and wrote nothing; the runtime would take that for a broken log. Whoever
     * sends the marker may stop only once that one is durable.
     */
    private static RuntimeException repeated(Tenure tenure, long endOffset) {
        boolean durable = tenure.log().offsets().highWatermark() >= endOffset;
        return durable
                ? Errors.INVALID_PRODUCER_EPOCH.exception("that transaction has ended")
                : Errors.NOT_ENOUGH_REPLICAS.exception("the end of that transaction is not acknowledged yet");
    }

    /** The runtime uses its buffer again as soon as {@link #append} returns. */
    private static Batch copyOf(MutableRecordBatch batch) {
        ByteBuffer copy = ByteBuffer.allocate(batch.sizeInBytes());
        batch.writeTo(copy);
        ByteBuf payload = Unpooled.wrappedBuffer(copy.flip());
        return new Batch(
                payload,
                batch.countOrNull(),
                batch.maxTimestamp(),
                batch.producerId(),
                batch.producerEpoch(),
                batch.baseSequence(),
                batch.isTransactional());
    }

    private static Marker markerIn(MutableRecordBatch batch, short txnVersion) {
        Record record = batch.iterator().next();
        EndTransactionMarker marker = EndTransactionMarker.deserialize(record);
        return new Marker(
                batch.producerId(),
                batch.producerEpoch(),
                marker.coordinatorEpoch(),
                marker.controlType() == ControlRecordType.COMMIT,
                txnVersion);
    }

    @Override
    public CompletableFuture<VerificationGuard> maybeStartTransactionVerification(
            TopicPartition partition, String transactionalId, long producerId, short producerEpoch, int apiVersion) {
        Tenure tenure = bound.get(partition.partition());
        if (tenure != null && tenure.inTransaction(producerId, producerEpoch)) {
            return CompletableFuture.completedFuture(VerificationGuard.SENTINEL);
        }
        if (tenure == null) {
            return CompletableFuture.failedFuture(Errors.NOT_LEADER_OR_FOLLOWER.exception());
        }
        VerificationGuard guard = tenure.guards().begin(producerId);
        return verifier.verify(partition, transactionalId, producerId, producerEpoch, verificationBy(apiVersion))
                .thenApply(error -> {
                    if (error != Errors.NONE) {
                        throw error.exception();
                    }
                    return guard;
                });
    }

    private static Verification verificationBy(int txnOffsetCommitVersion) {
        if (txnOffsetCommitVersion >= ADDS_ITSELF_SINCE_VERSION) {
            return Verification.ADD;
        }
        return txnOffsetCommitVersion >= KNOWS_ABORTABLE_SINCE_VERSION
                ? Verification.VERIFY
                : Verification.VERIFY_FOR_OLD_CLIENT;
    }

    @Override
    public CompletableFuture<Void> deleteRecords(TopicPartition partition, long beforeOffset) {
        return tenureFor(partition).log().deleteRecords(beforeOffset).thenAccept(result -> {
            if (result.error() != LogError.NONE) {
                throw LogErrors.exceptionOf(result.error());
            }
        });
    }
}
