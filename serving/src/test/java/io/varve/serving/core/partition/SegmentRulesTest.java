package io.varve.serving.core.partition;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The arithmetic of the protocol against its definitions, over all small cases. */
class SegmentRulesTest {

    private static final int END_MAX = 3;

    /** I-5: whatever A replicas acknowledged an entry, one of every R - A + 1 has it; and one reply fewer would miss some. */
    @Test
    void everySetOfRepliesMeetsEverySetOfAcknowledgements() {
        for (int replicas = 1; replicas <= 5; replicas++) {
            for (int acks = 1; acks <= replicas; acks++) {
                int replies = SegmentRules.STANDARD.fenceReplies(replicas, acks);
                assertThat(everyPairMeets(replicas, acks, replies)).isTrue();
                assertThat(replies == 1 || !everyPairMeets(replicas, acks, replies - 1))
                        .isTrue();
            }
        }
    }

    private static boolean everyPairMeets(int replicas, int acks, int replies) {
        for (int acked = 0; acked < 1 << replicas; acked++) {
            for (int replied = 0; replied < 1 << replicas; replied++) {
                if (Integer.bitCount(acked) == acks && Integer.bitCount(replied) == replies && (acked & replied) == 0) {
                    return false;
                }
            }
        }
        return true;
    }

    @Test
    void theHighWatermarkIsTheEndThatAReplicasReachAndNoLater() {
        forAllEnds(3, ends -> {
            for (int acks = 1; acks <= 3; acks++) {
                long[] sorted = ends.clone();
                Arrays.sort(sorted);
                assertThat(SegmentRules.STANDARD.durableOnQuorum(ends, acks)).isEqualTo(sorted[3 - acks]);
            }
        });
    }

    /** Nothing that was acknowledged lies at or above the carry's end, and all below the seal is held by A or was known to be. */
    @Test
    void aTakeoverLosesNothingAcknowledgedWhateverRepliesItGets() {
        int acks = 2;
        forAllEnds(3, ends -> {
            long acknowledged = SegmentRules.STANDARD.durableOnQuorum(ends, acks);
            for (long told = -1; told <= acknowledged; told++) {
                for (int replied = 0; replied < 8; replied++) {
                    if (Integer.bitCount(replied) >= 2) {
                        assertTakeover(ends, replied, told, acks, acknowledged);
                    }
                }
            }
        });
    }

    private static void assertTakeover(long[] ends, int replied, long told, int acks, long acknowledged) {
        long[] descending = new long[Integer.bitCount(replied)];
        int n = 0;
        for (int r = 0; r < ends.length; r++) {
            if ((replied & 1 << r) != 0) {
                descending[n++] = -ends[r];
            }
        }
        Arrays.sort(descending);
        for (int i = 0; i < n; i++) {
            descending[i] = -descending[i];
        }
        if (told > descending[0]) {
            return; // Whoever was told of a high watermark had the entries below it: not with these ends.
        }
        long seal = SegmentRules.STANDARD.sealOffset(0, told, descending, acks);
        long end = SegmentRules.STANDARD.carryEnd(seal, descending);
        assertThat(end).isGreaterThanOrEqualTo(acknowledged);
        assertThat(seal).isLessThanOrEqualTo(end).isGreaterThanOrEqualTo(told);
        long holders = Arrays.stream(ends).filter(e -> e >= seal).count();
        assertThat(holders).isGreaterThanOrEqualTo(acks);
    }

    private static void forAllEnds(int replicas, java.util.function.Consumer<long[]> check) {
        long cases = (long) Math.pow(END_MAX + 1, replicas);
        for (long c = 0; c < cases; c++) {
            long[] ends = new long[replicas];
            long rest = c;
            for (int r = 0; r < replicas; r++) {
                ends[r] = rest % (END_MAX + 1);
                rest /= END_MAX + 1;
            }
            check.accept(ends);
        }
    }
}
