package io.varve.serving.partition;

import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog.AppendResult;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Appends that wait for the high watermark, and repeats of such. Used on the partition's loop. */
final class PendingAppends {

    private final ArrayDeque<Pending> inOrder = new ArrayDeque<>();
    /** Repeats wait for offsets given out earlier, so they don't come in order; there are few. */
    private final List<Pending> repeats = new ArrayList<>();

    private static final long NO_REPEAT = -1;

    private record Pending(
            long baseOffset, long lastOffset, long repeatedTimestampMs, CompletableFuture<AppendResult> future) {}

    void add(long baseOffset, long lastOffset, CompletableFuture<AppendResult> future) {
        inOrder.addLast(new Pending(baseOffset, lastOffset, NO_REPEAT, future));
    }

    /** @param repeatedTimestampMs the largest time of what was appended the first time */
    void addRepeat(long baseOffset, long lastOffset, long repeatedTimestampMs, CompletableFuture<AppendResult> future) {
        repeats.add(new Pending(baseOffset, lastOffset, repeatedTimestampMs, future));
    }

    void onHighWatermark(long highWatermark, long logStart) {
        while (!inOrder.isEmpty() && inOrder.peekFirst().lastOffset() < highWatermark) {
            complete(inOrder.pollFirst(), logStart);
        }
        if (!repeats.isEmpty()) {
            for (Iterator<Pending> it = repeats.iterator(); it.hasNext(); ) {
                Pending repeat = it.next();
                if (repeat.lastOffset() < highWatermark) {
                    it.remove();
                    complete(repeat, logStart);
                }
            }
        }
    }

    private static void complete(Pending pending, long logStart) {
        pending.future()
                .complete(new AppendResult(
                        LogError.NONE,
                        pending.baseOffset(),
                        pending.lastOffset(),
                        pending.repeatedTimestampMs(),
                        logStart,
                        null));
    }

    /** The log is lost: what becomes of these is unknown here. */
    void fail(LogError error, long logStart, String message) {
        List<Pending> all = new ArrayList<>(inOrder);
        all.addAll(repeats);
        inOrder.clear();
        repeats.clear();
        all.forEach(p -> p.future().complete(new AppendResult(error, -1, -1, -1, logStart, message)));
    }

    int size() {
        return inOrder.size() + repeats.size();
    }
}
