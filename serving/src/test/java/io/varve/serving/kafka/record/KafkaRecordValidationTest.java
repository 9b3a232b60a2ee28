package io.varve.serving.kafka.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.varve.serving.kafka.record.RecordValidation.Invalid;
import io.varve.serving.kafka.record.RecordValidation.Outcome;
import io.varve.serving.kafka.record.RecordValidation.Rules;
import io.varve.serving.kafka.record.RecordValidation.Valid;
import io.varve.serving.log.PartitionLog.Batch;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class KafkaRecordValidationTest {

    private static final long NOW = 1_700_000_000_000L;
    private static final Rules RULES = rules("producer", false, false);

    private final RecordValidation validation = new KafkaRecordValidation();

    @ParameterizedTest
    @EnumSource(CompressionType.class)
    void aWellFormedBatchIsStoredWhereItLies(CompressionType codec) {
        ByteBuf records = buffer(batch(codec, NOW, NOW + 5, NOW + 2));
        byte[] before = bytes(records);

        Batch batch = valid(validation.validate(records, RULES));

        assertThat(bytes(batch.payload())).isEqualTo(before);
        assertThat(batch.payload().unwrap()).isNotNull();
        assertThat(records.refCnt()).isEqualTo(2);
        assertThat(batch.records()).isEqualTo(3);
        assertThat(batch.maxTimestampMs()).isEqualTo(NOW + 5);
        assertThat(batch.producerId()).isEqualTo(-1);
        batch.payload().release();
        records.release();
    }

    @Test
    void aBatchInsideALargerBufferIsFound() {
        ByteBuf frame = PooledByteBufAllocator.DEFAULT.buffer();
        ByteBuffer batch = batch(CompressionType.NONE, NOW);
        frame.writeZero(17).writeBytes(batch.duplicate()).writeZero(9);

        Batch found = valid(validation.validate(frame.slice(17, batch.remaining()), RULES));

        assertThat(bytes(found.payload())).isEqualTo(array(batch));
        found.payload().release();
        frame.release();
    }

    @Test
    void theProducersFieldsReachTheLog() {
        ByteBuf records = buffer(MemoryRecords.withTransactionalRecords(
                        Compression.NONE, 77, (short) 3, 12, new SimpleRecord(NOW, "k".getBytes(), null))
                .buffer());

        Batch batch = valid(validation.validate(records, RULES));

        assertThat(batch.producerId()).isEqualTo(77);
        assertThat(batch.producerEpoch()).isEqualTo((short) 3);
        assertThat(batch.baseSequence()).isEqualTo(12);
        assertThat(batch.transactional()).isTrue();
        batch.payload().release();
        records.release();
    }

    @ParameterizedTest
    @EnumSource(CompressionType.class)
    void logAppendTimeIsStampedIntoTheHeader(CompressionType codec) {
        ByteBuf records = buffer(batch(codec, 5, 6));

        Valid valid = (Valid) validation.validate(records, rules("producer", false, true));

        MutableRecordBatch stored = parse(valid.batches().get(0).payload());
        stored.ensureValid();
        assertThat(valid.logAppendTimeMs()).isEqualTo(NOW);
        assertThat(stored.timestampType()).isEqualTo(TimestampType.LOG_APPEND_TIME);
        assertThat(stored.iterator().next().timestamp()).isEqualTo(NOW);
        valid.batches().get(0).payload().release();
        records.release();
    }

    @ParameterizedTest
    @EnumSource(
            value = CompressionType.class,
            names = {"GZIP", "SNAPPY", "LZ4", "ZSTD"})
    void theTopicsCodecReplacesTheProducers(CompressionType codec) {
        ByteBuf records = buffer(batch(CompressionType.NONE, NOW, NOW + 1));

        Batch batch = valid(validation.validate(records, rules(codec.name, false, false)));

        MutableRecordBatch stored = parse(batch.payload());
        stored.ensureValid();
        assertThat(stored.compressionType()).isEqualTo(codec);
        assertThat(values(stored)).containsExactly("value-0", "value-1");
        assertThat(batch.records()).isEqualTo(2);
        batch.payload().release();
        records.release();
    }

    @Test
    void aCompressedBatchIsInflatedForATopicThatWantsItPlain() {
        ByteBuf records = buffer(batch(CompressionType.ZSTD, NOW, NOW + 1));

        Batch batch = valid(validation.validate(records, rules("uncompressed", false, false)));

        assertThat(parse(batch.payload()).compressionType()).isEqualTo(CompressionType.NONE);
        assertThat(values(parse(batch.payload()))).containsExactly("value-0", "value-1");
        batch.payload().release();
        records.release();
    }

    @ParameterizedTest
    @EnumSource(CompressionType.class)
    void oneFlippedBitAnywhereUnderTheChecksumIsFound(CompressionType codec) {
        ByteBuffer good = batch(codec, NOW, NOW + 1);
        for (int at = BatchHeader.CRC; at < good.remaining(); at++) {
            ByteBuf records = buffer(good);
            records.setByte(at, records.getByte(at) ^ 0x10);
            assertThat(error(records, RULES)).as("byte %d", at).isEqualTo(Errors.CORRUPT_MESSAGE);
        }
    }

    @ParameterizedTest
    @EnumSource(CompressionType.class)
    void aCountThatIsNotTheRecordsIsRefused(CompressionType codec) {
        for (int count : new int[] {1, 3}) {
            ByteBuf records = buffer(batch(codec, NOW, NOW + 1));
            records.setInt(BatchHeader.COUNT, count);
            records.setInt(BatchHeader.LAST_OFFSET_DELTA, count - 1);
            assertThat(error(sealed(records), RULES)).isEqualTo(Errors.INVALID_RECORD);
        }
    }

    @Test
    void aCountThatDisagreesWithTheLastOffsetIsRefused() {
        ByteBuf records = buffer(batch(CompressionType.NONE, NOW, NOW + 1));
        records.setInt(BatchHeader.LAST_OFFSET_DELTA, 5);
        assertThat(error(sealed(records), RULES)).isEqualTo(Errors.INVALID_RECORD);
    }

    @Test
    void clientsWriteNoControlRecords() {
        ByteBuf records = buffer(MemoryRecords.withEndTransactionMarker(
                        1, (short) 0, new EndTransactionMarker(ControlRecordType.COMMIT, 0))
                .buffer());
        assertThat(error(records, RULES)).isEqualTo(Errors.INVALID_RECORD);
    }

    @ParameterizedTest
    @ValueSource(bytes = {0, 1, 3})
    void onlyMagicTwoIsTaken(byte magic) {
        ByteBuf records = buffer(batch(CompressionType.NONE, NOW));
        records.setByte(BatchHeader.MAGIC_AT, magic);
        assertThat(error(records, RULES)).isEqualTo(Errors.INVALID_RECORD);
    }

    @Test
    void twoBatchesInOnePartitionAreRefused() {
        ByteBuffer one = batch(CompressionType.NONE, NOW);
        ByteBuf records = buffer(one);
        records.writeBytes(one.duplicate());
        assertThat(error(records, RULES)).isEqualTo(Errors.INVALID_RECORD);
    }

    @Test
    void everyPrefixOfABatchIsRefused() {
        ByteBuffer good = batch(CompressionType.GZIP, NOW, NOW + 1);
        for (int length = 0; length < good.remaining(); length++) {
            ByteBuf records = buffer(good.duplicate().limit(length));
            assertThat(validation.validate(records, RULES)).isInstanceOf(Invalid.class);
            records.release();
        }
    }

    @Test
    void aBatchAboveTheTopicsLimitIsTooLarge() {
        ByteBuffer batch = batch(CompressionType.NONE, NOW);
        Rules tight = new Rules("t", 0, 9, batch.remaining() - 1, "producer", false, false, 1000, 1000, NOW);
        assertThat(error(buffer(batch), tight)).isEqualTo(Errors.MESSAGE_TOO_LARGE);
    }

    @Test
    void zstdNeedsProduceVersionSeven() {
        Rules old = new Rules("t", 0, 6, 1 << 20, "producer", false, false, 1000, 1000, NOW);
        assertThat(error(buffer(batch(CompressionType.ZSTD, NOW)), old)).isEqualTo(Errors.UNSUPPORTED_COMPRESSION_TYPE);
        assertThat(error(buffer(batch(CompressionType.ZSTD, NOW)), RULES)).isEqualTo(Errors.NONE);
    }

    @Test
    void aTimeOutOfTheTopicsBoundsNamesTheRecord() {
        ByteBuf records = buffer(batch(CompressionType.LZ4, NOW, NOW + 1001, NOW - 1001));

        Invalid invalid = (Invalid) validation.validate(records, RULES);

        assertThat(invalid.error()).isEqualTo(Errors.INVALID_TIMESTAMP);
        assertThat(invalid.records())
                .extracting(RecordValidation.BadRecord::index)
                .containsExactly(1, 2);
        records.release();
    }

    @Test
    void boundsWithoutAnEndDoNotOverflow() {
        Rules open = new Rules("t", 0, 9, 1 << 20, "producer", false, false, Long.MAX_VALUE, Long.MAX_VALUE, NOW);
        assertThat(error(buffer(batch(CompressionType.NONE, 0, Long.MAX_VALUE / 2)), open))
                .isEqualTo(Errors.NONE);
    }

    @ParameterizedTest
    @EnumSource(CompressionType.class)
    void aCompactedTopicNeedsKeys(CompressionType codec) {
        ByteBuffer keyless = MemoryRecords.withRecords(
                        Compression.of(codec).build(), new SimpleRecord(NOW, null, "v".getBytes()))
                .buffer();
        assertThat(error(buffer(keyless), rules("producer", true, false))).isEqualTo(Errors.INVALID_RECORD);
        assertThat(error(buffer(batch(codec, NOW)), rules("producer", true, false)))
                .isEqualTo(Errors.NONE);
    }

    @Test
    void headersAndNullsAreWalkedOver() {
        Header[] headers = {new RecordHeader("a", null), new RecordHeader("", "x".getBytes())};
        ByteBuffer batch = MemoryRecords.withRecords(
                        Compression.NONE,
                        new SimpleRecord(NOW, (byte[]) null, null, headers),
                        new SimpleRecord(NOW, new byte[0], new byte[300], headers))
                .buffer();
        assertThat(error(buffer(batch), RULES)).isEqualTo(Errors.NONE);
    }

    private Errors error(ByteBuf records, Rules rules) {
        try {
            Outcome outcome = validation.validate(records, rules);
            if (outcome instanceof Valid valid) {
                valid.batches().forEach(b -> b.payload().release());
                return Errors.NONE;
            }
            return ((Invalid) outcome).error();
        } finally {
            records.release();
        }
    }

    private static Batch valid(Outcome outcome) {
        assertThat(outcome).isInstanceOf(Valid.class);
        return ((Valid) outcome).batches().get(0);
    }

    private static Rules rules(String compression, boolean compacted, boolean logAppendTime) {
        return new Rules("t", 0, 9, 1 << 20, compression, compacted, logAppendTime, 1000, 1000, NOW);
    }

    private static ByteBuffer batch(CompressionType codec, long... timestampsMs) {
        SimpleRecord[] records = new SimpleRecord[timestampsMs.length];
        for (int i = 0; i < records.length; i++) {
            records[i] = new SimpleRecord(timestampsMs[i], ("key-" + i).getBytes(), ("value-" + i).getBytes());
        }
        return MemoryRecords.withRecords(Compression.of(codec).build(), records).buffer();
    }

    private static ByteBuf buffer(ByteBuffer batch) {
        return PooledByteBufAllocator.DEFAULT.buffer().writeBytes(batch.duplicate());
    }

    private static ByteBuf sealed(ByteBuf batch) {
        batch.setInt(BatchHeader.CRC, BatchHeader.crcOf(batch.nioBuffer()));
        return batch;
    }

    private static byte[] bytes(ByteBuf buffer) {
        return array(buffer.nioBuffer());
    }

    private static byte[] array(ByteBuffer buffer) {
        byte[] array = new byte[buffer.remaining()];
        buffer.duplicate().get(array);
        return array;
    }

    private static MutableRecordBatch parse(ByteBuf payload) {
        return MemoryRecords.readableRecords(payload.nioBuffer())
                .batchIterator()
                .next();
    }

    private static List<String> values(MutableRecordBatch batch) {
        List<String> values = new ArrayList<>();
        for (Record record : batch) {
            values.add(new String(array(record.value())));
        }
        return values;
    }
}
