package io.varve.serving.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.core.compaction.CompactionPass;
import io.varve.serving.core.compaction.CompactionPlan;
import io.varve.serving.core.compaction.CompactionPlan.Wishes;
import io.varve.serving.core.compaction.CompactionRules;
import io.varve.serving.core.compaction.NewestOffsets;
import io.varve.serving.core.partition.AbortedTxns.Aborted;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.kafka.record.KafkaRecordCodec;
import io.varve.serving.partition.CompactionRun.Outcome;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A pass, step by step, through all that can go wrong with it. However it ends, the chain holds either what it held or what takes its place (I-8), nothing
 * of the log is lost (I-1), and every buffer and stream is given back.
 */
class CompactionRunTest {

    private static final long RETENTION_MS = 1_000;
    private static final long STALLED_MS = 10_001;
    private static final List<String> LIVING = List.of("2:b=1", "3:a=3", "5:d=1", "6:c=2");

    private final CompactedPartition partition = new CompactedPartition(CompactionOptions.NEVER);
    private long keysBytes = 24 << 10;
    private long groupBytes = 1 << 20;
    private ByteRate rate = new ByteRate(Long.MAX_VALUE, partition.clock.nanoTime());

    private CompactionRun run;
    private CompletableFuture<Outcome> outcome;

    @AfterEach
    void nothingIsHeldInTheEnd() {
        partition.thread.drain();
        partition.bookies.assertNothingIsHeld();
    }

    private void threeSegments() {
        partition.put("a", "1", "c", "1").roll();
        partition.put("b", "1").put("a", "3").roll();
        partition.put("d", "0").put("d", "1").put("c", "2").roll();
    }

    private CompactionPlan plan() {
        List<CompactionPlan.Segment> sealed = partition.sealed().stream()
                .map(s -> new CompactionPlan.Segment(
                        s.startOffset(),
                        s.endOffset(),
                        s.bytes(),
                        s.isCompacted() ? s.compactedEnd() : s.startOffset(),
                        -1,
                        -1))
                .toList();
        return CompactionPlan.of(sealed, Long.MAX_VALUE, new Wishes(0, 0, Long.MAX_VALUE, groupBytes, 0))
                .orElseThrow();
    }

    private void begin() {
        CompactionPlan plan = plan();
        run = new CompactionRun(
                partition.context,
                partition.loop,
                partition,
                plan,
                CompactionRun.inputsOf(plan, partition.chain()),
                source -> new CompactionPass(
                        new CompactionRules(
                                partition.clock.wallTimeMs(),
                                RETENTION_MS,
                                1 << 20,
                                source.aborted(),
                                source.lastBatches()),
                        plan.dirtyOffset(),
                        new NewestOffsets(keysBytes, 1, 2),
                        new KafkaRecordCodec()),
                partition.metrics,
                rate);
        outcome = run.start();
    }

    /** Until nothing happens by itself. */
    private void go() {
        partition.thread.drain();
    }

    /** Until the next stream was written to. */
    private void goUntilWritten() {
        int streams = partition.bookies.streams.size();
        while (partition.bookies.streams.size() == streams && partition.thread.step()) {
            // On to the next step.
        }
        assertThat(partition.bookies.streams).hasSizeGreaterThan(streams);
    }

    private void tickAfter(long ms) {
        partition.clock.advance(ms);
        run.tick();
        go();
    }

    private void assertEnded(Outcome expected, String why) {
        assertThat(outcome).isCompletedWithValue(expected);
        assertThat(run.why()).contains(why);
        partition.bookies.assertNothingIsHeld();
    }

    private void assertDone() {
        begin();
        go();
        assertEnded(Outcome.DONE, "");
    }

    private List<SegmentId> ids() {
        return partition.sealed().stream().map(SegmentDescriptor::id).toList();
    }

    // ---- what it is for
    // ----------------------------------------------------------------------------------------------------

    @Test
    void allSegmentsBecomeOneWithTheNewestOfEachKey() {
        threeSegments();
        assertDone();
        assertThat(partition.pairs()).isEqualTo(LIVING);
        assertThat(partition.sealed()).singleElement().satisfies(segment -> {
            assertThat(segment.compactedEnd()).isEqualTo(7);
            assertThat(segment.replicas()).hasSize(3);
            assertThat(segment.unconfirmed()).isEmpty();
            LogState state = checkpointAtTheEnd();
            assertThat(state.segmentBytes()).isEqualTo(segment.bytes());
            assertThat(state.segmentMaxTimestampMs()).isEqualTo(segment.maxTimestampMs());
        });
        assertThat(partition.counted("segments.replaced")).isEqualTo(3);
        assertThat(partition.bookies.streams).allMatch(stream -> stream.sealedEnd == 7);
    }

    @Test
    void aSegmentThatPassesHaveLookedAtStaysAsItIsIfNothingGoes() {
        groupBytes = 1;
        threeSegments();
        assertDone();
        List<SegmentId> before = ids();
        double written = partition.counted("written.bytes");

        partition.put("d", "2").roll();
        assertDone();

        assertThat(partition.pairs()).containsExactly("2:b=1", "3:a=3", "6:c=2", "7:d=2");
        assertThat(ids().subList(0, 2)).as("of which nothing went").isEqualTo(before.subList(0, 2));
        assertThat(ids().get(2)).as("of which 5:d=1 went").isNotEqualTo(before.get(2));
        assertThat(partition.counted("segments.left")).isEqualTo(2);
        assertThat(partition.counted("written.bytes") - written)
                .isEqualTo(partition.sealed().get(2).bytes()
                        + partition.sealed().get(3).bytes());
    }

    /** What comes before the first change is copied, what it was found in isn't read for nothing. */
    @Test
    void aSegmentIsPutTogetherOfWhatStaysAndWhatChanges() {
        groupBytes = 1;
        partition.bookies.readChunkBytesMax = 1;
        partition
                .put("a", "1", "x", "1")
                .put("b", "1")
                .put("x", "2")
                .put("y", null)
                .put("c", "1")
                .put("y", "1")
                .roll();
        assertDone();
        assertThat(partition.pairs()).containsExactly("0:a=1", "2:b=1", "3:x=2", "5:c=1", "6:y=1");
        partition.put("x", "3").roll();
        assertDone();
        assertThat(partition.pairs()).containsExactly("0:a=1", "2:b=1", "5:c=1", "6:y=1", "7:x=3");
        partition.put("a", "2").roll();
        assertDone();
        assertThat(partition.pairs()).containsExactly("2:b=1", "5:c=1", "6:y=1", "7:x=3", "8:a=2");
    }

    @Test
    void aTombstoneGoesFromASegmentInWhichNothingElseChanges() {
        groupBytes = 1;
        partition.put("a", null).put("b", "1").roll();
        assertDone();
        partition.put("c", "1").roll();
        assertDone();
        assertThat(partition.pairs()).containsExactly("0:a=-", "1:b=1", "2:c=1");
        partition.clock.advance(RETENTION_MS);
        partition.put("d", "1").roll();
        assertDone();
        assertThat(partition.pairs()).containsExactly("1:b=1", "2:c=1", "3:d=1");
    }

    @Test
    void aSegmentWithMoreKeysThanThereIsRoomForTakesSeveralPasses() {
        keysBytes = NewestOffsets.BYTES_MIN;
        int keys = 40;
        partition.put("k0", "old").roll();
        for (int i = 0; i < keys; i++) {
            partition.put("k" + i, "1").put("k" + i, "2");
        }
        partition.roll();
        long compactedEnd = -1;
        int passes = 0;
        while (partition.sealed().get(partition.sealed().size() - 1).compactedEnd() != 1 + 2 * keys) {
            assertDone();
            long now = partition.sealed().get(partition.sealed().size() - 1).compactedEnd();
            if (passes > 0) {
                assertThat(now).as("each pass gets further").isGreaterThan(compactedEnd);
            }
            compactedEnd = now;
            passes++;
        }
        assertThat(passes).isBetween(3, 6);
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < keys; i++) {
            expected.add((2 + 2 * i) + ":k" + i + "=2");
        }
        assertThat(partition.pairs()).isEqualTo(expected);
    }

    /** Readers must go on being told of it, for its records are still there. */
    @Test
    void whatWasAbortedBehindThePartThatAPassLookedAtIsStillKnownFromTheCheckpoint() {
        keysBytes = NewestOffsets.BYTES_MIN;
        for (int i = 0; i < 20; i++) {
            partition.put("k" + i, "1");
        }
        partition.put(MemoryRecords.withTransactionalRecords(
                        Compression.NONE, 9, (short) 0, 0, new SimpleRecord(1, new byte[] {1}, new byte[] {1}))
                .buffer()
                .duplicate());
        partition.abort(9).roll();
        Aborted txn = new Aborted(9, 20, 21, 22);
        partition.aborted.add(txn);
        assertDone();
        LogState state = checkpointAtTheEnd();
        assertThat(state.abortedFrom())
                .isEqualTo(partition.sealed().get(0).compactedEnd())
                .isLessThan(20);
        List<Aborted> known = new ArrayList<>();
        state.aborted().collect(0, 22, known);
        assertThat(known).containsExactly(txn);

        assertDone();
        assertThat(checkpointAtTheEnd().aborted().size()).as("once it is gone").isZero();
        assertThat(partition.pairs()).hasSize(20);
    }

    private LogState checkpointAtTheEnd() {
        SegmentDescriptor last = partition.sealed().get(partition.sealed().size() - 1);
        byte[] state = partition.bookies.checkpoints(new BookieId(1), last.id()).get(last.endOffset());
        return LogState.decode(ByteBuffer.wrap(state));
    }

    // ---- sources
    // -----------------------------------------------------------------------------------------------------------

    @Test
    void whatOneBookieDoesNotAnswerAnotherDoes() {
        threeSegments();
        partition.bookies.mute.add(new BookieId(1));
        partition.bookies.mute.add(new BookieId(3));
        assertDone();
        assertThat(partition.pairs()).isEqualTo(LIVING);
    }

    @Test
    void aSourceThatStopsAnsweringEndsItAndChangesNothing_I7() {
        for (int reads = 0; reads < 40; reads++) {
            CompactedPartitionAfter after = afterReads(reads);
            if (after.outcome() == Outcome.DONE) {
                assertThat(reads).as("some of the runs were cut short").isGreaterThan(8);
                return;
            }
            assertThat(after.outcome()).isEqualTo(Outcome.FAILED);
            assertThat(after.isWhole()).isTrue();
        }
        throw new AssertionError("it never gets to its end");
    }

    private record CompactedPartitionAfter(Outcome outcome, boolean isWhole) {}

    /** A run of its own whose bookies answer so many reads. */
    private static CompactedPartitionAfter afterReads(int reads) {
        CompactionRunTest one = new CompactionRunTest();
        one.threeSegments();
        one.partition.bookies.readChunkBytesMax = 1;
        one.partition.bookies.readsLeft = reads;
        List<String> before = one.partition.pairs();
        one.begin();
        one.go();
        one.partition.bookies.assertNothingIsHeld();
        boolean done = one.outcome.join() == Outcome.DONE;
        return new CompactedPartitionAfter(
                one.outcome.join(), one.partition.pairs().equals(done ? LIVING : before));
    }

    @Test
    void aBatchThatCannotBeReadMakesItImpossible() {
        partition.put("a", "1").roll();
        partition.put("a", "2").putGarbage().roll();
        List<SegmentId> before = ids();
        begin();
        go();
        assertEnded(Outcome.IMPOSSIBLE, "near 1");
        assertThat(ids()).isEqualTo(before);
        assertThat(partition.bookies.streams).isEmpty();
    }

    @Test
    void aBatchWithMoreKeysThanThereIsRoomForMakesItImpossible() {
        keysBytes = NewestOffsets.BYTES_MIN;
        String[] pairs = new String[80];
        for (int i = 0; i < pairs.length; i++) {
            pairs[i] = "k" + i;
        }
        partition.put(pairs).roll();
        begin();
        go();
        assertEnded(Outcome.IMPOSSIBLE, "the batch at 0 has more keys");
    }

    @Test
    void anOwnerThatCannotSayWhatWasAbortedEndsIt_I7() {
        threeSegments();
        partition.isStateKnown = false;
        begin();
        go();
        assertEnded(Outcome.FAILED, "the owner's state");
        assertThat(partition.bookies.readBytes).isZero();
    }

    // ---- targets
    // -----------------------------------------------------------------------------------------------------------

    @Test
    void oneTargetLessIsConfirmedLaterAndTwoLessEndIt_I1() {
        threeSegments();
        partition.bookies.hanging.add(new BookieId(2));
        begin();
        goUntilWritten();
        partition.bookies.streamTo(2).fail(BookieStatus.NO_ANSWER);
        go();
        assertEnded(Outcome.DONE, "");
        assertThat(partition.sealed().get(0).unconfirmed())
                .extracting(replica -> replica.bookie().value())
                .containsExactly(2);

        partition.put("a", "4").roll();
        List<SegmentId> before = ids();
        partition.bookies.hanging.addAll(List.of(new BookieId(1), new BookieId(3)));
        begin();
        goUntilWritten();
        partition.bookies.streamTo(1).fail(BookieStatus.NO_ANSWER);
        partition.bookies.streamTo(2).fail(BookieStatus.READ_ONLY);
        go();
        assertEnded(Outcome.FAILED, "too few bookies");
        assertThat(ids()).isEqualTo(before);
    }

    @Test
    void oneTargetThatHangsIsLeftAfterAWhile() {
        threeSegments();
        partition.bookies.hanging.add(new BookieId(3));
        begin();
        go();
        assertThat(outcome).isNotDone();
        tickAfter(STALLED_MS / 2);
        assertThat(outcome).isNotDone();
        tickAfter(STALLED_MS / 2 + 1);
        assertEnded(Outcome.DONE, "");
        assertThat(partition.sealed().get(0).replicas()).hasSize(2);
        assertThat(partition.pairs()).isEqualTo(LIVING);
    }

    @Test
    void whatHungOnceIsNotWrittenToAnyMoreByThatPass() {
        groupBytes = 1;
        threeSegments();
        partition.bookies.hanging.add(new BookieId(3));
        begin();
        go();
        tickAfter(STALLED_MS);
        assertEnded(Outcome.DONE, "");
        assertThat(partition.bookies.streams.stream().filter(stream -> stream.bookie.value() == 3))
                .hasSize(1);
        assertThat(partition.sealed())
                .hasSize(3)
                .allMatch(segment -> segment.replicas().size() == 2);
        assertThat(partition.pairs()).isEqualTo(LIVING);
    }

    @Test
    void targetsThatAllHangEndIt() {
        threeSegments();
        List<SegmentId> before = ids();
        partition.bookies.hanging.addAll(List.of(new BookieId(1), new BookieId(2), new BookieId(3)));
        begin();
        go();
        tickAfter(STALLED_MS);
        assertEnded(Outcome.FAILED, "too few bookies");
        assertThat(ids()).isEqualTo(before);
    }

    @Test
    void aFenceEndsIt_I4() {
        threeSegments();
        List<SegmentId> before = ids();
        partition.bookies.hanging.add(new BookieId(1));
        begin();
        goUntilWritten();
        partition.bookies.streamTo(1).fail(BookieStatus.FENCED);
        go();
        assertEnded(Outcome.FAILED, "too few bookies");
        assertThat(ids()).isEqualTo(before);
    }

    @Test
    void tooFewBookiesToWriteToEndIt() {
        threeSegments();
        partition.metadata.expireBookie(new BookieId(2), 102);
        partition.metadata.expireBookie(new BookieId(3), 103);
        begin();
        go();
        assertEnded(Outcome.FAILED, "no segment");
        assertThat(partition.pairs()).hasSize(7);
    }

    // ---- the chain
    // ---------------------------------------------------------------------------------------------------------

    @Test
    void aLostTenureEndsItAtTheNextStep_I14() {
        threeSegments();
        begin();
        goUntilWritten();
        partition.lost = true;
        go();
        assertEnded(Outcome.STOPPED, "moved to another broker");
        assertThat(partition.pairs()).hasSize(7);
    }

    @Test
    void anOwnerThatDoesNotKnowYetThatItWasReplacedCannotExchangeAnything_I14() {
        threeSegments();
        List<SegmentId> before = ids();
        begin();
        goUntilWritten();
        partition.metadata.expireBroker(CompactedPartition.BROKER, CompactedPartition.INCARNATION);
        go();
        assertEnded(Outcome.FAILED, "the exchange");
        assertThat(ids()).isEqualTo(before);
    }

    @Test
    void inputsThatLeaveTheChainMeanwhileAreNotReplaced_I8() {
        threeSegments();
        begin();
        goUntilWritten();
        partition.client.advanceLogStart(partition.id(), partition.epoch(), 2).join();
        partition.metadata.plan();
        go();
        assertEnded(Outcome.FAILED, "the exchange");
        assertThat(partition.sealed())
                .extracting(SegmentDescriptor::startOffset)
                .containsExactly(2L, 4L);
        assertThat(partition.sealed()).noneMatch(SegmentDescriptor::isCompacted);
    }

    /** compact,delete: a pass over a long log takes longer than retention takes to look. */
    @Test
    void inputsThatRetentionTookBeforeTheirTurnAreLeftOut() {
        groupBytes = 1;
        threeSegments();
        begin();
        partition.client.advanceLogStart(partition.id(), partition.epoch(), 2).join();
        partition.metadata.plan();
        goUntilWritten();
        SegmentDescriptor second = partition.sealed().get(0);
        while (partition.sealed().get(0).equals(second)) {
            assertThat(partition.thread.step()).isTrue();
        }
        partition.put("e", "1").roll();
        partition.client.advanceLogStart(partition.id(), partition.epoch(), 4).join();
        partition.metadata.plan();
        go();
        assertEnded(Outcome.DONE, "");
        assertThat(partition.sealed())
                .extracting(SegmentDescriptor::startOffset)
                .containsExactly(4L, 7L);
        assertThat(partition.sealed().get(0).isCompacted()).isTrue();
    }

    @Test
    void segmentsThatRetentionTookFromBehindTheOneAtHandAreLeftOut() {
        groupBytes = 1;
        threeSegments();
        begin();
        goUntilWritten();
        SegmentDescriptor first = partition.sealed().get(0);
        while (partition.sealed().get(0).equals(first)) {
            assertThat(partition.thread.step()).isTrue();
        }
        partition.client.advanceLogStart(partition.id(), partition.epoch(), 4).join();
        partition.metadata.plan();
        go();
        assertEnded(Outcome.DONE, "");
        assertThat(partition.sealed()).singleElement().matches(s -> s.startOffset() == 4 && s.isCompacted());
    }

    @Test
    void anExchangeWhoseAnswerIsLostIsFoundByTheNextPass_I17() {
        groupBytes = 1;
        threeSegments();
        begin();
        goUntilWritten();
        partition.metadata.loseAnswers(1);
        go();
        assertEnded(Outcome.FAILED, "the exchange");
        assertThat(partition.pairs()).as("it was done").doesNotContain("0:a=1");
        assertThat(plan().dirtyOffset()).isEqualTo(2);
        assertDone();
        assertThat(partition.pairs()).isEqualTo(LIVING);
    }

    // ---- the end
    // -----------------------------------------------------------------------------------------------------------

    @Test
    void itCanBeStoppedAtAnyStep() {
        int steps = 0;
        Outcome last = Outcome.STOPPED;
        while (last == Outcome.STOPPED) {
            CompactionRunTest one = new CompactionRunTest();
            one.groupBytes = 1;
            one.threeSegments();
            List<String> before = one.partition.pairs();
            one.begin();
            for (int i = 0; i < steps; i++) {
                one.partition.thread.step();
            }
            one.run.stop();
            last = one.outcome.join();
            one.go();
            one.run.tick();
            one.go();
            one.partition.bookies.assertNothingIsHeld();
            assertThat(before).as("stopped after %s steps", steps).containsAll(one.partition.pairs());
            assertThat(one.partition.pairs()).containsAll(LIVING);
            steps++;
        }
        assertThat(last).isEqualTo(Outcome.DONE);
        assertThat(steps).isGreaterThan(20);
    }

    @Test
    void noMoreIsReadAndWrittenThanTheRateAllows() {
        threeSegments();
        partition.bookies.readChunkBytesMax = 1;
        rate = new ByteRate(1_000, partition.clock.nanoTime());
        begin();
        go();
        long begunMs = partition.clock.wallTimeMs();
        while (!outcome.isDone()) {
            tickAfter(10);
        }
        assertEnded(Outcome.DONE, "");
        double bytes = partition.counted("read.bytes") + partition.counted("written.bytes");
        assertThat((double) partition.clock.wallTimeMs() - begunMs).isBetween(0.7 * bytes, 1.1 * bytes);
    }

    /** Bookies stall only while there is something for them to confirm, and not while the next chunk is waited for. */
    @Test
    void aSlowRateIsNoStall() {
        for (int bytesPerSecond = 5; bytesPerSecond < 40; bytesPerSecond++) {
            CompactionRunTest one = new CompactionRunTest();
            one.threeSegments();
            one.partition.bookies.readChunkBytesMax = 1;
            one.partition.bookies.hanging.addAll(List.of(new BookieId(1), new BookieId(2), new BookieId(3)));
            one.rate = new ByteRate(bytesPerSecond, one.partition.clock.nanoTime());
            one.begin();
            one.go();
            while (!one.outcome.isDone()) {
                one.tickAfter(1_000);
                one.tickAfter(20);
                one.partition.bookies.streams.forEach(ScriptedBookies.Stream::confirm);
                one.go();
            }
            assertThat(one.outcome).as("%s bytes a second", bytesPerSecond).isCompletedWithValue(Outcome.DONE);
        }
    }

    @Test
    void itWaitsForTargetsThatHoldBackMoreThanTheyMay() {
        String large = "x".repeat(1 << 20);
        for (int i = 0; i < 12; i++) {
            partition.put("k" + i, large);
        }
        partition.roll();
        partition.bookies.hanging.add(new BookieId(3));
        begin();
        go();
        assertThat(outcome).isNotDone();
        assertThat(partition.bookies.streamTo(3).pendingBytes()).isBetween(4L << 20, 6L << 20);
        partition.bookies.hanging.clear();
        partition.bookies.streamTo(3).confirm();
        go();
        assertEnded(Outcome.DONE, "");
        assertThat(partition.pairs()).hasSize(12);
    }
}
