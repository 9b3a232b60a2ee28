package io.varve.tiering.read;

import io.varve.base.Clock;
import io.varve.tiering.api.RemoteReadException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One line for each object in trouble every so often, however many readers run into it. Safe for any thread. */
public final class Alarms {

    private static final Logger log = LoggerFactory.getLogger(Alarms.class);

    private static final long QUIET_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int KEYS_MAX = 1000;

    private final Clock clock;
    private final LinkedHashMap<String, Long> lastNs = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > KEYS_MAX;
        }
    };

    /** @param clock for how long an alarm is not told again */
    public Alarms(Clock clock) {
        this.clock = clock;
    }

    /** Tells of trouble with an object; what should never happen is told as an error. */
    public void raise(String key, RemoteReadException trouble) {
        if (!isDue(key + ' ' + trouble.kind())) {
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

    private synchronized boolean isDue(String what) {
        long nowNs = clock.nanoTime();
        Long before = lastNs.get(what);
        if (before != null && nowNs - before < QUIET_NS) {
            return false;
        }
        lastNs.put(what, nowNs);
        return true;
    }
}
