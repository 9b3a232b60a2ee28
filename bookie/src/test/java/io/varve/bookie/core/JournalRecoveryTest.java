package io.varve.bookie.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.bookie.core.JournalRecovery.Decision;
import io.varve.bookie.core.JournalRecovery.Head;
import io.varve.bookie.core.JournalRecovery.Later;
import io.varve.bookie.core.JournalRecovery.Order;
import io.varve.bookie.core.JournalRecovery.Payload;
import io.varve.bookie.core.JournalRecovery.Place;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Every combination of evidence, one by one. */
class JournalRecoveryTest {

    @FunctionalInterface
    private interface Case {
        void check(Head head, Order order, Payload payload, Place place, Later later, Decision decision);
    }

    private static void forAll(Case check) {
        for (Head head : Head.values()) {
            for (Order order : Order.values()) {
                for (Payload payload : Payload.values()) {
                    for (Place place : Place.values()) {
                        for (Later later : Later.values()) {
                            Decision decision = JournalRecovery.decide(head, order, payload, place, later);
                            check.check(head, order, payload, place, later, decision);
                        }
                    }
                }
            }
        }
    }

    @Test
    void everyCombinationHasADecisionAndEveryDecisionIsReached() {
        Map<Decision, Integer> reached = new EnumMap<>(Decision.class);
        int[] cases = {0};
        forAll((head, order, payload, place, later, decision) -> {
            reached.merge(decision, 1, Integer::sum);
            cases[0]++;
        });
        assertThat(cases[0]).isEqualTo(5 * 2 * 2 * 2 * 3);
        assertThat(reached.keySet()).containsExactlyInAnyOrder(Decision.values());
    }

    @Test
    void everyCaseIsReached() {
        java.util.Set<JournalRecovery.Case> reached = java.util.EnumSet.noneOf(JournalRecovery.Case.class);
        forAll((head, order, payload, place, later, decision) -> {
            JournalRecovery.Case is = JournalRecovery.caseOf(head, order, payload, place, later);
            assertThat(is.decision()).isEqualTo(decision);
            reached.add(is);
        });
        assertThat(reached).containsExactlyInAnyOrder(JournalRecovery.Case.values());
    }

    /** I-18. */
    @Test
    void nothingThatALaterGroupFollowsIsEverATail() {
        forAll((head, order, payload, place, later, decision) -> {
            if (later == Later.LATER_GROUP) {
                assertThat(decision).isNotIn(Decision.END_TORN, Decision.END_CLEAN, Decision.END_OF_FILE);
            }
        });
    }

    @Test
    void onlyAValidRecordInItsPlaceIsTaken() {
        forAll((head, order, payload, place, later, decision) -> assertThat(decision == Decision.TAKE)
                .isEqualTo(head == Head.VALID && order == Order.NEXT && payload == Payload.INTACT));
    }

    @Test
    void whatWasNeverCompleteIsATailAndNoDamage() {
        forAll((head, order, payload, place, later, decision) -> {
            if (later == Later.NOTHING && head != Head.VALID) {
                assertThat(decision).isIn(Decision.END_CLEAN, Decision.END_TORN);
                assertThat(decision == Decision.END_CLEAN).isEqualTo(place == Place.GROUP_START && head != Head.BAD);
            }
        });
    }

    @Test
    void aFileGoesOnInTheNextOneOnlyWhereNothingIsMissing() {
        forAll((head, order, payload, place, later, decision) -> {
            if (decision == Decision.END_OF_FILE) {
                assertThat(place).isEqualTo(Place.GROUP_START);
                assertThat(later).isEqualTo(Later.NEXT_FILE_CONTINUES);
            }
        });
    }

    /** A record that is whole but out of order means that one in between is missing. */
    @Test
    void aRecordOutOfOrderIsDamage() {
        forAll((head, order, payload, place, later, decision) -> {
            if (head == Head.VALID && order == Order.OTHER) {
                assertThat(decision).isEqualTo(Decision.JOURNAL_DAMAGED);
            }
        });
    }
}
