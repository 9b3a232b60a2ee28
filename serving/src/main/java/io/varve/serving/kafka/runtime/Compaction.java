package io.varve.serving.kafka.runtime;

import io.netty.buffer.Unpooled;
import io.varve.serving.kafka.runtime.NewestByKey.Kept;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLog.AppendOptions;
import io.varve.serving.log.PartitionLog.AppendResult;
import io.varve.serving.log.PartitionLog.Batch;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a coordinator's log short: what lives is written again at its end, and when that is acknowledged the log starts there. Done between a
 * partition's load and its coordinator's first write, so that nothing comes in between and a record written again is still the newest of
 * its key (docs/adr/0071).
 *
 * <p>Cut short at any point it does no harm: records written twice say the same, and the log's start moves last.
 */
final class Compaction {

    private static final Logger LOG = LoggerFactory.getLogger(Compaction.class);

    /** Below this a log is loaded in the blink of an eye and left alone. */
    private static final long RECORDS_MIN = 32_768;

    /** How much of a log may be dead. Each live record is then written again at most once for each that makes the log grow. */
    private static final int DEAD_PER_LIVE = 1;

    private static final int BATCH_BYTES = 256 << 10;
    private static final int RECORD_OVERHEAD_BYTES = 32;
    private static final int HEADER_BYTES = 61;

    private Compaction() {}

    /** Whether a log of so many records may be worth it, before it is known how many live. */
    static boolean mayBeWorthIt(long records) {
        return records > RECORDS_MIN;
    }

    /** Whether it is, now that this is known. */
    static boolean isWorthIt(long records, long live) {
        return records > growthAllowed(live);
    }

    /** How many records a log may hold of which {@code live} live. */
    static long growthAllowed(long live) {
        return RECORDS_MIN + live * (1 + DEAD_PER_LIVE);
    }

    /**
     * Writes {@code newest} again and moves the log's start there.
     *
     * @return the log's end afterwards; fails if a write did: then it isn't known where that is
     */
    static CompletableFuture<Long> run(PartitionLog log, NewestByKey newest) {
        long firstOffset = log.offsets().end();
        List<CompletableFuture<AppendResult>> written = new ArrayList<>();
        for (Batch batch : batches(newest.inOrder())) {
            written.add(log.append(List.of(batch), AppendOptions.COORDINATOR));
        }
        return CompletableFuture.allOf(written.toArray(CompletableFuture[]::new))
                .thenCompose(all -> {
                    for (CompletableFuture<AppendResult> one : written) {
                        LogError error = one.join().error();
                        if (error != LogError.NONE) {
                            return CompletableFuture.failedFuture(LogErrors.exceptionOf(error));
                        }
                    }
                    long endOffset = written.isEmpty()
                            ? firstOffset
                            : written.get(written.size() - 1).join().lastOffset() + 1;
                    return log.deleteRecords(firstOffset).thenApply(moved -> {
                        if (moved.error() != LogError.NONE) {
                            // Everything is there twice now. The next compaction moves the start.
                            LOG.warn("event=compacted_log_not_moved partition={} error={}", log.id(), moved.error());
                        }
                        return endOffset;
                    });
                });
    }

    private static List<Batch> batches(List<Kept> records) {
        List<Batch> batches = new ArrayList<>();
        List<Kept> group = new ArrayList<>();
        int bytes = 0;
        for (Kept record : records) {
            int size = sizeOf(record);
            if (bytes + size > BATCH_BYTES && !group.isEmpty()) {
                batches.add(batch(group, bytes));
                group.clear();
                bytes = 0;
            }
            group.add(record);
            bytes += size;
        }
        if (!group.isEmpty()) {
            batches.add(batch(group, bytes));
        }
        return batches;
    }

    private static int sizeOf(Kept record) {
        return record.key().remaining() + record.value().remaining() + RECORD_OVERHEAD_BYTES;
    }

    private static Batch batch(List<Kept> records, int bytes) {
        MemoryRecordsBuilder builder = MemoryRecords.builder(
                ByteBuffer.allocate(bytes + HEADER_BYTES),
                RecordBatch.CURRENT_MAGIC_VALUE,
                Compression.NONE,
                TimestampType.CREATE_TIME,
                0L,
                RecordBatch.NO_TIMESTAMP);
        long maxTimestampMs = RecordBatch.NO_TIMESTAMP;
        for (Kept record : records) {
            builder.append(
                    record.timestampMs(),
                    record.key().duplicate(),
                    record.value().duplicate());
            maxTimestampMs = Math.max(maxTimestampMs, record.timestampMs());
        }
        ByteBuffer built = builder.build().buffer();
        return new Batch(
                Unpooled.wrappedBuffer(built.duplicate()),
                records.size(),
                maxTimestampMs,
                RecordBatch.NO_PRODUCER_ID,
                RecordBatch.NO_PRODUCER_EPOCH,
                RecordBatch.NO_SEQUENCE,
                false);
    }
}
