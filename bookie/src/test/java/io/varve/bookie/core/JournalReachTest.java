package io.varve.bookie.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class JournalReachTest {

    private static final int BLOCK = JournalFormat.BLOCK_BYTES;

    /** The rule that a start relies on, for groups of any size one behind the other: each finds the reach durable that it needs. */
    @Test
    void noOrdinaryGroupHasToWaitForItsReach() {
        SplittableRandom random = new SplittableRandom(5);
        for (int history = 0; history < 200; history++) {
            int groupBytesMax = BLOCK * (1 + random.nextInt(16));
            long fileBytes = BLOCK * (long) (20 + random.nextInt(400));
            JournalReach reaches = JournalReach.of(fileBytes, groupBytesMax);
            long reach = reaches.first();
            long at = BLOCK;
            int moved = 0;
            while (true) {
                long end = at + BLOCK * (long) (1 + random.nextInt(groupBytesMax / BLOCK));
                if (end > reaches.groupsEnd()) {
                    break;
                }
                assertThat(end).isLessThanOrEqualTo(reach);
                long next = reaches.along(end, reach);
                assertThat(next).isBetween(reach, reaches.groupsEnd());
                moved += next > reach ? 1 : 0;
                reach = next;
                at = end;
            }
            assertThat(moved).isLessThanOrEqualTo(1 + (int) (fileBytes / (reaches.stepBytes() - groupBytesMax)));
        }
    }

    @Test
    void aReachIsReadBackForItsOwnLifeOfTheFileOnly() {
        ByteBuffer block = JournalFormat.reachBlock(77, 3 * BLOCK);
        assertThat(JournalFormat.reach(block, 77)).isEqualTo(3 * BLOCK);
        assertThat(JournalFormat.reach(block, 78)).isEqualTo(-1);
        for (int bit = 0; bit < 20 * 8; bit++) {
            block.put(bit / 8, (byte) (block.get(bit / 8) ^ 1 << bit % 8));
            assertThat(JournalFormat.reach(block, 77)).isEqualTo(-1);
            block.put(bit / 8, (byte) (block.get(bit / 8) ^ 1 << bit % 8));
        }
        assertThat(JournalFormat.reach(block.limit(BLOCK - 1), 77)).isEqualTo(-1);
    }
}
