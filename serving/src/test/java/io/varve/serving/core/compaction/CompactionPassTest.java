package io.varve.serving.core.compaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.core.compaction.CompactedLog.Seen;
import io.varve.serving.core.partition.EndMarker;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.core.partition.ProducerStates.LastBatch;
import io.varve.serving.core.partition.ProducerStates.Verdict;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CompactionPassTest {

    private final CompactedLog log = new CompactedLog();

    @ParameterizedTest
    @EnumSource(CompressionType.class)
    void theNewestRecordOfEachKeyStaysAtItsOffset(CompressionType codec) {
        log.codec = codec;
        log.put("a", "1", "b", "1", "c", "1").put("a", "2", "d", "1").put("c", "2");

        CompactedLog after = log.compacted(0);

        assertThat(after.pairs()).containsExactly("1:b=1", "3:a=2", "4:d=1", "5:c=2");
        assertThat(after.seen()).isSubsetOf(log.seen());
        assertThat(after.end()).isEqualTo(6);
        assertThat(after.kafkaBatches().get(0).compressionType()).isEqualTo(codec);
        assertThat(after.batches.get(1))
                .as("a batch of which all stays is kept as it is")
                .isEqualTo(log.batches.get(1));
    }

    @Test
    void neighboursThatGoBecomeOnePadding() {
        log.put("a", "1")
                .put("b", "1")
                .put("a", "2")
                .put("b", "2")
                .put("c", "1")
                .put("a", "3")
                .put("b", "3");

        assertThat(log.compacted(0).shape())
                .containsExactly("0-3 padding e3", "4-4 data e3", "5-5 data e3", "6-6 data e3");
    }

    @Test
    void paddingEndsWithItsSegmentAndNeverReachesIntoAnotherEpoch() {
        log.put("a", "1").put("a", "2").put("a", "3").put("a", "4");
        log.epoch = 4;
        log.put("a", "5").put("a", "6");

        CompactedLog after = log.compacted(0, 2);

        assertThat(after.shape()).containsExactly("0-1 padding e3", "2-3 padding e3", "4-4 padding e4", "5-5 data e4");
    }

    @Test
    void paddingIsMergedByTheNextPass() {
        log.put("a", "1").put("a", "2").put("b", "1").put("a", "3");
        CompactedLog once = log.compacted(0, 1);
        long dirty = once.end();
        once.put("b", "2");

        CompactedLog twice = once.compacted(dirty);

        assertThat(once.shape())
                .containsExactly("0-0 padding e3", "1-1 padding e3", "2-2 data e3", "3-3 data e3", "4-4 data e3");
        assertThat(twice.shape()).containsExactly("0-2 padding e3", "3-3 data e3", "4-4 data e3");
    }

    @Test
    void paddingOfMoreThanAnIntIsSplit() {
        log.add(RecordBatchHeader.padding(0, Integer.MAX_VALUE - 1, 3));
        log.put("a", "1").put("a", "2").put("a", "3");

        assertThat(log.compacted(0).shape())
                .containsExactly(
                        "0-2147483647 padding e3", "2147483648-2147483648 padding e3", "2147483649-2147483649 data e3");
    }

    @Test
    void whatWasAbortedGoesAndItsOlderRecordsStay() {
        log.put("a", "1")
                .transactional(9, 0, "a", "2", "b", "2")
                .put("c", "1")
                .abort(9, 1)
                .put("c", "2");

        assertThat(log.compacted(0).pairs()).containsExactly("0:a=1", "5:c=2");
    }

    @Test
    void aMarkerStaysWhileItsTransactionDoesAndThenAsLongAsATombstone() {
        log.transactional(9, 0, "a", "1").marker(9, true);
        CompactedLog once = log.compacted(0);
        assertThat(once.shape()).containsExactly("0-0 data e3", "1-1 marker e3");
        assertThat(RecordBatchHeader.hasDeleteHorizon(once.batches.get(1), 0)).isFalse();

        long dirty = once.end();
        once.put("a", "2");
        CompactedLog twice = once.compacted(dirty);
        assertThat(twice.shape()).containsExactly("0-0 padding e3", "1-1 marker e3", "2-2 data e3");
        assertThat(twice.kafkaBatches().get(1).deleteHorizonMs()).hasValue(log.nowMs + CompactedLog.RETENTION_MS);
        assertThat(twice.kafkaBatches().get(1).iterator().next().hasValue()).isTrue();

        twice.nowMs += CompactedLog.RETENTION_MS - 1;
        assertThat(twice.compacted(3).shape()).isEqualTo(twice.shape());
        twice.nowMs += 1;
        assertThat(twice.compacted(3).shape()).containsExactly("0-1 padding e3", "2-2 data e3");
    }

    @Test
    void aTombstoneStaysUntilItsHorizon() {
        log.put("a", "1", "b", "1");
        log.nowMs += 50;
        log.put("a", null, "c", "1");

        CompactedLog once = log.compacted(0);
        assertThat(once.pairs()).containsExactly("1:b=1", "2:a=null", "3:c=1");
        assertThat(once.seen())
                .as("times stay, though they count from another base")
                .isSubsetOf(log.seen());
        MutableRecordBatch batch = once.kafkaBatches().get(2 - 1);
        assertThat(batch.deleteHorizonMs()).hasValue(log.nowMs + CompactedLog.RETENTION_MS);

        once.nowMs += CompactedLog.RETENTION_MS - 1;
        CompactedLog twice = once.compacted(4);
        assertThat(twice.batches).isEqualTo(once.batches);
        twice.nowMs += 1;
        CompactedLog gone = twice.compacted(4);
        assertThat(gone.pairs()).containsExactly("1:b=1", "3:c=1");
        assertThat(gone.seen()).isSubsetOf(log.seen());
    }

    @Test
    void theLastBatchOfAProducerThatIsRememberedStaysWithoutRecords() {
        log.codec = CompressionType.GZIP;
        SimpleRecord[] two = {CompactedLog.record(1, "a", "1"), CompactedLog.record(2, "b", "1")};
        log.put(9, (short) 0, 0, false, TimestampType.CREATE_TIME, two);
        log.put(9, (short) 0, 2, false, TimestampType.CREATE_TIME, two);
        log.put("a", "2", "b", "2");
        log.lastBatches.add(new LastBatch(9, (short) 0, 3));

        CompactedLog after = log.compacted(0);

        assertThat(after.shape()).containsExactly("0-1 padding e3", "2-3 last e3", "4-5 data e3");
        assertThat(after.kafkaBatches().get(1).compressionType()).isEqualTo(CompressionType.NONE);
        LogState state = LogState.empty(0);
        after.batches.forEach(batch -> state.apply(batch, batch.remaining(), 0));
        assertThat(state.producers().checkClient(9, (short) 0, 4, 1, false, false))
                .isEqualTo(Verdict.ACCEPT);
        assertThat(state.producers().checkClient(9, (short) 0, 2, 2, false, false))
                .isEqualTo(Verdict.DUPLICATE);
        assertThat(state.producers().checkClient(9, (short) 0, 7, 1, false, false))
                .isEqualTo(Verdict.OUT_OF_ORDER);

        after.lastBatches.clear();
        assertThat(after.compacted(6).shape()).containsExactly("0-3 padding e3", "4-5 data e3");
    }

    @Test
    void anEmptiedTransactionIsStillEndedByItsMarker() {
        log.transactional(9, 0, "a", "1").marker(9, true).put("a", "2");
        log.lastBatches.add(new LastBatch(9, (short) 0, 0));

        CompactedLog after = log.compacted(0);

        assertThat(after.shape()).containsExactly("0-0 last e3", "1-1 marker e3", "2-2 data e3");
        LogState state = LogState.empty(0);
        after.batches.forEach(batch -> state.apply(batch, batch.remaining(), 0));
        assertThat(state.producers().lastStableOffset(3)).isEqualTo(3);
    }

    @Test
    void theOnlyWordOfAProducersEpochStays() {
        log.marker(9, true);
        log.lastBatches.add(new LastBatch(9, (short) 0, LastBatch.NO_BATCH));

        assertThat(log.compacted(0).batches).isEqualTo(log.batches);
    }

    @Test
    void recordsWithoutAKeyGo() {
        log.put(null, "1", "a", "1");

        assertThat(log.compacted(0).pairs()).containsExactly("1:a=1");
    }

    @Test
    void appendTimesStay() {
        SimpleRecord[] two = {CompactedLog.record(1, "a", "1"), CompactedLog.record(2, "b", null)};
        log.put(-1, (short) -1, -1, false, TimestampType.LOG_APPEND_TIME, two).put("a", "2");

        CompactedLog after = log.compacted(0);

        assertThat(after.seen().get(0)).isEqualTo(new Seen(1, "b", null, log.nowMs));
        assertThat(after.kafkaBatches().get(0).timestampType()).isEqualTo(TimestampType.LOG_APPEND_TIME);
    }

    @Test
    void aFullMapEndsThePass() {
        NewestOffsets newest = new NewestOffsets(24 << 10, 1, 2);
        log.put("x", "1").put("x", "2");
        int keys = newest.sizeMax() - 1;
        for (int i = 0; i < keys; i++) {
            log.put("k" + i, "1");
        }
        long covered = log.end();
        CompactionPass pass = log.pass(0, newest);
        log.batches.forEach(batch -> assertThat(pass.observe(batch)).isTrue());

        assertThat(pass.observe(
                        new CompactedLog().at(covered).put("new", "1").batches.get(0)))
                .isFalse();
        CompactedLog after = log.rewrittenBy(pass);

        assertThat(pass.observedEnd()).isEqualTo(covered);
        assertThat(after.pairs()).hasSize(keys + 1).startsWith("1:x=2");
        assertThat(pass.figures().recordsRead() - pass.figures().recordsKept()).isEqualTo(1);
    }

    /** What there was no room for is left to the next pass, which can still tell that it is new. */
    @Test
    void whatWasNotObservedStaysAsItIs() {
        log.put("a", "1", "b", "1").put("a", "2").transactional(9, 0, "b", null, "a", "3");
        long observedEnd = log.end();
        log.put("b", "2").transactional(9, 2, "a", "4").abort(9, 3).put("c", null);
        CompactionPass pass = log.pass(0, new NewestOffsets(24 << 10, 5, 6));
        log.batches
                .subList(0, 3)
                .forEach(batch -> assertThat(pass.observe(batch)).isTrue());

        CompactedLog after = log.rewrittenBy(pass);

        assertThat(pass.observedEnd()).isEqualTo(observedEnd);
        assertThat(after.shape())
                .containsExactly(
                        "0-1 data e3",
                        "2-2 data e3",
                        "3-4 padding e3",
                        "5-5 data e3",
                        "6-6 data e3",
                        "7-7 marker e3",
                        "8-8 data e3");
        assertThat(after.batches.subList(3, 7)).isEqualTo(log.batches.subList(3, 7));

        after.aborted.addAll(log.aborted);
        CompactedLog whole = after.compacted(observedEnd);
        assertThat(whole.pairs()).containsExactly("2:a=2", "5:b=2", "8:c=null");
        assertThat(whole.kafkaBatches().get(whole.batches.size() - 1).deleteHorizonMs())
                .as("seen for the first time")
                .hasValue(log.nowMs + CompactedLog.RETENTION_MS);
    }

    @Test
    void itIsSaidOfEachBatchWhetherAnythingGoesFromIt() {
        log.put("a", "1").put("b", null).transactional(9, 0, "c", "1").marker(9, true);
        log.put("a", "2", "d", "1").put("c", "2");
        CompactionPass first = log.pass(0, new NewestOffsets(24 << 10, 5, 6));
        log.batches.forEach(first::observe);
        assertThat(log.batches)
                .extracting(batch -> first.rewrite(batch, kept -> {}))
                .containsExactly(true, true, true, true, false, false);

        CompactedLog once = log.compacted(0);
        CompactionPass second = once.pass(once.end(), new NewestOffsets(24 << 10, 5, 6));
        assertThat(once.batches)
                .extracting(batch -> second.rewrite(batch, kept -> {}))
                .containsOnly(false);

        once.nowMs += CompactedLog.RETENTION_MS;
        CompactionPass third = once.pass(once.end(), new NewestOffsets(24 << 10, 5, 6));
        assertThat(once.shape())
                .containsExactly(
                        "0-0 padding e3",
                        "1-1 data e3",
                        "2-2 padding e3",
                        "3-3 marker e3",
                        "4-5 data e3",
                        "6-6 data e3");
        assertThat(once.batches)
                .extracting(batch -> third.rewrite(batch, kept -> {}))
                .containsExactly(false, true, false, true, false, false);
    }

    @Test
    void aBatchThatDoesNotParseEndsThePass() {
        log.put("a", "1");
        ByteBuffer torn = log.batches.get(0).duplicate();
        torn.limit(torn.limit() - 1);
        ByteBuffer wrong = ByteBuffer.allocate(log.batches.get(0).remaining())
                .put(log.batches.get(0).duplicate())
                .flip();
        wrong.put(wrong.limit() - 1, (byte) 99);
        ByteBuffer malformed = wrong.duplicate().put(RecordBatchHeader.BYTES, (byte) 90);
        NewestOffsets newest = new NewestOffsets(24 << 10, 1, 2);

        for (ByteBuffer bad : List.of(torn, wrong)) {
            assertThatThrownBy(() -> log.pass(0, newest).observe(bad)).isInstanceOf(BatchFormatException.class);
        }
        RecordBatchHeader.rewrite(malformed, 0, malformed.limit(), 1, 0, 0, false);
        assertThatThrownBy(() -> log.pass(0, newest).observe(malformed)).isInstanceOf(BatchFormatException.class);
        assertThat(newest.size()).isZero();
    }

    @Test
    void aBatchThatInflatesBeyondTheBoundEndsThePass() {
        log.codec = CompressionType.ZSTD;
        log.put("a", "x".repeat(CompactedLog.INFLATED_MAX));

        assertThatThrownBy(() -> log.compacted(0))
                .isInstanceOf(BatchFormatException.class)
                .hasMessageContaining("bytes inflated");
    }

    @Test
    void aMarkersFieldsStandWhereTheyStoodWhenItGetsAHorizon() {
        log.marker(9, false);

        ByteBuffer marker = log.compacted(0).batches.get(0);

        assertThat(marker.remaining()).isEqualTo(EndMarker.BYTES);
        LogState state = LogState.empty(0);
        state.apply(marker, marker.remaining(), 0);
        assertThat(state.producers().all().get(0).coordinatorEpoch()).isEqualTo(7);
    }
}
