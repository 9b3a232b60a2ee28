package io.varve.serving.core.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.varve.serving.core.partition.SmallCluster.Scope;
import io.varve.sim.SimSeeds;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/**
 * Every order of events in small cases of the real leaders and replicas, to the end, each state once: beside the random simulation of large ones. What can happen, what is left out of it
 * and why that loses nothing is said in {@link SmallCluster}; states that differ only in the bookies' names are one ({@link Fingerprint}).
 *
 * <p>With R = 3 and A = 2 all of this is gone through, and no invariant is broken in any state (I-1, I-2, I-3, I-6, I-14, I-15):
 * <pre>
 *   entries  takeovers  live rolls   states
 *         1          1           0        69   (1,088 with nothing left out)
 *         1          2           0     2,457
 *         2          1           0       700
 *         3          1           0     5,368
 *         1          1           1     1,680
 *         2          2           0    52,089
 * and in a slow run
 *         2          1           1    39,176
 *         1          2           1    62,734
 *         1          3           0   106,992
 * </pre>
 * The numbers are asserted: a change of the cores that makes other states possible shows here, and so does a change of the search that makes it miss some.
 */
class TakeoverSearchSimulation {

    /** So many simulated seeds are asked for by a slow run. */
    private static final int SEEDS_SLOW = 10_000;

    /** How many states there are. Throws what is found wrong in one, with the events that lead to it. */
    private static int search(Scope scope) {
        LongSet seen = new LongSet();
        ArrayDeque<byte[]> paths = new ArrayDeque<>();
        paths.push(new byte[0]);
        while (!paths.isEmpty()) {
            Path path = new Path(scope, paths.pop());
            // From here on the cluster itself goes on with the first of what can be next; the others are for later.
            while (seen.add(path.cluster.fingerprint())) {
                byte[] next = path.cluster.enabled();
                for (int i = 1; i < next.length; i++) {
                    paths.push(path.with(next[i]));
                }
                if (next.length == 0) {
                    break;
                }
                path.step(next[0]);
            }
        }
        return seen.size();
    }

    /** A cluster, and the events that brought it where it is. */
    private static final class Path {
        private final SmallCluster cluster;
        private byte[] events = new byte[0];

        private Path(Scope scope, byte[] events) {
            cluster = new SmallCluster(scope);
            for (byte event : events) {
                step(event);
            }
        }

        private void step(byte event) {
            events = with(event);
            try {
                cluster.step(event);
            } catch (AssertionError | RuntimeException wrong) {
                throw new AssertionError(wrong.getMessage() + " after " + this, wrong);
            }
        }

        private byte[] with(byte event) {
            byte[] longer = Arrays.copyOf(events, events.length + 1);
            longer[events.length] = event;
            return longer;
        }

        @Override
        public String toString() {
            StringBuilder names = new StringBuilder();
            for (byte event : events) {
                names.append(SmallCluster.name(event)).append(", ");
            }
            return names.toString();
        }
    }

    private static int statesOf(int appends, int takeovers, int rolls) {
        return search(new Scope(3, 2, appends, takeovers, rolls, SegmentRules.STANDARD, true));
    }

    @Test
    void oneTakeoverIsSafeInEveryOrder() {
        assertThat(statesOf(1, 1, 0)).isEqualTo(69);
        assertThat(statesOf(2, 1, 0)).isEqualTo(700);
        assertThat(statesOf(3, 1, 0)).isEqualTo(5_368);
    }

    /** The same case with nothing left out, to show that what is left out of the others is not what matters. */
    @Test
    void theSmallestCaseIsSafeInEveryOrderOfAllItsEvents() {
        assertThat(search(new Scope(3, 2, 1, 1, 0, SegmentRules.STANDARD, false)))
                .isEqualTo(1_088);
    }

    @Test
    void twoTakeoversAreSafeInEveryOrder() {
        assertThat(statesOf(1, 2, 0)).isEqualTo(2_457);
        assertThat(statesOf(2, 2, 0)).isEqualTo(52_089);
    }

    @Test
    void aLiveRollInTheMiddleOfATakeoverIsSafeInEveryOrder() {
        assertThat(statesOf(1, 1, 1)).isEqualTo(1_680);
    }

    @Test
    void moreOfEverythingIsSafeInEveryOrder() {
        assumeTrue(SimSeeds.all().count() >= SEEDS_SLOW, "a slow run");
        assertThat(statesOf(2, 1, 1)).isEqualTo(39_176);
        assertThat(statesOf(1, 2, 1)).isEqualTo(62_734);
        assertThat(statesOf(1, 3, 0)).isEqualTo(106_992);
    }

    // ---- the search finds what it is there to find
    // -------------------------------------------------------------------------------

    private static void assertFound(int rolls, boolean reduced, SegmentRules broken) {
        assertThatThrownBy(() -> search(new Scope(3, 2, 1, 1, rolls, broken, reduced)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("I-")
                .hasMessageContaining("TAKE");
    }

    private static void assertFound(SegmentRules broken) {
        assertFound(0, true, broken);
        assertFound(0, false, broken);
    }

    @Test
    void aFenceReplyTooFewIsFoundInTheSmallestCase() {
        assertFound(new SegmentRules() {
            @Override
            public int fenceReplies(int replicas, int acks) {
                return super.fenceReplies(replicas, acks) - 1;
            }
        });
    }

    @Test
    void sealingWithoutCarryingIsFoundInTheSmallestCase() {
        assertFound(new SegmentRules() {
            @Override
            public long sealOffset(long startOffset, long highWatermark, long[] ends, int acks) {
                return ends[0];
            }
        });
    }

    @Test
    void countingAnAcknowledgementTwiceIsFoundInTheSmallestCase() {
        assertThatThrownBy(() -> search(new Scope(
                        3,
                        2,
                        1,
                        1,
                        0,
                        new SegmentRules() {
                            @Override
                            public long durableOnQuorum(long[] ends, int acks) {
                                long[] doubled = Arrays.copyOf(ends, 2 * ends.length);
                                System.arraycopy(ends, 0, doubled, ends.length, ends.length);
                                return super.durableOnQuorum(doubled, acks);
                            }
                        },
                        true)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("I-1");
    }

    @Test
    void acknowledgingBeforeTheRollCommitsIsFoundWithOneRoll() {
        assertThatThrownBy(() -> search(new Scope(
                        3,
                        2,
                        1,
                        1,
                        1,
                        new SegmentRules() {
                            @Override
                            public boolean acknowledgesBeforeRoll() {
                                return true;
                            }
                        },
                        true)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("I-");
    }
}
