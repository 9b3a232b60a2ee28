package io.varve.serving.core.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.core.partition.ProducerStates.LastBatch;
import io.varve.sim.SimRandomness;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.record.internal.CompressionType;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bytes changed behind a valid checksum: a pass says that it can't read them, or hands on batches that are whole and leave no gap. */
class CompactionFuzz {

    private static final int ROUNDS = 4_000;
    private static final int ATTRIBUTES_AT = 21;

    @ParameterizedTest
    @EnumSource(CompressionType.class)
    void strangeBatchesEndThePassOrAreRewrittenWhole(CompressionType codec) {
        SimRandomness random = new SimRandomness(codec.id + 1);
        int refused = 0;
        for (int round = 0; round < ROUNDS; round++) {
            CompactedLog log = new CompactedLog();
            log.codec = codec;
            log.put("a", "1", "b", null, "c", "3").put("a", "2").marker(9, true);
            log.lastBatches.add(new LastBatch(-1, (short) -1, random.nextInt(4)));
            ByteBuffer changed = log.batches.get(random.nextInt(log.batches.size()));
            for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
                int at = ATTRIBUTES_AT + random.nextInt(changed.limit() - ATTRIBUTES_AT);
                changed.put(at, (byte) random.nextInt(256));
            }
            changed.putInt(17, RecordBatchHeader.checksum(changed, 0));
            try {
                assertThat(whole(log)).isEqualTo(log.batches.size());
            } catch (BatchFormatException e) {
                refused++;
            }
        }
        assertThat(refused).as("refused").isBetween(ROUNDS / 100, ROUNDS * 95 / 100);
    }

    /** Compacts each batch as a log of its own: which offsets it claims is part of what was changed. */
    private static int whole(CompactedLog log) {
        int done = 0;
        for (ByteBuffer batch : log.batches) {
            long base = RecordBatchHeader.baseOffset(batch, 0);
            long end = RecordBatchHeader.lastOffset(batch, 0) + 1;
            CompactionPass pass = log.pass(base, new NewestOffsets(24 << 4, 1, 2));
            List<ByteBuffer> kept = new ArrayList<>();
            if (pass.observe(batch)) {
                pass.rewrite(batch, kept::add);
                pass.endSegment(end, kept::add);
                long next = base;
                for (ByteBuffer one : kept) {
                    assertThat(RecordBatchHeader.isIntact(one, one.position())).isTrue();
                    assertThat(RecordBatchHeader.baseOffset(one, one.position()))
                            .isEqualTo(next);
                    next = RecordBatchHeader.lastOffset(one, one.position()) + 1;
                }
                assertThat(next).isEqualTo(end);
            }
            done++;
        }
        return done;
    }
}
