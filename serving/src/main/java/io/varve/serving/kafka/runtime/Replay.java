package io.varve.serving.kafka.runtime;

import java.nio.ByteBuffer;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.coordinator.common.runtime.CoordinatorPlayback;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.Deserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies batches to a coordinator's state. The playback keeps a snapshot for every written offset that isn't committed, so up to the high
 * watermark only one is made, at its end. One thread at a time.
 */
final class Replay {

    private static final Logger LOG = LoggerFactory.getLogger(Replay.class);

    private final Tenure tenure;
    private final CoordinatorPlayback<CoordinatorRecord> playback;
    private final Deserializer<CoordinatorRecord> deserializer;
    private final long highWatermark;

    private long written;
    private long records;
    private long bytes;

    Replay(
            Tenure tenure,
            CoordinatorPlayback<CoordinatorRecord> playback,
            Deserializer<CoordinatorRecord> deserializer,
            long highWatermark) {
        this.tenure = tenure;
        this.playback = playback;
        this.deserializer = deserializer;
        this.highWatermark = highWatermark;
    }

    long records() {
        return records;
    }

    long bytes() {
        return bytes;
    }

    /**
     * Applies the batches in {@code bytes} but what lies below {@code position}.
     *
     * @return the offset after them
     */
    long batch(ByteBuffer bytes, long position) {
        long next = position;
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(bytes).batches()) {
            if (batch.lastOffset() < position) {
                continue;
            }
            if (batch.isControlBatch()) {
                marker(batch);
            } else {
                data(batch, position);
            }
            this.bytes += batch.sizeInBytes();
            next = batch.nextOffset();
            if (next >= highWatermark) {
                onWritten(next);
            }
        }
        return next;
    }

    /**
     * All up to {@code endOffset} was applied. The high watermark that is heard of next says how much of it is committed.
     */
    void finish(long endOffset) {
        onWritten(endOffset);
        tenure.onWritten(endOffset);
    }

    private void onWritten(long endOffset) {
        if (endOffset > written) {
            written = endOffset;
            playback.updateLastWrittenOffset(endOffset);
            playback.updateLastCommittedOffset(Math.min(endOffset, highWatermark));
        }
    }

    private void marker(MutableRecordBatch batch) {
        for (Record record : batch) {
            ControlRecordType type = ControlRecordType.parse(record.key());
            if (type == ControlRecordType.COMMIT || type == ControlRecordType.ABORT) {
                playback.replayEndTransactionMarker(
                        batch.producerId(),
                        batch.producerEpoch(),
                        type == ControlRecordType.COMMIT ? TransactionResult.COMMIT : TransactionResult.ABORT);
                tenure.onMarker(batch.producerId());
            }
            records++;
        }
    }

    private void data(MutableRecordBatch batch, long position) {
        if (batch.isTransactional()) {
            tenure.onTransactionalWrite(batch.producerId(), batch.producerEpoch());
        }
        for (Record record : batch) {
            if (record.offset() < position) {
                continue;
            }
            records++;
            try {
                CoordinatorRecord decoded = deserializer.deserialize(record.key(), record.value());
                playback.replay(record.offset(), batch.producerId(), batch.producerEpoch(), decoded);
            } catch (Deserializer.UnknownRecordTypeException e) {
                // Written by a newer release, before a downgrade.
                LOG.warn(
                        "event=unknown_record partition={} offset={} type={}",
                        tenure.name(),
                        record.offset(),
                        e.unknownType());
            }
        }
    }
}
