package io.varve.tiering.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.tiering.testing.BuiltObject;
import io.varve.tiering.testing.TestSegments;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReadAheadTest {

    private static final PartitionId PARTITION = TestSegments.PARTITION;
    private static final long MANY = 1_000_000;

    private BlockIndex index;
    private long blockBytes;

    @BeforeEach
    void index() throws Exception {
        index = BuiltObject.of(TestSegments.chain(1, 400, 500, false), 2048, BlockCompression.NONE)
                .tail()
                .index();
        blockBytes = 2048;
        assertThat(index.blocks()).isGreaterThan(50);
    }

    @Test
    void aReaderThatJumpsAboutCausesNothing() {
        ReadAhead ahead = new ReadAhead(blockBytes, 16 * blockBytes, MANY, 100, 1000);
        for (int block : new int[] {5, 1, 30, 7, 22}) {
            assertThat(read(ahead, block, 0).isEmpty()).isTrue();
        }
    }

    @Test
    void aSequentialReaderIsFetchedAheadOfMoreAndMoreAndNeverTwice() {
        ReadAhead ahead = new ReadAhead(blockBytes, 16 * blockBytes, MANY, 100, 1000);
        int fetched = 0;
        int longest = 0;
        for (int block = 0; block < index.blocks() - 1; block++) {
            ReadAhead.Plan plan = read(ahead, block, 0);
            if (!plan.isEmpty()) {
                assertThat(plan.from()).isGreaterThanOrEqualTo(fetched).isGreaterThan(block);
                fetched = plan.end();
                longest = Math.max(longest, plan.end() - plan.from());
            }
        }
        assertThat(longest).isGreaterThan(7);
        assertThat(fetched).isEqualTo(index.blocks());
    }

    @Test
    void ofTheNextObjectWholeStepsAreFetchedWithinWhatIsLeftOfTheDepth() {
        long step = 8 * blockBytes;
        assertThat(ReadAhead.firstBlocks(index, 4 * blockBytes, 0, step))
                .as("no whole step")
                .isZero();
        assertThat(ReadAhead.firstBlocks(index, 40 * blockBytes, 40 * blockBytes, step))
                .isZero();
        int some = ReadAhead.firstBlocks(index, 40 * blockBytes, 0, step);
        int fewer = ReadAhead.firstBlocks(index, 40 * blockBytes, 20 * blockBytes, step);
        assertThat(fewer).isPositive().isLessThan(some);
        assertThat(index.position(some) - index.position(0)).isLessThanOrEqualTo(40 * blockBytes);
        assertThat(ReadAhead.firstBlocks(index, Long.MAX_VALUE, 0, step)).isEqualTo(index.blocks());
    }

    @Test
    void aReadersDepthIsKnownByWhereItGoesOn() {
        ReadAhead ahead = new ReadAhead(blockBytes, 16 * blockBytes, MANY, 100, 1000);
        read(ahead, 0, 0);
        assertThat(ahead.depthBytes(PARTITION, index.firstOffset(1))).isZero();
        read(ahead, 1, 0);
        assertThat(ahead.depthBytes(PARTITION, index.firstOffset(2))).isEqualTo(blockBytes);
        assertThat(ahead.depthBytes(PARTITION, index.firstOffset(9))).isZero();
    }

    @Test
    void manyReadersShareTheBudget() {
        ReadAhead ahead = new ReadAhead(blockBytes, 16 * blockBytes, 10 * blockBytes, 1000, 1000);
        long fetched = 0;
        for (int reader = 0; reader < 40; reader++) {
            PartitionId partition = new PartitionId(PARTITION.topic(), reader);
            for (int block = 0; block < 6; block++) {
                ReadAhead.Plan plan = ahead.onRead(
                        partition, "o", index, index.firstOffset(block), index.firstOffset(block + 1), block, 0);
                // The first ones still get their share; when all are there, a share is less than a block.
                fetched += reader < 20 ? 0 : plan.end() - plan.from();
            }
        }
        assertThat(fetched).isZero();
        assertThat(ahead.readers()).isEqualTo(40);
    }

    @Test
    void aReaderThatStaysAwayIsForgottenAndTheOldestMakesRoom() {
        ReadAhead ahead = new ReadAhead(blockBytes, 16 * blockBytes, MANY, 3, 1000);
        for (int i = 0; i < 10; i++) {
            read(ahead, i * 5, 0);
        }
        assertThat(ahead.readers()).isEqualTo(3);
        read(ahead, 2, 5000);
        assertThat(ahead.readers()).isEqualTo(1);
    }

    private ReadAhead.Plan read(ReadAhead ahead, int block, long nowMs) {
        return ahead.onRead(
                PARTITION, "o", index, index.firstOffset(block), index.firstOffset(block + 1), block, nowMs);
    }
}
