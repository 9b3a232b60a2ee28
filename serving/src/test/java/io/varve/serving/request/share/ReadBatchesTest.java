package io.varve.serving.request.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.core.share.Acquired;
import io.varve.serving.core.share.Deliveries;
import io.varve.serving.core.share.ShareLimits;
import io.varve.serving.core.share.Span;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog.Offsets;
import io.varve.serving.log.PartitionLog.ReadResult;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.Test;

class ReadBatchesTest {

    private static final Offsets OFFSETS = new Offsets(0, 0, 100, 100, 100);

    private static ByteBuf data(long baseOffset, int records) {
        SimpleRecord[] all = new SimpleRecord[records];
        for (int i = 0; i < records; i++) {
            all[i] = new SimpleRecord(1, new byte[] {(byte) i}, new byte[] {1});
        }
        ByteBuffer batch =
                MemoryRecords.withRecords(Compression.NONE, all).buffer().duplicate();
        RecordBatchHeader.setBaseOffset(batch, batch.position(), baseOffset);
        return Unpooled.wrappedBuffer(batch);
    }

    private static ReadBatches read(long fromOffset, ByteBuf... batches) {
        return ReadBatches.of(new ReadResult(LogError.NONE, List.of(batches), List.of(), OFFSETS), fromOffset);
    }

    /** A read leaves out what compaction left nothing at, or ends with a padding that says so. */
    @Test
    void offsetsAtWhichNothingIsLeftAreToldFromRecords() {
        ReadBatches read =
                read(3, data(10, 5), data(20, 5), Unpooled.wrappedBuffer(RecordBatchHeader.padding(25, 29, 0)));

        assertThat(read.deliverable()).containsExactly(new Span(10, 14), new Span(20, 24));
        assertThat(read.undeliverable()).containsExactly(new Span(3, 9), new Span(15, 19), new Span(25, 29));
        assertThat(read(12, data(10, 5)).undeliverable()).isEmpty();
    }

    /** Records that were given back and compacted away then must not be waited for. */
    @Test
    void aMemberGetsPastRecordsThatWereCompactedAwayBeforeAnybodyAcceptedThem() {
        ShareLimits limits = new ShareLimits(1_000, 5, 1_000);
        Deliveries deliveries = Deliveries.of(0, List.of());
        deliveries.acquire("a", List.of(new Span(0, 9)), 100, false, limits, 0);
        deliveries.releaseAll("a");
        assertThat(deliveries.nextOffset()).isZero();

        ReadBatches read = read(deliveries.nextOffset(), data(10, 5));
        read.undeliverable().forEach(deliveries::skip);
        List<Acquired> acquired = deliveries.acquire("b", read.deliverable(), 100, false, limits, 0);

        assertThat(acquired).containsExactly(new Acquired(10, 14, 1));
        assertThat(deliveries.nextOffset()).isEqualTo(15);
    }
}
