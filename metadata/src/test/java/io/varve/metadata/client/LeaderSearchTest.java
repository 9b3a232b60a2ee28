package io.varve.metadata.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.Randomness;
import io.varve.metadata.client.LeaderSearch.Step;
import io.varve.protocol.config.NodeAddress;
import io.varve.protocol.meta.NotLeaderProto;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class LeaderSearchTest {

    private static final NotLeaderProto NOBODY = NotLeaderProto.getDefaultInstance();
    private static final List<NodeAddress> NODES =
            List.of(new NodeAddress(1, "m1", 9190), new NodeAddress(2, "m2", 9190), new NodeAddress(3, "m3", 9190));

    private final SplittableRandom random = new SplittableRandom(1);
    private final LeaderSearch search = new LeaderSearch(NODES, new Randomness() {
        @Override
        public long nextLong() {
            return random.nextLong();
        }

        @Override
        public int nextInt(int bound) {
            return random.nextInt(bound);
        }
    });

    private static NotLeaderProto leads(int id) {
        return NotLeaderProto.newBuilder()
                .setLeaderId(id)
                .setHost("m" + id)
                .setPort(9190)
                .build();
    }

    /** How long an election takes, in seconds: what is added to it isn't more than a share. */
    @Test
    void whoeverWaitsForAnElectionHearsOfItsEndWithinAnEighthOfIt() {
        long outageMs = 0;
        while (outageMs < 60_000) {
            long pauseMs = search.next(NOBODY).pauseMs();
            assertThat(pauseMs)
                    .isPositive()
                    .isLessThanOrEqualTo(Math.max(LeaderSearch.PAUSE_MS_MIN, outageMs / 8))
                    .isLessThanOrEqualTo(LeaderSearch.PAUSE_MS_MAX);
            outageMs += pauseMs;
        }
        assertThat(search.next(leads(2)))
                .as("and is there at once, however long it took")
                .isEqualTo(new Step(NODES.get(1), 0));
        search.onFound();
        assertThat(search.next(NOBODY).pauseMs())
                .as("the next time it begins anew")
                .isLessThanOrEqualTo(LeaderSearch.PAUSE_MS_MIN);
    }

    @Test
    void clientsThatLoseALeaderAtOnceDoNotAskAtOnce() {
        TreeSet<Long> pauses = new TreeSet<>();
        for (int i = 0; i < 500; i++) {
            search.next(NOBODY);
        }
        for (int i = 0; i < 100; i++) {
            pauses.add(search.next(NOBODY).pauseMs());
        }
        assertThat(pauses).hasSizeGreaterThan(50);
        assertThat(pauses.first()).isGreaterThanOrEqualTo(LeaderSearch.PAUSE_MS_MAX / 2);
    }

    @Test
    void allAreAskedInTurnAsLongAsNobodyKnows() {
        TreeSet<Integer> asked = new TreeSet<>();
        for (int i = 0; i < 3; i++) {
            asked.add(search.next(NOBODY).node().id());
        }
        assertThat(asked).containsExactly(1, 2, 3);
    }

    @Test
    void nodesThatNameEachOtherAreNotAskedWithoutAPause() {
        int quick = 0;
        while (search.next(leads(1 + quick % 2)).pauseMs() == 0) {
            quick++;
        }
        assertThat(quick).isEqualTo(3);
        assertThat(search.next(leads(1)).pauseMs()).isZero();
    }

    /** Followers name a leader that stands still until they elect another; each question to it would take a second. */
    @Test
    void whoDidNotAnswerIsNotAskedBecauseOthersNameIt() {
        search.onSilent(3);
        Step step = search.next(leads(3));
        assertThat(step.pauseMs()).isPositive();
        assertThat(search.next(leads(1))).isEqualTo(new Step(NODES.get(0), 0));
        search.onFound();
        assertThat(search.next(leads(3))).isEqualTo(new Step(NODES.get(2), 0));
    }

    @Test
    void aNodeThatIsNamedAndNotConfiguredIsRememberedAndAskedInTurn() {
        assertThat(search.next(leads(7))).isEqualTo(new Step(new NodeAddress(7, "m7", 9190), 0));
        TreeSet<Integer> asked = new TreeSet<>();
        for (int i = 0; i < 4; i++) {
            asked.add(search.next(NOBODY).node().id());
        }
        assertThat(asked).containsExactly(1, 2, 3, 7);
    }
}
