package io.varve.tiering.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.tiering.core.ChainFinder.Candidate;
import io.varve.tiering.core.ChainFinder.Found;
import io.varve.tiering.core.ChainFinder.Gap;
import io.varve.tiering.core.ChainFinder.Piece;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ChainFinderTest {

    @Test
    void adjoiningObjectsAreAChain() {
        Found found = ChainFinder.find(List.of(object(100, 200), object(0, 100), object(200, 250)));
        assertThat(found.pieces()).extracting(Piece::startOffset).containsExactly(0L, 100L, 200L);
        assertThat(found.gaps()).isEmpty();
        assertThat(found.unused()).isEmpty();
    }

    @Test
    void whatAnAbandonedAttemptLeftIsUsedOnlyWhereItIsNeeded() {
        Found found = ChainFinder.find(List.of(object(0, 100), object(0, 150), object(100, 200), object(40, 60)));
        assertThat(found.pieces())
                .extracting(Piece::startOffset, Piece::endOffset)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple(0L, 150L), org.assertj.core.groups.Tuple.tuple(150L, 200L));
        assertThat(found.unused()).containsExactlyInAnyOrder(object(0, 100), object(40, 60));
    }

    @Test
    void gapsAreNamed() {
        Found found = ChainFinder.find(List.of(object(0, 10), object(20, 30)));
        assertThat(found.gaps()).containsExactly(new Gap(10, 20));
        assertThat(ChainFinder.find(List.of()).pieces()).isEmpty();
    }

    @Test
    void whateverOverlapsEveryHeldOffsetIsInExactlyOnePiece() {
        SplittableRandom random = new SplittableRandom(5);
        for (int round = 0; round < 2_000; round++) {
            List<Candidate> objects = new ArrayList<>();
            boolean[] held = new boolean[60];
            for (int i = random.nextInt(8); i >= 0; i--) {
                int start = random.nextInt(50);
                int end = start + 1 + random.nextInt(9);
                objects.add(object(start, end));
                java.util.Arrays.fill(held, start, end, true);
            }
            int[] covered = new int[60];
            for (Piece piece : ChainFinder.find(objects).pieces()) {
                assertThat(piece.startOffset())
                        .isGreaterThanOrEqualTo(piece.object().startOffset());
                assertThat(piece.endOffset()).isLessThanOrEqualTo(piece.object().endOffset());
                for (long at = piece.startOffset(); at < piece.endOffset(); at++) {
                    covered[(int) at]++;
                }
            }
            for (int at = 0; at < 60; at++) {
                assertThat(covered[at])
                        .as("round %d offset %d of %s", round, at, objects)
                        .isEqualTo(held[at] ? 1 : 0);
            }
        }
    }

    private static Candidate object(long start, long end) {
        return new Candidate(start + "-" + end, start, end, 1);
    }
}
