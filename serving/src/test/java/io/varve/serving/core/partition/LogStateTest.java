package io.varve.serving.core.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.protocol.record.RecordBatchHeader;
import io.varve.sim.SimRandomness;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LogStateTest {

    private static final int ENTRY_HEADER_BYTES = 24;

    /** A log of some producers, some of them in transactions, under rising epochs. */
    private static List<ByteBuffer> log(long seed, int entries) {
        SimRandomness random = new SimRandomness(seed);
        List<ByteBuffer> log = new ArrayList<>();
        int[] sequences = new int[4];
        boolean[] open = new boolean[4];
        long offset = 0;
        for (int i = 0; i < entries; i++) {
            int producer = random.nextInt(4);
            int epoch = i / 40;
            if (open[producer] && random.percent(30)) {
                ByteBuffer marker = ByteBuffer.allocate(EndMarker.BYTES);
                new EndMarker(100 + producer, (short) 0, 1, random.percent(50)).write(marker, 1_000 + i);
                log.add(placed(marker.flip(), offset++, epoch));
                open[producer] = false;
                continue;
            }
            boolean transactional = producer < 2;
            int records = 1 + random.nextInt(3);
            log.add(placed(
                    batch(records, 1_000 + random.nextInt(500), 100 + producer, sequences[producer], transactional),
                    offset,
                    epoch));
            open[producer] |= transactional;
            sequences[producer] += records;
            offset += records;
        }
        return log;
    }

    private static ByteBuffer batch(int records, long timeMs, long producerId, int sequence, boolean transactional) {
        ByteBuffer batch = ByteBuffer.allocate(RecordBatchHeader.BYTES + 10);
        batch.putLong(0)
                .putInt(batch.capacity() - RecordBatchHeader.LENGTH_PREFIX_BYTES)
                .putInt(-1)
                .put(RecordBatchHeader.MAGIC)
                .putInt(0)
                .putShort((short) (transactional ? 0x10 : 0))
                .putInt(records - 1)
                .putLong(timeMs)
                .putLong(timeMs)
                .putLong(producerId)
                .putShort((short) 0)
                .putInt(sequence)
                .putInt(records);
        return batch.clear();
    }

    private static ByteBuffer placed(ByteBuffer batch, long offset, int epoch) {
        RecordBatchHeader.setBaseOffset(batch, 0, offset);
        RecordBatchHeader.setLeaderEpoch(batch, 0, epoch);
        return batch;
    }

    private static void apply(LogState state, ByteBuffer batch) {
        state.apply(batch, ENTRY_HEADER_BYTES + batch.remaining(), 7);
    }

    @Test
    void aCheckpointAndWhatFollowsItMakeTheSameStateAsTheWholeLog() {
        for (long seed = 1; seed <= 40; seed++) {
            List<ByteBuffer> log = log(seed, 150);
            LogState whole = LogState.empty(0);
            log.forEach(batch -> apply(whole, batch));
            for (int cut = 0; cut <= log.size(); cut += 17) {
                LogState before = LogState.empty(0);
                log.subList(0, cut).forEach(batch -> apply(before, batch));
                LogState after = LogState.decode(before.encode());
                log.subList(cut, log.size()).forEach(batch -> apply(after, batch));
                // Asking for it forgets the ended transactions that lie below, so both are asked before they are
                // compared.
                assertThat(after.producers().lastStableOffset(whole.offset()))
                        .isEqualTo(whole.producers().lastStableOffset(whole.offset()));
                assertThat(after.encode()).as("seed %d cut %d", seed, cut).isEqualTo(whole.encode());
            }
        }
    }

    @Test
    void whatIsAppliedBeforeASegmentBeginsAndCountedAgainAfterIsCountedOnce() {
        List<ByteBuffer> log = log(3, 20);
        LogState state = LogState.empty(0);
        log.forEach(batch -> apply(state, batch));
        ByteBuffer last = log.get(19);
        long start = RecordBatchHeader.baseOffset(last, 0);
        state.onSegment(start, -1);
        state.count(start, 99, RecordBatchHeader.maxTimestampMs(last, 0));
        assertThat(state.segmentStart()).isEqualTo(start);
        assertThat(state.segmentBytes()).isEqualTo(99);
        assertThat(state.segmentMaxTimestampMs()).isEqualTo(RecordBatchHeader.maxTimestampMs(last, 0));
        assertThat(state.times().firstAtLeast(0, 0)).isEqualTo(start);
    }

    @Test
    void theTimeIndexNeverSkipsARecordHoweverLongTheSegment() {
        SimRandomness random = new SimRandomness(5);
        TimeIndex index = new TimeIndex();
        List<Long> times = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            long time = random.nextInt(1_000_000);
            times.add(time);
            index.add(i, 200_000, time);
        }
        for (int i = 0; i < 500; i++) {
            long asked = random.nextInt(1_000_100);
            int from = random.nextInt(5_000);
            long first = -1;
            for (int at = from; at < times.size() && first < 0; at++) {
                first = times.get(at) >= asked ? at : -1;
            }
            long found = index.firstAtLeast(asked, from);
            assertThat(found).isLessThanOrEqualTo(first < 0 ? Long.MAX_VALUE : first);
            assertThat(found < 0 && first >= 0).as("a record was missed").isFalse();
        }
    }

    @Test
    void everyFlippedBitOfACheckpointIsFoundAndNoCutIsTakenForOne() {
        LogState state = LogState.empty(0);
        log(9, 60).forEach(batch -> apply(state, batch));
        ByteBuffer good = state.encode();
        for (int at = 0; at < good.limit(); at++) {
            ByteBuffer damaged =
                    ByteBuffer.allocate(good.limit()).put(good.duplicate()).flip();
            damaged.put(at, (byte) (damaged.get(at) ^ 1 << at % 8));
            assertThatThrownBy(() -> LogState.decode(damaged)).isInstanceOf(CheckpointFormatException.class);
            ByteBuffer cut = good.duplicate().limit(at);
            assertThatThrownBy(() -> LogState.decode(cut)).isInstanceOf(CheckpointFormatException.class);
        }
    }
}
