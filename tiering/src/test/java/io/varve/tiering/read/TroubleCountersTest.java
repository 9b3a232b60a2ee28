package io.varve.tiering.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import org.junit.jupiter.api.Test;

/** S24: an alarm on the rise of a counter sees the first failure as well. */
class TroubleCountersTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @Test
    void everyKindIsThereBeforeItHappensAndCountsItsOwn() {
        TroubleCounters counters = new TroubleCounters(registry, "failures");
        for (Kind kind : Kind.values()) {
            assertThat(count(kind)).as(kind.name()).isZero();
        }
        counters.count(new RemoteReadException(Kind.MISSING, "gone", null));
        for (Kind kind : Kind.values()) {
            assertThat(count(kind)).as(kind.name()).isEqualTo(kind == Kind.MISSING ? 1 : 0);
        }
    }

    private double count(Kind kind) {
        return registry.get("failures").tag("kind", kind.name()).counter().count();
    }
}
