package io.varve.serving.kafka.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.serving.kafka.record.RecordValidation.Rules;
import io.varve.serving.kafka.record.RecordValidation.Valid;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bytes changed behind a valid checksum, as a hostile or broken client sends them. */
class RecordBytesFuzz {

    private static final Rules RULES =
            new Rules("t", 0, 9, 1 << 20, "producer", false, false, Long.MAX_VALUE, Long.MAX_VALUE, 0);
    private static final int ROUNDS = 3000;

    /** Never an exception, and what is taken is readable by Kafka's own parser, with dense offsets. */
    @ParameterizedTest
    @EnumSource(CompressionType.class)
    void whatIsTakenIsReadableAndTheRestIsRefused(CompressionType codec) {
        SplittableRandom random = new SplittableRandom(codec.id);
        for (int round = 0; round < ROUNDS; round++) {
            ByteBuf records = mutated(codec, random);
            if (new KafkaRecordValidation().validate(records, RULES) instanceof Valid valid) {
                ByteBuf payload = valid.batches().get(0).payload();
                assertThat(offsetsOf(payload.nioBuffer()))
                        .as("round %d", round)
                        .isEqualTo(valid.batches().get(0).records());
                payload.release();
            }
            assertThat(records.refCnt()).isEqualTo(1);
            records.release();
        }
    }

    private static int offsetsOf(ByteBuffer batch) {
        int next = 0;
        for (Record record : MemoryRecords.readableRecords(batch).records()) {
            assertThat(record.offset()).isEqualTo(next++);
        }
        return next;
    }

    private static ByteBuf mutated(CompressionType codec, SplittableRandom random) {
        SimpleRecord[] records = new SimpleRecord[1 + random.nextInt(4)];
        for (int i = 0; i < records.length; i++) {
            Header[] headers = random.nextBoolean() ? new Header[0] : new Header[] {new RecordHeader("h", new byte[3])};
            records[i] = new SimpleRecord(random.nextInt(1000), new byte[random.nextInt(5)], new byte[9], headers);
        }
        ByteBuf batch = Unpooled.copiedBuffer(
                MemoryRecords.withRecords(Compression.of(codec).build(), records)
                        .buffer()
                        .duplicate());
        for (int flips = random.nextInt(3); flips > 0; flips--) {
            int at = BatchHeader.ATTRIBUTES + random.nextInt(batch.readableBytes() - BatchHeader.ATTRIBUTES);
            batch.setByte(at, random.nextInt(256));
        }
        return batch.setInt(BatchHeader.CRC, BatchHeader.crcOf(batch.nioBuffer()));
    }
}
