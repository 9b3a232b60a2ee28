package io.varve.tiering.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.Clock;
import io.varve.base.StartupException;
import io.varve.metadata.testing.StepClock;
import io.varve.protocol.config.ConfigSchema;
import io.varve.protocol.runtime.SystemClock;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.object.StoreFailures;
import io.varve.tiering.testing.PlainS3Server;
import io.varve.tiering.testing.PlainS3Server.Trouble;
import io.varve.tiering.testing.SteppedRandomness;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A node starts without a store that is away, at once or nearly, and doesn't with one that can't be used or is another cluster's. */
class TieringStartIT {

    private final PlainS3Server server;

    TieringStartIT() throws Exception {
        server = new PlainS3Server(false);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    /** Bookies that come back together while the store is away are needed by everybody. */
    @Test
    @Timeout(20)
    void aStoreThatNeverAnswersHoldsUpNobodyForLong() {
        server.always(new Trouble.Stall());
        start("cluster-1");
    }

    @Test
    @Timeout(20)
    void aStoreThatIsOverloadedHoldsUpNobodyForLong() {
        server.always(new Trouble.Answer(503, "SlowDown"));
        start("cluster-1");
    }

    @Test
    void aStoreThatRefusesIsNoStore() {
        server.always(new Trouble.Answer(403, "AccessDenied"));
        assertThatThrownBy(() -> start("cluster-1"))
                .isInstanceOfSatisfying(
                        StartupException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(StartupException.Reason.NO_BUCKET))
                .hasMessageContaining("403 AccessDenied");
    }

    @Test
    void aSecondClusterIsRefusedAndTheFirstIsNot() {
        start("cluster-1");
        assertThatThrownBy(() -> start("cluster-2"))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("belongs to cluster cluster-1");
        assertThatCode(() -> start("cluster-1")).doesNotThrowAnyException();
    }

    /** S2: a bucket that somebody deleted and made anew, or an endpoint that leads elsewhere: a bookie that found it empty when it started, as it was then, must not begin it anew and say that all is well. */
    @Test
    void aBucketThatLostEverythingIsNotBegunAnewByWhoHasWrittenThere() {
        StepClock clock = new StepClock(0);
        AtomicReference<Optional<String>> newest = new AtomicReference<>(Optional.empty());
        try (Tiering anybody = open("cluster-1", server.config(), clock);
                Tiering bookie = open("cluster-1", server.config(), clock).claimedBy("cluster-1", newest::get)) {
            bookie.store().put("cluster-1/1", ByteBuffer.allocate(1)).join();
            newest.set(Optional.of("cluster-1/1"));
            anybody.store()
                    .deleteAll(List.of("cluster-1/1", "clusters/cluster-1.mark"))
                    .join();
            for (int attempt = 0; attempt < 3; attempt++) {
                clock.advance(60_000);
                assertThatThrownBy(bookie.store().put("cluster-1/2", ByteBuffer.allocate(1))::join)
                        .satisfies(e -> assertThat(StoreFailures.of(e))
                                .hasMessageContaining("another bucket")
                                .extracting(StoreException::kind)
                                .isEqualTo(StoreException.Kind.REFUSED));
            }
            anybody.store().put("cluster-1/1", ByteBuffer.allocate(1)).join();
            bookie.store().put("cluster-1/2", ByteBuffer.allocate(1)).join();
        }
    }

    /** One broker with another prefix than the others would call the whole past lost. */
    @Test
    void whoOnlyReadsIsRefusedByAnotherClustersBucketAndByNothingElse() {
        read("cluster-1");
        start("cluster-1");
        read("cluster-1");
        assertThatThrownBy(() -> read("cluster-2"))
                .isInstanceOfSatisfying(
                        StartupException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(StartupException.Reason.NO_BUCKET))
                .hasMessageContaining("belongs to cluster cluster-1");
        server.always(new Trouble.Answer(403, "AccessDenied"));
        read("cluster-2");
    }

    @Test
    @Timeout(10)
    void whoOnlyReadsWaitsForAStoreThatIsAwayForAFewSecondsAtMost() {
        server.always(new Trouble.Stall());
        read("cluster-1");
    }

    private void read(String cluster) {
        try (Tiering tiering = open(cluster, server.config())) {
            tiering.checkHeldAtStart(cluster, Optional.empty());
        }
    }

    /** Neither for what it can't tidy up nor for what it might still become, which is a node's to wait for. */
    @Test
    @Timeout(10)
    void aDeadStoreIsToldWithinTheDeadlineOfOneCall() {
        Map<String, String> dead = server.config();
        dead.put("tiering.s3.endpoint", "http://127.0.0.1:1");
        try (Tiering tiering = open("cluster-1", dead)) {
            StoreVerdict verdict = tiering.probe();
            assertThat(verdict.isSound()).isFalse();
            assertThat(verdict.line()).contains("PUT fails: ", "check the endpoint");
        }
    }

    private void start(String cluster) {
        try (Tiering tiering = open(cluster, server.config())) {
            tiering.checkAtStart(cluster, Optional.empty());
        }
    }

    private static Tiering open(String cluster, Map<String, String> store) {
        return open(cluster, store, SystemClock.INSTANCE);
    }

    private static Tiering open(String cluster, Map<String, String> store, Clock clock) {
        ConfigSchema schema = TieringConfig.addTo(ConfigSchema.of("test")).build();
        TieringConfig config = new TieringConfig(schema.check("test", store, Map.of(), Map.of()));
        return Tiering.open(
                config,
                cluster,
                clock,
                new SteppedRandomness(cluster.hashCode()),
                new SimpleMeterRegistry(),
                (what, fault) -> {
                    throw new AssertionError(what, fault);
                });
    }
}
