package io.varve.serving.kafka.runtime;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/**
 * Guards the time between the moment when a transaction's coordinator is asked about it and the append of its first record (KIP-890): if the
 * transaction's end is written meanwhile, the coordinator's word counts for nothing, for the record would open a transaction that nobody ends.
 *
 * <p>Bounded: of verifications that never come to an append, those begun longest ago are forgotten, which refuses their append if it comes after
 * all. Safe for any thread.
 */
final class VerificationGuards {

    private static final int GUARDS_MAX = 10_000;

    private final Map<Long, VerificationGuard> byProducer = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, VerificationGuard> eldest) {
            return size() > GUARDS_MAX;
        }
    };

    /** The coordinator is about to be asked. Who asks at the same time for the same producer shares the guard. */
    synchronized VerificationGuard begin(long producerId) {
        return byProducer.computeIfAbsent(producerId, id -> new VerificationGuard());
    }

    /** The producer's transaction has ended. */
    synchronized void end(long producerId) {
        byProducer.remove(producerId);
    }

    /** Whether the producer's transaction has not ended since {@code guard} was given. */
    synchronized boolean holds(long producerId, VerificationGuard guard) {
        return guard.equals(byProducer.get(producerId));
    }
}
