package io.varve.itest.sim;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.log.PartitionLog.Batch;
import java.nio.ByteBuffer;

/** Record batches whose only content is a number that no other batch has. */
final class SimBatches {

    private static final int NUMBER_AT = RecordBatchHeader.BYTES;
    private static final int CRC_AT = 17;

    private SimBatches() {}

    static Batch batch(
            long number,
            int records,
            int fillBytes,
            long timeMs,
            long producerId,
            short epoch,
            int sequence,
            boolean transactional) {
        int size = RecordBatchHeader.BYTES + Long.BYTES + fillBytes;
        ByteBuffer bytes = ByteBuffer.allocate(size);
        bytes.putLong(0)
                .putInt(size - RecordBatchHeader.LENGTH_PREFIX_BYTES)
                .putInt(-1)
                .put(RecordBatchHeader.MAGIC)
                .putInt(0)
                .putShort((short) (transactional ? 0x10 : 0))
                .putInt(records - 1)
                .putLong(timeMs)
                .putLong(timeMs)
                .putLong(producerId)
                .putShort(epoch)
                .putInt(sequence)
                .putInt(records)
                .putLong(number);
        bytes.clear();
        bytes.putInt(CRC_AT, RecordBatchHeader.checksum(bytes, 0));
        ByteBuf payload = Unpooled.wrappedBuffer(bytes.array());
        return new Batch(payload, records, timeMs, producerId, epoch, sequence, transactional);
    }

    /** Whether compaction leaves a batch with that number out, unless it belongs to a transaction or is its producer's last. */
    static boolean mayBeLeftOut(long number) {
        return number % 3 == 0;
    }

    /** Whether a compaction that meets a batch with that number has no room for more. Among the first it is many, later few: each means one more pass, and a pass may write the whole log anew. */
    static boolean fillsMemory(long number) {
        return number % 23 == 5 && (number < 500 || number % 43 == 7);
    }

    /** Whether compaction left no record of a batch, or of many. */
    static boolean isEmpty(ByteBuffer batch) {
        int at = batch.position();
        return RecordBatchHeader.count(batch, at) == 0 && !RecordBatchHeader.isControl(batch, at);
    }

    /** The number of a data batch. */
    static long numberOf(ByteBuffer batch) {
        return batch.getLong(batch.position() + NUMBER_AT);
    }
}
