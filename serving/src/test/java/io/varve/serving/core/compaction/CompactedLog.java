package io.varve.serving.core.compaction;

import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.core.partition.AbortedTxns.Aborted;
import io.varve.serving.core.partition.EndMarker;
import io.varve.serving.core.partition.ProducerStates.LastBatch;
import io.varve.serving.kafka.record.KafkaRecordCodec;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** A log of batches built by Kafka's own code, which is compacted and read again by Kafka's own code. */
final class CompactedLog {

    static final long RETENTION_MS = 1_000;
    static final int INFLATED_MAX = 1 << 20;

    final List<ByteBuffer> batches = new ArrayList<>();
    final List<Aborted> aborted = new ArrayList<>();
    final List<LastBatch> lastBatches = new ArrayList<>();
    long nowMs = 100_000;
    int epoch = 3;
    CompressionType codec = CompressionType.NONE;
    private long end;

    /** A record as a reader sees it. */
    record Seen(long offset, String key, String value, long timeMs) {}

    long end() {
        return end;
    }

    /** The next batch begins there. */
    CompactedLog at(long offset) {
        end = offset;
        return this;
    }

    static SimpleRecord record(long timeMs, String key, String value) {
        return new SimpleRecord(timeMs, bytes(key), bytes(value));
    }

    static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    /** Appends a batch of key-value pairs without a producer. */
    CompactedLog put(String... pairs) {
        SimpleRecord[] records = new SimpleRecord[pairs.length / 2];
        for (int i = 0; i < records.length; i++) {
            records[i] = record(nowMs, pairs[2 * i], pairs[2 * i + 1]);
        }
        return put(RecordBatch.NO_PRODUCER_ID, (short) -1, -1, false, TimestampType.CREATE_TIME, records);
    }

    CompactedLog put(
            long producerId,
            short producerEpoch,
            int sequence,
            boolean transactional,
            TimestampType times,
            SimpleRecord... records) {
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(
                ByteBuffer.allocate(512),
                RecordBatch.MAGIC_VALUE_V2,
                Compression.of(codec).build(),
                times,
                end,
                nowMs,
                producerId,
                producerEpoch,
                sequence,
                transactional,
                false,
                epoch,
                64 << 10);
        for (SimpleRecord record : records) {
            builder.append(record);
        }
        return add(builder.build().buffer().duplicate());
    }

    CompactedLog transactional(long producerId, int sequence, String... pairs) {
        SimpleRecord[] records = new SimpleRecord[pairs.length / 2];
        for (int i = 0; i < records.length; i++) {
            records[i] = record(nowMs, pairs[2 * i], pairs[2 * i + 1]);
        }
        return put(producerId, (short) 0, sequence, true, TimestampType.CREATE_TIME, records);
    }

    CompactedLog marker(long producerId, boolean commit) {
        return marker(producerId, (short) 0, commit);
    }

    CompactedLog marker(long producerId, short producerEpoch, boolean commit) {
        ByteBuffer marker = ByteBuffer.allocate(EndMarker.BYTES);
        new EndMarker(producerId, producerEpoch, 7, commit).write(marker, nowMs);
        marker.flip();
        RecordBatchHeader.setBaseOffset(marker, 0, end);
        RecordBatchHeader.setLeaderEpoch(marker, 0, epoch);
        return add(marker);
    }

    CompactedLog abort(long producerId, long firstOffset) {
        aborted.add(new Aborted(producerId, firstOffset, end, end + 1));
        return marker(producerId, false);
    }

    CompactedLog add(ByteBuffer batch) {
        end = RecordBatchHeader.lastOffset(batch, batch.position()) + 1;
        batches.add(batch);
        return this;
    }

    CompactionPass pass(long dirtyOffset, NewestOffsets newest) {
        return new CompactionPass(
                new CompactionRules(nowMs, RETENTION_MS, INFLATED_MAX, aborted, lastBatches),
                dirtyOffset,
                newest,
                new KafkaRecordCodec());
    }

    /** Runs a pass over all; segments end at the given offsets, and at the end. */
    CompactedLog compacted(long dirtyOffset, long... segmentEnds) {
        CompactionPass pass = pass(dirtyOffset, new NewestOffsets(24 << 10, 5, 6));
        for (ByteBuffer batch : batches) {
            if (RecordBatchHeader.lastOffset(batch, batch.position()) >= dirtyOffset && !pass.observe(batch)) {
                break;
            }
        }
        return rewrittenBy(pass, segmentEnds);
    }

    CompactedLog rewrittenBy(CompactionPass pass, long... segmentEnds) {
        CompactedLog after = new CompactedLog();
        after.nowMs = nowMs;
        after.epoch = epoch;
        after.lastBatches.addAll(lastBatches);
        Consumer<ByteBuffer> sink = kept -> {
            int at = kept.position();
            if (!RecordBatchHeader.isIntact(kept, at)
                    || RecordBatchHeader.sizeInBytes(kept, at) != kept.remaining()
                    || RecordBatchHeader.baseOffset(kept, at) != after.end) {
                throw new AssertionError("a gap or a broken batch at " + after.end);
            }
            after.add(
                    ByteBuffer.allocate(kept.remaining()).put(kept.duplicate()).flip());
        };
        int segment = 0;
        long last = 0;
        for (ByteBuffer batch : batches) {
            pass.rewrite(batch, sink);
            last = RecordBatchHeader.lastOffset(batch, batch.position()) + 1;
            if (segment < segmentEnds.length && segmentEnds[segment] == last) {
                pass.endSegment(last, sink);
                segment++;
            }
        }
        pass.endSegment(last, sink);
        return after;
    }

    /** What a reader gets that sees every record. */
    List<Seen> seen() {
        List<Seen> seen = new ArrayList<>();
        for (MutableRecordBatch batch : kafkaBatches()) {
            batch.ensureValid();
            if (!batch.isControlBatch()) {
                for (Record record : batch) {
                    seen.add(new Seen(record.offset(), text(record.key()), text(record.value()), record.timestamp()));
                }
            }
        }
        return seen;
    }

    List<String> pairs() {
        return seen().stream()
                .map(s -> s.offset() + ":" + s.key() + "=" + s.value())
                .toList();
    }

    /** All batches, by Kafka's reading: of each its first and last offset, its records, and what it is. */
    List<String> shape() {
        List<String> shape = new ArrayList<>();
        for (MutableRecordBatch b : kafkaBatches()) {
            String what = b.isControlBatch()
                    ? "marker"
                    : b.countOrNull() > 0 ? "data" : b.hasProducerId() ? "last" : "padding";
            shape.add(b.baseOffset() + "-" + b.lastOffset() + " " + what + " e" + b.partitionLeaderEpoch());
        }
        return shape;
    }

    List<MutableRecordBatch> kafkaBatches() {
        int size = batches.stream().mapToInt(ByteBuffer::remaining).sum();
        ByteBuffer all = ByteBuffer.allocate(size);
        batches.forEach(batch -> all.put(batch.duplicate()));
        List<MutableRecordBatch> found = new ArrayList<>();
        MemoryRecords.readableRecords(all.flip()).batches().forEach(found::add);
        return found;
    }

    private static String text(ByteBuffer bytes) {
        return bytes == null
                ? null
                : StandardCharsets.UTF_8.decode(bytes.duplicate()).toString();
    }
}
