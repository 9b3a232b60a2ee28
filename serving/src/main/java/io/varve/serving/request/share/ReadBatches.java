package io.varve.serving.request.share;

import io.netty.buffer.ByteBuf;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.core.share.Acquired;
import io.varve.serving.core.share.Span;
import io.varve.serving.log.PartitionLog.AbortedTxn;
import io.varve.serving.log.PartitionLog.ReadResult;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What was read of a log, told apart: batches that have records for members, and what has none: markers, aborted transactions, and offsets at which compaction left nothing.
 */
final class ReadBatches {

    private final List<ByteBuf> batches;
    private final List<Span> spans;
    private final List<Span> deliverable = new ArrayList<>();
    private final List<Span> undeliverable = new ArrayList<>();

    private ReadBatches(List<ByteBuf> batches, List<Span> spans) {
        this.batches = batches;
        this.spans = spans;
    }

    /**
     * Takes over the references of {@code result}.
     *
     * @param fromOffset where the reading began
     */
    static ReadBatches of(ReadResult result, long fromOffset) {
        List<Span> spans = new ArrayList<>();
        for (ByteBuf batch : result.batches()) {
            spans.add(spanOf(batch));
        }
        ReadBatches read = new ReadBatches(result.batches(), spans);
        Deque<AbortedTxn> aborted = new ArrayDeque<>(result.aborted().stream()
                .sorted(Comparator.comparingLong(AbortedTxn::firstOffset))
                .toList());
        Set<Long> abortedNow = new TreeSet<>();
        long next = fromOffset;
        for (int i = 0; i < spans.size(); i++) {
            Span span = spans.get(i);
            while (!aborted.isEmpty() && aborted.peek().firstOffset() <= span.lastOffset()) {
                abortedNow.add(aborted.poll().producerId());
            }
            if (span.firstOffset() > next) {
                // Records may have been handed out there and given back before they were compacted away. Nobody would
                // ever take them.
                read.undeliverable.add(new Span(next, span.firstOffset() - 1));
            }
            next = Math.max(next, span.lastOffset() + 1);
            read.sort(result.batches().get(i), span, abortedNow);
        }
        return read;
    }

    private void sort(ByteBuf batch, Span span, Set<Long> abortedNow) {
        ByteBuffer header = headerOf(batch);
        long producerId = RecordBatchHeader.producerId(header, 0);
        boolean control = RecordBatchHeader.isControl(header, 0);
        boolean abortedData =
                !control && RecordBatchHeader.isTransactional(header, 0) && abortedNow.contains(producerId);
        if (control) {
            // Its producer's transaction ends with it, whichever way.
            abortedNow.remove(producerId);
        }
        boolean empty = RecordBatchHeader.count(header, 0) == 0;
        (control || abortedData || empty ? undeliverable : deliverable).add(span);
    }

    private static Span spanOf(ByteBuf batch) {
        ByteBuffer header = headerOf(batch);
        return new Span(RecordBatchHeader.baseOffset(header, 0), RecordBatchHeader.lastOffset(header, 0));
    }

    private static ByteBuffer headerOf(ByteBuf batch) {
        return batch.nioBuffer(batch.readerIndex(), RecordBatchHeader.BYTES).slice();
    }

    List<Span> deliverable() {
        return deliverable;
    }

    List<Span> undeliverable() {
        return undeliverable;
    }

    /** The batches that have any of {@code acquired} in them, with their references; those of all others are given back. */
    List<ByteBuf> keep(List<Acquired> acquired) {
        List<ByteBuf> kept = new ArrayList<>();
        for (int i = 0; i < batches.size(); i++) {
            Span span = spans.get(i);
            boolean wanted = acquired.stream()
                    .anyMatch(range ->
                            range.firstOffset() <= span.lastOffset() && range.lastOffset() >= span.firstOffset());
            if (wanted) {
                kept.add(batches.get(i));
            } else {
                batches.get(i).release();
            }
        }
        return kept;
    }
}
