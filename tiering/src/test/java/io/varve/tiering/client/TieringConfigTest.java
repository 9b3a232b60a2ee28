package io.varve.tiering.client;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.StartupException;
import io.varve.protocol.config.ConfigSchema;
import io.varve.protocol.runtime.SystemClock;
import io.varve.sim.RecordingFaultHandler;
import io.varve.tiering.api.RemoteSegments;
import io.varve.tiering.testing.MemoryObjectStore;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TieringConfigTest {

    private final RecordingFaultHandler faults = new RecordingFaultHandler();

    @Test
    void aRateThatLetsReadersWaitWithoutEndIsRefused() {
        assertThatThrownBy(() -> readerAt("262143"))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("tiering.read.bytes.per.second=262143")
                .hasMessageContaining("262144");
        readerAt("262144").close();
        readerAt("0").close();
        faults.assertNone();
    }

    private RemoteSegments readerAt(String rate) {
        ConfigSchema schema = TieringConfig.addTo(ConfigSchema.of("test")).build();
        Map<String, String> keys = Map.of("tiering.local.dir", "bucket", "tiering.read.bytes.per.second", rate);
        TieringConfig config = new TieringConfig(schema.check("test", keys, Map.of(), Map.of()));
        return config.newReader(
                new MemoryObjectStore(), SystemClock.INSTANCE, new SimpleMeterRegistry(), place -> true, faults);
    }
}
