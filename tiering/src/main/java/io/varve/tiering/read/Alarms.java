package io.varve.tiering.read;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What readers run into that doesn't pass by itself. A line in the log for each object every so often, however many readers there are; and a gauge of how many there are, for who wasn't looking at the log then: an object
 * is in it until what could not be read was read, or nothing names it any longer. Safe for any thread.
 */
public final class Alarms {

    private static final Logger log = LoggerFactory.getLogger(Alarms.class);

    private static final long QUIET_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int KEYS_MAX = 1000;

    private final Clock clock;
    private final Predicate<Place> isNamed;
    private final LinkedHashMap<String, Long> lastNs = bounded();
    private final LinkedHashMap<String, Standing> standing = bounded();

    /** Read without the lock, by every read that goes well. */
    private volatile boolean isQuiet = true;

    /**
     * @param clock for how long an alarm is not told again
     * @param gauge its name
     * @param isNamed whether readers may still come to a place
     */
    public Alarms(Clock clock, MeterRegistry registry, String gauge, Predicate<Place> isNamed) {
        this.clock = clock;
        this.isNamed = isNamed;
        for (Kind kind : Kind.values()) {
            if (lasts(kind)) {
                Gauge.builder(gauge, this, alarms -> alarms.count(kind))
                        .tag("kind", kind.name().toLowerCase(Locale.ROOT))
                        .description("What can't be read, for as long as it can't")
                        .register(registry);
            }
        }
    }

    /**
     * What is read.
     *
     * @param key of an object, or of a manifest's root
     * @param object empty for a manifest
     */
    public record Place(PartitionId partition, String key, Optional<ObjectRef> object) {

        /** Whether a reader who goes by {@code view} may come here. */
        public boolean isNamedIn(MetadataView view) {
            PartitionState state = view.partition(partition).orElse(null);
            if (state == null) {
                return false;
            }
            if (object.isEmpty()) {
                return state.chain()
                        .manifest()
                        .filter(manifest -> manifest.key().equals(key))
                        .isPresent();
            }
            ObjectRef named = object.get();
            boolean mayBeInManifest = state.chain()
                    .manifest()
                    .filter(manifest ->
                            manifest.startOffset() < named.endOffset() && named.startOffset() < manifest.endOffset())
                    .isPresent();
            return named.endOffset() > state.logStartOffset()
                    && (mayBeInManifest || state.chain().names(named));
        }
    }

    /**
     * What is asked of a place: it is well again when it was answered.
     *
     * @param what kind of question
     * @param at an offset, or a time
     */
    public record Question(String what, long at) {}

    private record Standing(Place place, Question question, Kind kind) {}

    /** Tells of trouble; what should never happen is told as an error. */
    public void raise(Place place, Question question, RemoteReadException trouble) {
        if (lasts(trouble.kind())) {
            stand(new Standing(place, question, trouble.kind()));
        }
        if (!isDue(place.key() + ' ' + trouble.kind())) {
            return;
        }
        switch (trouble.kind()) {
            case CORRUPT, MISSING ->
                log.error("event=object_damaged kind={} reason=\"{}\"", trouble.kind(), trouble.getMessage());
            case FORBIDDEN, UNSUPPORTED_VERSION ->
                log.warn("event=object_unreadable kind={} reason=\"{}\"", trouble.kind(), trouble.getMessage());
            case UNAVAILABLE -> log.warn("event=object_unavailable reason=\"{}\"", trouble.getMessage());
        }
    }

    /** A question of a kind was answered from {@code from} on up to {@code end}, exclusive. */
    public void settle(String key, String what, long from, long end) {
        if (!isQuiet) {
            settleStanding(key, what, from, end);
        }
    }

    /** A store that is away says nothing of an object, and has figures of its own. */
    private static boolean lasts(Kind kind) {
        return kind != Kind.UNAVAILABLE;
    }

    private synchronized void stand(Standing now) {
        standing.put(now.place().key() + ' ' + now.question().what(), now);
        isQuiet = false;
    }

    private synchronized void settleStanding(String key, String what, long from, long end) {
        String name = key + ' ' + what;
        Standing before = standing.get(name);
        if (before != null
                && before.question().at() >= from
                && before.question().at() < end) {
            standing.remove(name);
            isQuiet = standing.isEmpty();
            log.info("event=object_readable_again key={} was={}", key, before.kind());
        }
    }

    private long count(Kind kind) {
        List<Standing> all;
        synchronized (this) {
            all = new ArrayList<>(standing.values());
        }
        return all.stream()
                .filter(one -> one.kind() == kind && isNamed.test(one.place()))
                .map(one -> one.place().key())
                .distinct()
                .count();
    }

    private synchronized boolean isDue(String what) {
        long nowNs = clock.nanoTime();
        Long before = lastNs.get(what);
        if (before != null && nowNs - before < QUIET_NS) {
            return false;
        }
        lastNs.put(what, nowNs);
        return true;
    }

    /** The oldest makes room. */
    private static <T> LinkedHashMap<String, T> bounded() {
        return new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, T> eldest) {
                return size() > KEYS_MAX;
            }
        };
    }
}
