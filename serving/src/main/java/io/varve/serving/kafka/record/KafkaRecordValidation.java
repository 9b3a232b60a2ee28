package io.varve.serving.kafka.record;

import static io.varve.serving.kafka.record.BatchHeader.ATTRIBUTES;
import static io.varve.serving.kafka.record.BatchHeader.BASE_OFFSET;
import static io.varve.serving.kafka.record.BatchHeader.BASE_SEQUENCE;
import static io.varve.serving.kafka.record.BatchHeader.BASE_TIMESTAMP;
import static io.varve.serving.kafka.record.BatchHeader.CODEC_MASK;
import static io.varve.serving.kafka.record.BatchHeader.CONTROL_BIT;
import static io.varve.serving.kafka.record.BatchHeader.COUNT;
import static io.varve.serving.kafka.record.BatchHeader.CRC;
import static io.varve.serving.kafka.record.BatchHeader.LAST_OFFSET_DELTA;
import static io.varve.serving.kafka.record.BatchHeader.LENGTH;
import static io.varve.serving.kafka.record.BatchHeader.LOG_APPEND_TIME_BIT;
import static io.varve.serving.kafka.record.BatchHeader.LOG_OVERHEAD;
import static io.varve.serving.kafka.record.BatchHeader.MAGIC;
import static io.varve.serving.kafka.record.BatchHeader.MAGIC_AT;
import static io.varve.serving.kafka.record.BatchHeader.MAX_TIMESTAMP;
import static io.varve.serving.kafka.record.BatchHeader.PRODUCER_EPOCH;
import static io.varve.serving.kafka.record.BatchHeader.PRODUCER_ID;
import static io.varve.serving.kafka.record.BatchHeader.TRANSACTIONAL_BIT;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.serving.log.PartitionLog;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.PrimitiveRef;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogValidator;
import org.apache.kafka.storage.internals.log.RecordValidationException;

/**
 * Kafka's rules for produced batches. The checks that every batch goes through are ours and copy nothing: uncompressed records are
 * walked in the network buffer, compressed ones are inflated through a small window that is used again and again. Only a batch that must
 * be stored with another codec is handed to Kafka's {@code LogValidator}, which builds a new one.
 *
 * <p>Stricter than Kafka in one point: a compressed batch is parsed down to its last header, so that a record that no consumer could read is
 * refused here and doesn't stop its readers for ever.
 */
public final class KafkaRecordValidation implements RecordValidation {

    /** A batch that has to be built anew is held inflated: no more than this of it. */
    static final long REBUILT_BYTES_MAX = 64L << 20;

    private static final int ZSTD_SINCE_VERSION = 7;
    private static final long KEPT_TIME = -1;

    @Override
    public Outcome validate(ByteBuf records, Rules rules) {
        Invalid frame = checkFrame(records, rules);
        if (frame != null) {
            return frame;
        }
        ByteBuffer bytes = records.nioBuffer().slice();
        Invalid header = checkHeader(bytes, rules);
        return header != null ? header : checkRecords(records, bytes, rules);
    }

    /** That it is one batch of format v2, all of it, and not too large. */
    private static Invalid checkFrame(ByteBuf records, Rules rules) {
        int size = records.readableBytes();
        int at = records.readerIndex();
        if (size == 0) {
            return invalid(Errors.INVALID_RECORD, "The request holds no record batch.");
        }
        if (size <= MAGIC_AT) {
            return invalid(Errors.CORRUPT_MESSAGE, "A record batch of " + size + " bytes has no header.");
        }
        byte magic = records.getByte(at + MAGIC_AT);
        if (magic != MAGIC) {
            return invalid(Errors.INVALID_RECORD, "Record batches must have magic 2, not " + magic + ".");
        }
        long batchBytes = LOG_OVERHEAD + (long) records.getInt(at + LENGTH);
        if (batchBytes < BatchHeader.BYTES || batchBytes > size) {
            return invalid(Errors.CORRUPT_MESSAGE, "A record batch of " + batchBytes + " bytes in " + size + " bytes.");
        }
        if (batchBytes < size) {
            return invalid(Errors.INVALID_RECORD, "A produce request must hold exactly one record batch a partition.");
        }
        return size > rules.maxBatchBytes() ? tooLarge(size, rules) : null;
    }

    /** That the header is intact, agrees with itself and is one that a client may write. */
    private static Invalid checkHeader(ByteBuffer batch, Rules rules) {
        if (batch.getInt(CRC) != BatchHeader.crcOf(batch)) {
            return invalid(Errors.CORRUPT_MESSAGE, "The record batch does not match its checksum.");
        }
        short attributes = batch.getShort(ATTRIBUTES);
        int count = batch.getInt(COUNT);
        if (batch.getLong(BASE_OFFSET) != 0) {
            return invalid(Errors.INVALID_RECORD, "A record batch to append must have base offset 0.");
        }
        if (count <= 0 || batch.getInt(LAST_OFFSET_DELTA) != count - 1) {
            return invalid(
                    Errors.INVALID_RECORD,
                    "A record batch of " + count + " records with last offset " + batch.getInt(LAST_OFFSET_DELTA)
                            + ".");
        }
        if ((attributes & CONTROL_BIT) != 0) {
            return invalid(Errors.INVALID_RECORD, "Clients may not write control records.");
        }
        boolean identified = batch.getLong(PRODUCER_ID) >= 0;
        if (identified && batch.getInt(BASE_SEQUENCE) < 0) {
            return invalid(Errors.INVALID_RECORD, "A batch of an identified producer needs a sequence number.");
        }
        if (!identified && (attributes & TRANSACTIONAL_BIT) != 0) {
            return invalid(Errors.INVALID_RECORD, "A transactional batch needs a producer id.");
        }
        if ((attributes & LOG_APPEND_TIME_BIT) != 0 && !rules.logAppendTime()) {
            return invalid(Errors.INVALID_TIMESTAMP, "Producers may not set the timestamp type to LogAppendTime.");
        }
        return checkCodec(attributes & CODEC_MASK, rules);
    }

    private static Invalid checkCodec(int codec, Rules rules) {
        if (codec > CompressionType.ZSTD.id) {
            return invalid(Errors.UNSUPPORTED_COMPRESSION_TYPE, "Compression type " + codec + " is unknown.");
        }
        if (codec == CompressionType.ZSTD.id && rules.requestVersion() < ZSTD_SINCE_VERSION) {
            return invalid(
                    Errors.UNSUPPORTED_COMPRESSION_TYPE,
                    "Produce requests below version " + ZSTD_SINCE_VERSION + " may not use zstd.");
        }
        return null;
    }

    private static Outcome checkRecords(ByteBuf records, ByteBuffer batch, Rules rules) {
        CompressionType source = CompressionType.forId(batch.getShort(ATTRIBUTES) & CODEC_MASK);
        CompressionType target = targetCodec(source, rules);
        RecordCheck check = new RecordCheck(rules);
        try {
            if (!walk(batch, source, check)) {
                return invalid(Errors.INVALID_RECORD, "The batch does not hold the records that its header announces.");
            }
        } catch (IOException | RuntimeException e) {
            // Codecs throw whatever comes to them on bytes that are not theirs.
            return invalid(Errors.CORRUPT_MESSAGE, "The record batch can't be inflated: " + e.getMessage());
        } catch (VirtualMachineError | LinkageError e) {
            throw e;
        } catch (Error e) {
            // Snappy reports a bad chunk as an Error. A client's bytes must not look like a fault of ours.
            return invalid(Errors.CORRUPT_MESSAGE, "The record batch can't be inflated: " + e.getMessage());
        }
        if (check.failed()) {
            return check.outcome();
        }
        if (!check.dense()) {
            return invalid(Errors.INVALID_RECORD, "The records' offsets are not consecutive.");
        }
        if (source == target) {
            return keep(records, batch, check.maxTimestampMs(), rules);
        }
        return check.bytes() > REBUILT_BYTES_MAX
                ? invalid(Errors.MESSAGE_TOO_LARGE, "The record batch is " + check.bytes() + " bytes inflated.")
                : rebuild(batch, source, target, rules);
    }

    private static boolean walk(ByteBuffer batch, CompressionType source, RecordCheck check) throws IOException {
        long baseTimestampMs = batch.getLong(BASE_TIMESTAMP);
        int count = batch.getInt(COUNT);
        if (source == CompressionType.NONE) {
            return RecordWalk.plain(batch, baseTimestampMs, count, check);
        }
        CodecBuffers buffers = CodecBuffers.get();
        ByteBuffer compressed = batch.duplicate().position(BatchHeader.BYTES);
        try (InputStream inflated =
                Compression.of(source).build().wrapForInput(compressed, MAGIC, buffers.supplier())) {
            return RecordWalk.inflated(inflated, buffers.window(), baseTimestampMs, count, check);
        }
    }

    private static CompressionType targetCodec(CompressionType source, Rules rules) {
        return switch (rules.compression()) {
            case "producer" -> source;
            case "uncompressed" -> CompressionType.NONE;
            default -> CompressionType.forName(rules.compression());
        };
    }

    /** Stores the batch as it came. */
    private static Outcome keep(ByteBuf records, ByteBuffer batch, long maxTimestampMs, Rules rules) {
        ByteBuf payload = records.retainedSlice();
        long storedMaxMs = rules.logAppendTime() ? rules.nowMs() : maxTimestampMs;
        BatchHeader.setMaxTimestamp(payload, rules.logAppendTime(), storedMaxMs);
        return valid(payload, batch, rules);
    }

    /** Builds a new batch with the wanted codec and dense offsets. */
    private static Outcome rebuild(ByteBuffer batch, CompressionType source, CompressionType target, Rules rules) {
        LogValidator validator = new LogValidator(
                MemoryRecords.readableRecords(batch.duplicate()),
                new TopicPartition(rules.topic(), rules.partition()),
                Time.SYSTEM,
                source,
                Compression.of(target).build(),
                rules.compacted(),
                MAGIC,
                rules.logAppendTime() ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME,
                Long.MAX_VALUE, // checked already, against the time of the rules
                Long.MAX_VALUE,
                0,
                AppendOrigin.CLIENT);
        try {
            ByteBuffer rebuilt = validator
                    .validateMessagesAndAssignOffsets(
                            PrimitiveRef.ofLong(0),
                            NoMetrics.INSTANCE,
                            CodecBuffers.get().supplier())
                    .validatedRecords()
                    .buffer()
                    .slice();
            if (rebuilt.remaining() > rules.maxBatchBytes()) {
                return tooLarge(rebuilt.remaining(), rules);
            }
            ByteBuf payload = Unpooled.wrappedBuffer(rebuilt);
            if (rules.logAppendTime()) {
                BatchHeader.setMaxTimestamp(payload, true, rules.nowMs());
            }
            return valid(payload, rebuilt, rules);
        } catch (RecordValidationException e) {
            return invalid(
                    Errors.forException(e.invalidException()),
                    e.invalidException().getMessage());
        } catch (CorruptRecordException | InvalidRecordException e) {
            return invalid(Errors.forException(e), e.getMessage());
        }
    }

    private static Valid valid(ByteBuf payload, ByteBuffer header, Rules rules) {
        int at = payload.readerIndex();
        return new Valid(
                List.of(new PartitionLog.Batch(
                        payload,
                        header.getInt(COUNT),
                        payload.getLong(at + MAX_TIMESTAMP),
                        payload.getLong(at + PRODUCER_ID),
                        payload.getShort(at + PRODUCER_EPOCH),
                        payload.getInt(at + BASE_SEQUENCE),
                        (payload.getShort(at + ATTRIBUTES) & TRANSACTIONAL_BIT) != 0)),
                rules.logAppendTime() ? payload.getLong(at + MAX_TIMESTAMP) : KEPT_TIME);
    }

    private static Invalid tooLarge(int size, Rules rules) {
        return invalid(
                Errors.MESSAGE_TOO_LARGE,
                "The record batch of " + size + " bytes is larger than the " + rules.maxBatchBytes() + " bytes that "
                        + rules.topic() + " allows.");
    }

    private static Invalid invalid(Errors error, String message) {
        return new Invalid(error, message, List.of());
    }

    /** We count outcomes, not their causes. */
    private enum NoMetrics implements LogValidator.MetricsRecorder {
        INSTANCE;

        @Override
        public void recordInvalidMagic() {}

        @Override
        public void recordInvalidOffset() {}

        @Override
        public void recordInvalidSequence() {}

        @Override
        public void recordInvalidChecksums() {}

        @Override
        public void recordNoKeyCompactedTopic() {}
    }
}
