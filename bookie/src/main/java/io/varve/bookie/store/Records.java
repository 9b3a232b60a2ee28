package io.varve.bookie.store;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.journal.JournalWriter;
import java.nio.ByteBuffer;

/** The fixed parts of the journal's records, as {@link RecordType} lays them out: written and read side by side. */
final class Records {

    private Records() {}

    static void putPartition(ByteBuffer to, int at, PartitionId partition) {
        to.putLong(at, partition.topic().high())
                .putLong(at + 8, partition.topic().low())
                .putInt(at + 16, partition.index());
    }

    static PartitionId partition(ByteBuffer in, int at) {
        return new PartitionId(new TopicId(in.getLong(at), in.getLong(at + 8)), in.getInt(at + 16));
    }

    static SegmentId segment(ByteBuffer in, int at) {
        return new SegmentId(in.getLong(at));
    }

    static void writeCreate(JournalWriter to, SegmentId segment, PartitionId partition, int epoch, long startOffset) {
        int at = to.begin(RecordType.CREATE, 0);
        ByteBuffer buffer = to.buffer();
        buffer.putLong(at, segment.value());
        putPartition(buffer, at + 8, partition);
        buffer.putInt(at + 28, epoch).putLong(at + 32, startOffset);
        to.end();
    }

    static void writeFence(JournalWriter to, PartitionId partition, int epoch) {
        int at = to.begin(RecordType.FENCE, 0);
        putPartition(to.buffer(), at, partition);
        to.buffer().putInt(at + 20, epoch);
        to.end();
    }

    static void writeSeal(JournalWriter to, SegmentId segment, long endOffset, int epoch) {
        int at = to.begin(RecordType.SEAL, 0);
        to.buffer()
                .putLong(at, segment.value())
                .putLong(at + 8, endOffset)
                .putInt(at + 16, epoch)
                .putInt(at + 20, 0);
        to.end();
    }

    static void writeSegmentOnly(JournalWriter to, RecordType type, SegmentId segment) {
        int at = to.begin(type, 0);
        to.buffer().putLong(at, segment.value());
        to.end();
    }

    static void writeSettled(JournalWriter to, SegmentId segment, Replica.Settled settled) {
        int at = to.begin(RecordType.SETTLED, 0);
        to.buffer().putLong(at, segment.value()).putLong(at + 8, settled.end()).putLong(at + 16, settled.bytes());
        to.end();
    }

    static void writeImport(
            JournalWriter to,
            SegmentId segment,
            PartitionId partition,
            int epoch,
            long startOffset,
            Replica.Settled settled) {
        int at = to.begin(RecordType.IMPORT, 0);
        ByteBuffer buffer = to.buffer();
        buffer.putLong(at, segment.value());
        putPartition(buffer, at + 8, partition);
        buffer.putInt(at + 28, epoch)
                .putLong(at + 32, startOffset)
                .putLong(at + 40, settled.end())
                .putLong(at + 48, settled.bytes());
        to.end();
    }
}
