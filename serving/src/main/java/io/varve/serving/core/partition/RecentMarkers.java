package io.varve.serving.core.partition;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which producers' transactions ended lately, and where: what guards the time between the moment when a transaction's coordinator says that it is open
 * and the append of its first record (KIP-890). If its end was written in between, the record would open a transaction that nobody ends.
 *
 * <p>Bounded: of markers that were forgotten only the highest offset is known, and whoever asks from before that is told that it may have ended.
 * Single owner.
 */
public final class RecentMarkers {

    private static final int MARKERS_MAX = 10_000;

    private final Map<Long, Long> byProducer = new LinkedHashMap<>();
    private long forgottenOffset = -1;

    /** A producer's transaction ended at {@code offset}, the highest so far. */
    public void onMarker(long producerId, long offset) {
        byProducer.remove(producerId);
        byProducer.put(producerId, offset);
        if (byProducer.size() > MARKERS_MAX) {
            Iterator<Long> eldest = byProducer.values().iterator();
            forgottenOffset = eldest.next();
            eldest.remove();
        }
    }

    /** Whether a transaction of that producer ended at or above {@code offset}, or may have. */
    public boolean mayHaveEndedSince(long producerId, long offset) {
        Long last = byProducer.get(producerId);
        return last == null ? offset <= forgottenOffset : last >= offset;
    }
}
