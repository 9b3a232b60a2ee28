package io.varve.serving.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.model.SegmentDescriptor;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CompactorTest {

    private static final long LOOK_MS = 1_000;
    private static final long HOUR_MS = 3_600_000;

    private final CompactionOptions options = new CompactionOptions(LOOK_MS, Long.MAX_VALUE, 1 << 20, 1 << 20);
    private final CompactedPartition partition = new CompactedPartition(options);
    private final Compactor compactor = new Compactor(
            partition.context,
            partition.loop,
            () -> List.of(partition),
            CompactionPasses.byKey(options.keysBytes()),
            partition.metrics);

    private void passTime(long ms) {
        for (long passed = 0; passed < ms; passed += LOOK_MS) {
            partition.clock.advance(LOOK_MS);
            compactor.tick();
            partition.thread.drain();
        }
    }

    private double passes(String outcome) {
        return partition.counted("passes", "outcome", outcome);
    }

    @Test
    void whatIsSealedIsCompactedAtTheNextLook() {
        partition.put("a", "1").put("a", "2").roll();
        passTime(LOOK_MS);
        assertThat(passes("done")).isEqualTo(1);
        assertThat(partition.pairs()).containsExactly("1:a=2");
        passTime(10 * LOOK_MS);
        assertThat(passes("done")).as("nothing is dirty").isEqualTo(1);
        assertThat(partition.gauge("dirty.bytes")).isZero();
    }

    @Test
    void whatCannotBeCompactedIsTriedEverMoreRarely() {
        partition.put("a", "1").put("a", "2").putGarbage().roll();
        passTime(24 * HOUR_MS);
        assertThat(passes("impossible")).as("not 86400").isBetween(30.0, 40.0);
        assertThat(partition.gauge("paused.partitions")).isEqualTo(1);
        assertThat(partition.gauge("dirty.bytes")).as("it is dirty nonetheless").isPositive();
        double before = passes("impossible");
        partition.put("b", "1").roll();
        passTime(HOUR_MS / 2);
        assertThat(passes("impossible") - before)
                .as("that more follows makes nothing possible")
                .isLessThanOrEqualTo(1);
    }

    @Test
    void aPauseEndsWhenTheConfigurationChanges() {
        pause();
        partition
                .client
                .alterTopicConfigs(partition.id().topic(), Map.of("min.compaction.lag.ms", Optional.of("1")))
                .join();
        assertTriedAtOnce();
    }

    @Test
    void aPauseEndsWhenTheLogStartHasMovedBeyondTheTrouble() {
        partition.putGarbage().roll();
        partition.put("a", "1").put("a", "2").roll();
        passTime(HOUR_MS);
        partition.client.advanceLogStart(partition.id(), partition.epoch(), 1).join();
        partition.metadata.plan();
        passTime(LOOK_MS);
        assertThat(passes("done")).isEqualTo(1);
        assertThat(partition.gauge("paused.partitions")).isZero();
        assertThat(partition.sealed()).singleElement().matches(SegmentDescriptor::isCompacted);
    }

    @Test
    void whatIsNotThePartitionsFaultIsTriedAgainWithinAMinute() {
        partition.put("a", "1").put("a", "2").roll();
        partition.isStateKnown = false;
        passTime(HOUR_MS);
        assertThat(passes("failed")).isBetween(59.0, 70.0);
        partition.isStateKnown = true;
        passTime(60_000 + LOOK_MS);
        assertThat(passes("done")).isEqualTo(1);
        assertThat(partition.gauge("paused.partitions")).isZero();
    }

    private void pause() {
        partition.putGarbage().roll();
        passTime(6 * HOUR_MS);
    }

    private void assertTriedAtOnce() {
        double before = passes("impossible");
        passTime(3 * LOOK_MS);
        assertThat(passes("impossible") - before).isBetween(2.0, 3.0);
    }

    /** Records whose times lie in the future would be too young for ever. */
    @Test
    void recordsFromTheFutureAreAsOldAsTheirSeal() {
        partition
                .client
                .alterTopicConfigs(partition.id().topic(), Map.of("min.compaction.lag.ms", Optional.of("60000")))
                .join();
        long nowMs = partition.clock.wallTimeMs();
        partition.put("a", "1").put("a", "2").rollWithTime(nowMs + 1_000 * HOUR_MS);
        passTime(59_000);
        assertThat(passes("done")).isZero();
        passTime(3_000);
        assertThat(passes("done")).isEqualTo(1);
    }

    @Test
    void nothingBeginsOnceItWasStopped() {
        partition.put("a", "1").put("a", "2").roll();
        partition.clock.advance(LOOK_MS);
        compactor.tick();
        compactor.stop();
        partition.thread.drain();
        assertThat(passes("stopped")).isEqualTo(1);
        passTime(10 * LOOK_MS);
        assertThat(passes("done")).isZero();
        partition.bookies.assertNothingIsHeld();
    }
}
