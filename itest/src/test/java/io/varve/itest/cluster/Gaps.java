package io.varve.itest.cluster;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/** The longest time between two acknowledgements since one last looked. Fed by one thread, looked at by any. */
final class Gaps implements LongConsumer {

    private final AtomicLong lastNs = new AtomicLong(System.nanoTime());
    private final AtomicLong longestNs = new AtomicLong();

    @Override
    public void accept(long nowNs) {
        long gapNs = nowNs - lastNs.getAndSet(nowNs);
        longestNs.accumulateAndGet(gapNs, Math::max);
    }

    /** The longest gap since the last call, in ms, counting one that is not over. */
    long takeLongestMs() {
        long openNs = System.nanoTime() - lastNs.get();
        return Math.max(openNs, longestNs.getAndSet(0)) / 1_000_000;
    }
}
