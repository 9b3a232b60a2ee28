package io.varve.tiering.read;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.varve.tiering.api.RemoteReadException;
import java.util.EnumMap;
import java.util.Map;

/**
 * Counts what can't be read, by kind. Each kind's counter is there from the start, at 0: one that appeared with its first failure would have no rise that an alarm could see. Safe for any thread.
 */
public final class TroubleCounters {

    private final Map<RemoteReadException.Kind, Counter> counters = new EnumMap<>(RemoteReadException.Kind.class);

    /** @param name of the counters, which differ by their tag {@code kind} */
    public TroubleCounters(MeterRegistry registry, String name) {
        for (RemoteReadException.Kind kind : RemoteReadException.Kind.values()) {
            counters.put(kind, registry.counter(name, "kind", kind.name()));
        }
    }

    /** Counts one. */
    public void count(RemoteReadException trouble) {
        counters.get(trouble.kind()).increment();
    }
}
