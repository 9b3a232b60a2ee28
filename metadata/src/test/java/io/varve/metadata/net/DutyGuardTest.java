package io.varve.metadata.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.metadata.net.DutyGuard.Duty;
import io.varve.protocol.runtime.SystemClock;
import io.varve.sim.RecordingFaultHandler;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DutyGuardTest {

    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private final DutyGuard guard = new DutyGuard(SystemClock.INSTANCE, faults, metrics);

    @Test
    void aTurnThatFailsIsCountedUnderItsDutyAndTheNextIsTaken() {
        assertThat(failures(Duty.PLANNING)).as("there from the start").isZero();
        AtomicInteger turns = new AtomicInteger();
        Runnable planning = guard.guarded(Duty.PLANNING, () -> {
            if (turns.incrementAndGet() < 3) {
                throw new IllegalStateException("planted");
            }
        });
        for (int i = 0; i < 4; i++) {
            planning.run();
        }
        assertThat(turns).hasValue(4);
        assertThat(failures(Duty.PLANNING)).isEqualTo(2);
        assertThat(failures(Duty.SESSIONS)).isZero();
        faults.assertNone();
    }

    @Test
    void aBrokenInvariantIsTheFaultHandlers() {
        guard.guarded(Duty.SESSIONS, () -> {
                    throw new AssertionError("planted");
                })
                .run();
        assertThat(faults.faults()).hasSize(1);
        assertThat(failures(Duty.SESSIONS)).isZero();
    }

    private double failures(Duty duty) {
        return metrics.get("varve_metadata_leader_duty_failures")
                .tag("duty", duty.name().toLowerCase(java.util.Locale.ROOT))
                .counter()
                .count();
    }
}
