package io.varve.serving.core.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Every order of events in small cases of the real leaders, searched breadth first, each state once: beside the random simulation of large ones.
 */
class TakeoverSearchSimulation {

    /** More than the smallest case has. */
    private static final int ALL = 100_000;

    private static final int SOME = 6_000;

    private record Scope(
            int replicas, int acks, int appends, int takeovers, int rolls, SegmentRules rules, int statesMax) {
        SmallCluster start() {
            return new SmallCluster(replicas, acks, appends, takeovers, rolls, rules);
        }
    }

    /** @return how many states there are, or the negative number at which the search was ended */
    private static int search(Scope scope) {
        Set<Long> seen = new HashSet<>();
        ArrayDeque<byte[]> frontier = new ArrayDeque<>();
        frontier.add(new byte[0]);
        while (!frontier.isEmpty()) {
            byte[] path = frontier.pollFirst();
            int choices = replay(scope, path).enabled().size();
            for (int choice = 0; choice < choices; choice++) {
                byte[] next = java.util.Arrays.copyOf(path, path.length + 1);
                next[path.length] = (byte) choice;
                if (seen.add(digest(replay(scope, next).fingerprint()))) {
                    frontier.add(next);
                }
            }
            if (seen.size() > scope.statesMax()) {
                return -seen.size();
            }
        }
        return seen.size();
    }

    private static SmallCluster replay(Scope scope, byte[] path) {
        SmallCluster cluster = scope.start();
        for (byte choice : path) {
            cluster.enabled().get(choice).run();
        }
        return cluster;
    }

    private static long digest(String text) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
            hash ^= hash >>> 29;
        }
        return hash;
    }

    @Test
    void oneEntryAndOneTakeoverAreSafeInEveryOrder() {
        assertThat(search(new Scope(3, 2, 1, 1, 0, SegmentRules.STANDARD, ALL))).isPositive();
    }

    @Test
    void twoTakeoversAreSafeInEveryOrderThatIsReached() {
        assertThat(search(new Scope(3, 2, 1, 2, 0, SegmentRules.STANDARD, SOME)))
                .isNotZero();
    }

    @Test
    void aRollInTheMiddleOfATakeoverIsSafeInEveryOrderThatIsReached() {
        assertThat(search(new Scope(3, 2, 1, 1, 1, SegmentRules.STANDARD, SOME)))
                .isNotZero();
    }

    @Test
    void aFenceReplyTooFewIsFoundInTheSmallestCase() {
        SegmentRules broken = new SegmentRules() {
            @Override
            public int fenceReplies(int replicas, int acks) {
                return super.fenceReplies(replicas, acks) - 1;
            }
        };
        assertThatThrownBy(() -> search(new Scope(3, 2, 1, 1, 0, broken, ALL)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("I-");
    }

    @Test
    void sealingWithoutCarryingIsFoundInTheSmallestCase() {
        SegmentRules broken = new SegmentRules() {
            @Override
            public long sealOffset(long startOffset, long highWatermark, long[] ends, int acks) {
                return ends[0];
            }
        };
        assertThatThrownBy(() -> search(new Scope(3, 2, 1, 1, 0, broken, ALL)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("I-1");
    }
}
