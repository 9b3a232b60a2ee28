package io.varve.serving.kafka.group;

import static io.varve.serving.kafka.Eventually.get;
import static io.varve.serving.kafka.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.Clock;
import io.varve.base.PartitionId;
import io.varve.metadata.model.InternalTopics;
import io.varve.serving.kafka.FakeMetadata;
import io.varve.serving.log.InMemoryPartitionLogs;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * P35, C9.1 to C9.4 of the user reports: committed offsets are kept while anybody is in the group, and for their time after that. Retention is a
 * minute, and the clock is the test's; the sweep runs every 20 ms of true time.
 */
final class OffsetExpiryTest {

    private static final Map<String, String> SETTINGS =
            Map.of("offsets.retention.minutes", "1", "offsets.retention.check.interval.ms", "20");

    private final FakeMetadata metadata = new FakeMetadata();
    private final SteppedClock clock = new SteppedClock();
    private GroupBroker broker;

    @BeforeEach
    void start() {
        metadata.addBroker(1);
        metadata.addTopic(InternalTopics.CONSUMER_OFFSETS, 1, 1);
        metadata.addTopic("t", 1, 1);
        PartitionId partition = GroupBroker.partition(metadata);
        InMemoryPartitionLogs logs = new InMemoryPartitionLogs();
        logs.serve(partition);
        broker = new GroupBroker(1, metadata, logs, clock, SETTINGS);
        broker.awaitActive("g");
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    /** C9.1: a retention of -1, as old clients send it, is the server's, not none. */
    @ParameterizedTest
    @ValueSource(ints = {2, 8})
    void anOffsetOfNobodysIsKeptForItsTimeAndThenThereIsNone(int version) {
        assertThat(get(broker.commit(version, "g", "", -1, 42))).isEqualTo(Errors.NONE);
        stepAndSweep(50);
        assertThat(broker.committed("g")).isEqualTo("42");
        clock.step(25);
        // C9.4: no offset, and no error.
        assertThat(until(() -> broker.committed("g"), "-1"::equals)).isEqualTo("-1");
    }

    /** C9.2 and C9.3. */
    @Test
    void whileAnybodyIsInTheGroupItsOffsetsStayAndTheTimeBeginsWhenTheLastOneLeaves() {
        // A group without members or offsets is swept away, and with it whoever is just about to join.
        assertThat(get(broker.commit("g", 1))).isEqualTo(Errors.NONE);
        JoinGroupResponseData member = broker.joinAndSync("g");
        assertThat(get(broker.commit("g", member.memberId(), member.generationId(), 42)))
                .isEqualTo(Errors.NONE);
        for (int i = 0; i < 6; i++) {
            stepAndSweep(30);
            assertThat(broker.heartbeat("g", member)).isEqualTo(Errors.NONE);
            assertThat(broker.committed("g")).isEqualTo("42");
        }
        assertThat(broker.leave("g", member)).isEqualTo(Errors.NONE);
        stepAndSweep(50);
        assertThat(broker.committed("g")).isEqualTo("42");
        clock.step(25);
        assertThat(until(() -> broker.committed("g"), "-1"::equals)).isEqualTo("-1");
    }

    /** Lets time pass, and waits until a sweep has looked since: one that took an offset whose time was over. */
    private void stepAndSweep(int seconds) {
        clock.step(-120);
        assertThat(get(broker.commit("canary", 1))).isEqualTo(Errors.NONE);
        clock.step(120 + seconds);
        until(() -> broker.committed("canary"), "-1"::equals);
    }

    /** True time, moved on by steps. */
    private static final class SteppedClock implements Clock {
        private final AtomicLong stepsMs = new AtomicLong();

        void step(int seconds) {
            stepsMs.addAndGet(TimeUnit.SECONDS.toMillis(seconds));
        }

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public long wallTimeMs() {
            return System.currentTimeMillis() + stepsMs.get();
        }
    }
}
