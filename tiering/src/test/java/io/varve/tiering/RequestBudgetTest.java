package io.varve.tiering;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.metadata.model.ObjectRef;
import io.varve.protocol.config.Config;
import io.varve.protocol.config.ConfigSchema;
import io.varve.protocol.runtime.SystemClock;
import io.varve.sim.RecordingFaultHandler;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.RemoteSegments;
import io.varve.tiering.client.TieringConfig;
import io.varve.tiering.object.ObjectStore.Verb;
import io.varve.tiering.testing.FaultyObjectStore;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** S14: the request bill is published in docs/TIERING.md, and is what the store sees. */
class RequestBudgetTest {

    private static final int MIB = 1024 * 1024;
    private static final Path PUBLISHED = Path.of("..", "docs", "TIERING.md");

    private final FaultyObjectStore store = new FaultyObjectStore(new MemoryObjectStore());
    private final TieringConfig config = new TieringConfig(defaults());

    @Test
    void requestsPerGigabyteStayWithinThosePublished() throws Exception {
        TestSegments.Segment segment = TestSegments.segment(1, 0, 1024, 64 * 1024, false);
        ObjectRef object = offload(segment);
        double perGib = 1024.0 * MIB / segment.descriptor().bytes();
        Map<Verb, Long> writing = calls();
        readAll(object);
        Map<Verb, Long> reading = calls();
        reading.replaceAll((verb, calls) -> calls - writing.get(verb));

        assertPublished("written, 64 MiB objects", writing, perGib);
        assertPublished("read back in order, 1 MiB a fetch", reading, perGib);
        // The bounds of C16: at most one PUT for 4 MiB, no LIST, at most 1.2 GETs for each MiB read.
        assertThat(puts(writing) * perGib).isLessThan(256);
        assertThat(writing.get(Verb.LIST) + reading.get(Verb.LIST)).isZero();
        assertThat(reading.get(Verb.GET) * perGib).isLessThan(1.2 * 1024);
    }

    /** The published numbers are bounds, and not so wide that they say nothing. */
    private static void assertPublished(String what, Map<Verb, Long> calls, double perGib) throws IOException {
        String line = Files.readAllLines(PUBLISHED).stream()
                .filter(l -> l.startsWith("| " + what))
                .findFirst()
                .orElseThrow();
        String[] columns = line.split("\\|");
        double[] measured = {
            puts(calls) * perGib,
            calls.get(Verb.GET) * perGib,
            calls.get(Verb.HEAD) * perGib,
            calls.get(Verb.LIST) * perGib
        };
        for (int i = 0; i < measured.length; i++) {
            long published = Long.parseLong(columns[i + 2].trim());
            assertThat(measured[i]).as(line + " column " + (i + 1)).isBetween(0.5 * published, (double) published);
        }
    }

    private static long puts(Map<Verb, Long> calls) {
        return calls.get(Verb.PUT)
                + calls.get(Verb.CREATE_UPLOAD)
                + calls.get(Verb.PUT_PART)
                + calls.get(Verb.COMPLETE_UPLOAD);
    }

    private ObjectRef offload(TestSegments.Segment segment) throws Exception {
        try (Offloader offloader = config.newOffloader(
                store,
                TestSegments.CLUSTER,
                SystemClock.INSTANCE,
                new SimpleMeterRegistry(),
                new RecordingFaultHandler())) {
            return offloader
                    .offload(
                            new Offloader.OffloadAttempt(1, "orders", TestSegments.PARTITION),
                            List.of(segment.source()))
                    .get(60, TimeUnit.SECONDS);
        }
    }

    private void readAll(ObjectRef object) throws Exception {
        try (RemoteSegments reader = config.newReader(
                store, SystemClock.INSTANCE, new SimpleMeterRegistry(), place -> true, new RecordingFaultHandler())) {
            for (long at = 0; at < object.endOffset(); ) {
                RemoteSegments.RemoteEntries read =
                        reader.read(object, TestSegments.PARTITION, at, MIB).get(60, TimeUnit.SECONDS);
                read.entries().release();
                at = read.nextOffset();
            }
        }
    }

    private Map<Verb, Long> calls() {
        Map<Verb, Long> calls = new TreeMap<>();
        for (Verb verb : Verb.values()) {
            calls.put(verb, store.calls(verb));
        }
        return calls;
    }

    private static Config defaults() {
        ConfigSchema schema = TieringConfig.addTo(ConfigSchema.of("test")).build();
        return schema.check("test", Map.of(), Map.of(), Map.of());
    }
}
