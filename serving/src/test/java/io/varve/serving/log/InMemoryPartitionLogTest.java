package io.varve.serving.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.serving.log.PartitionLog.AppendOptions;
import io.varve.serving.log.PartitionLog.Batch;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.Marker;
import io.varve.serving.log.PartitionLog.ReadResult;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.Test;

/** The twin keeps what the port promises, so that tests on it mean something. */
class InMemoryPartitionLogTest {

    private static final PartitionId PARTITION = new PartitionId(new TopicId(1, 2), 0);

    private final InMemoryPartitionLogs logs = new InMemoryPartitionLogs();
    private final InMemoryPartitionLog log = logs.serve(PARTITION);

    @Test
    void offsetsComeAtOnceAndTheAcknowledgementLater() {
        log.holdAcks();

        PartitionLog.Started started = log.start(List.of(batch(-1, -1, 3, false)), AppendOptions.CLIENT);

        assertThat(started.assigned().join()).isEqualTo(new PartitionLog.Assigned(LogError.NONE, 0, 3));
        assertThat(started.acknowledged()).isNotDone();
        assertThat(log.offsets().highWatermark()).isZero();
        log.releaseAcks();
        assertThat(started.acknowledged().join().lastOffset()).isEqualTo(2);
        assertThat(log.offsets().highWatermark()).isEqualTo(3);
    }

    @Test
    void aRepeatIsAnsweredWithItsFirstOffsets() {
        append(batch(7, 0, 2, false));
        append(batch(7, 2, 2, false));

        assertThat(append(batch(7, 0, 2, false)).baseOffset()).isZero();
        assertThat(append(batch(7, 6, 1, false)).error()).isEqualTo(LogError.OUT_OF_ORDER_SEQUENCE);
        assertThat(log.offsets().end()).isEqualTo(4);
    }

    @Test
    void anOpenTransactionHoldsTheLastStableOffsetUntilItsMarker() {
        append(batch(7, 0, 2, true));
        append(batch(-1, -1, 1, false));
        assertThat(log.offsets().lastStable()).isZero();

        log.appendMarker(new Marker(7, (short) 0, 3, false, (short) 1)).join();

        assertThat(log.offsets().lastStable()).isEqualTo(4);
        ReadResult read = log.read(0, 1000, true, Isolation.READ_COMMITTED).join();
        assertThat(read.aborted()).containsExactly(new PartitionLog.AbortedTxn(7, 0));
        MutableRecordBatch marker = parse(read.batches().get(2).nioBuffer());
        marker.ensureValid();
        assertThat(EndTransactionMarker.deserialize(marker.iterator().next()))
                .isEqualTo(new EndTransactionMarker(ControlRecordType.ABORT, 3));
        read.release();
    }

    @Test
    void theNextTenureHasWhatWasAcknowledgedAndNothingElse() {
        append(batch(7, 0, 2, false));
        log.holdAcks();
        PartitionLog.Started lost = log.start(List.of(batch(7, 2, 2, false)), AppendOptions.CLIENT);

        logs.lose(PARTITION);
        InMemoryPartitionLog next = logs.serve(PARTITION);

        assertThat(lost.acknowledged().join().error()).isEqualTo(LogError.NOT_OWNER);
        assertThat(next.epoch()).isEqualTo(1);
        assertThat(next.offsets().end()).isEqualTo(2);
        assertThat(next.append(List.of(batch(7, 2, 1, false)), AppendOptions.CLIENT)
                        .join()
                        .baseOffset())
                .isEqualTo(2);
        assertThat(next.endOffsetForEpoch(0).join().endOffset()).isEqualTo(2);
    }

    private PartitionLog.AppendResult append(Batch batch) {
        return log.append(List.of(batch), AppendOptions.CLIENT).join();
    }

    private static MutableRecordBatch parse(ByteBuffer bytes) {
        return MemoryRecords.readableRecords(bytes).batchIterator().next();
    }

    private static Batch batch(long producerId, int sequence, int count, boolean transactional) {
        SimpleRecord[] records = new SimpleRecord[count];
        for (int i = 0; i < count; i++) {
            records[i] = new SimpleRecord(10 + i, "k".getBytes(), "v".getBytes());
        }
        MemoryRecords batch = transactional
                ? MemoryRecords.withTransactionalRecords(Compression.NONE, producerId, (short) 0, sequence, records)
                : MemoryRecords.withIdempotentRecords(Compression.NONE, producerId, (short) 0, sequence, records);
        return new Batch(
                Unpooled.wrappedBuffer(batch.buffer().duplicate()),
                count,
                10 + count - 1,
                producerId,
                (short) 0,
                sequence,
                transactional);
    }
}
