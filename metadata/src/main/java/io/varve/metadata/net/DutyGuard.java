package io.varve.metadata.net;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.protocol.runtime.LogLimiter;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the leader does of its own accord goes on at its next turn when a turn of it fails: that is counted, and told with its stack, but not twenty times a second. A broken invariant goes to the
 * fault handler. Each duty belongs to one thread.
 */
final class DutyGuard {

    private static final Logger LOG = LoggerFactory.getLogger(DutyGuard.class);

    /** Between two lines about the same duty. */
    private static final long TOLD_MS = 10_000;

    /** What there is to do. */
    enum Duty {
        /** Knowing which brokers and bookies live. */
        SESSIONS,
        /** Having the planners look. */
        PLANNING
    }

    private final FaultHandler faults;
    private final Map<Duty, Counter> failures = new EnumMap<>(Duty.class);
    private final Map<Duty, LogLimiter> told = new EnumMap<>(Duty.class);

    DutyGuard(Clock clock, FaultHandler faults, MeterRegistry metrics) {
        this.faults = faults;
        for (Duty duty : Duty.values()) {
            failures.put(
                    duty,
                    Counter.builder("varve_metadata_leader_duty_failures")
                            .description("Turns of what the leader does of its own accord that failed")
                            .tag("duty", duty.name().toLowerCase(Locale.ROOT))
                            .register(metrics));
            told.put(duty, new LogLimiter(clock, TOLD_MS));
        }
    }

    /** A turn that doesn't throw. */
    Runnable guarded(Duty duty, Runnable turn) {
        return () -> {
            try {
                turn.run();
            } catch (RuntimeException trouble) {
                onFailure(duty, trouble);
            } catch (Error broken) {
                faults.onFault("duties of the metadata leader", broken);
            }
        };
    }

    private void onFailure(Duty duty, RuntimeException trouble) {
        failures.get(duty).increment();
        LogLimiter limiter = told.get(duty);
        if (limiter.mayLog()) {
            LOG.warn(
                    "event=leader_duty_failed duty={} reason=\"{}\" heldBack={}",
                    duty.name().toLowerCase(Locale.ROOT),
                    trouble.toString(),
                    limiter.heldBack(),
                    trouble);
        }
    }
}
