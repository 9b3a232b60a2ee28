package io.varve.itest.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.core.partition.SegmentRules;
import io.varve.serving.partition.CompactionPasses;
import io.varve.sim.SimFailure;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The simulation finds what it is there to find: with one rule of the protocol broken at a time, some seed among the first of a normal run ends in a
 * violation. A simulation that passes over any of these proves nothing.
 */
class PlantedBugsTest {

    private static final int SEEDS_MAX = 200;

    @Test
    void oneFenceReplyTooFewIsFound() {
        assertFound(new SegmentRules() {
            @Override
            public int fenceReplies(int replicas, int acks) {
                return super.fenceReplies(replicas, acks) - 1;
            }
        });
    }

    @Test
    void acknowledgingBeforeTheRollCommitsIsFound() {
        assertFound(new SegmentRules() {
            @Override
            public boolean acknowledgesBeforeRoll() {
                return true;
            }
        });
    }

    @Test
    void sealingAtTheLargestEndWithoutCarryingIsFound() {
        assertFound(new SegmentRules() {
            @Override
            public long sealOffset(long startOffset, long highWatermark, long[] ends, int acks) {
                return ends[0];
            }
        });
    }

    @Test
    void countingAReplicasAcknowledgementTwiceIsFound() {
        assertFound(new SegmentRules() {
            @Override
            public long durableOnQuorum(long[] ends, int acks) {
                long[] doubled = new long[ends.length * 2];
                System.arraycopy(ends, 0, doubled, 0, ends.length);
                System.arraycopy(ends, 0, doubled, ends.length, ends.length);
                return super.durableOnQuorum(doubled, acks);
            }
        });
    }

    @Test
    void aFenceForgottenAtRestartIsFound() {
        assertFound(SegmentRules.STANDARD, new BookieBugs(true, false, false, false));
    }

    @Test
    void deletingOnAbsenceFromAListIsFound() {
        assertFound(SegmentRules.STANDARD, new BookieBugs(false, true, false, false));
    }

    @Test
    void anObjectThatWasNotReadBackIsFound() {
        assertFound(SegmentRules.STANDARD, new BookieBugs(false, false, true, false));
    }

    @Test
    void anAnswerBeforeTheSyncIsFound() {
        assertFound(SegmentRules.STANDARD, new BookieBugs(false, false, false, true));
    }

    @Test
    void aCompactionThatTakesOneBatchTooManyIsFound() {
        assertFound(
                SegmentRules.STANDARD, BookieBugs.NONE, (rules, dirtyOffset) -> new SimRewriting(rules, dirtyOffset) {
                    @Override
                    boolean isLeftOut(long number) {
                        return super.isLeftOut(number) || number % 100 == 1;
                    }
                });
    }

    private static void assertFound(SegmentRules broken) {
        assertFound(broken, BookieBugs.NONE);
    }

    private static void assertFound(SegmentRules rules, BookieBugs bookieBugs) {
        assertFound(rules, bookieBugs, SimRewriting::new);
    }

    private static void assertFound(SegmentRules rules, BookieBugs bookieBugs, CompactionPasses passes) {
        List<String> found = new ArrayList<>();
        for (long seed = 1; seed <= SEEDS_MAX && found.isEmpty(); seed++) {
            try {
                new ClusterRun(seed, rules, bookieBugs, passes).run();
            } catch (SimFailure failure) {
                found.add(
                        failure.getCause().toString() + " " + failure.getCause().getCause());
            }
        }
        assertThat(found)
                .as("the violation found within %d seeds", SEEDS_MAX)
                .isNotEmpty()
                .allMatch(violation -> violation.matches("(?s).*\\b(I-\\d+|T4|P8|batch|fault).*"));
    }
}
