package io.varve.serving.core.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.core.share.Deliveries.Verdict;
import io.varve.serving.core.share.Deliveries.Write;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DeliveriesTest {

    private static final ShareLimits LIMITS = new ShareLimits(1_000, 2, 20);

    private final Deliveries deliveries = Deliveries.of(0, List.of());

    @Test
    void whatOneMemberHasAcquiredNobodyElseGets() {
        assertThat(acquire("a", 0, 9, 5)).containsExactly(new Acquired(0, 4, 1));
        assertThat(acquire("b", 0, 9, 100)).containsExactly(new Acquired(5, 9, 1));
        assertThat(acquire("c", 0, 9, 100)).isEmpty();
        assertThat(deliveries.nextOffset()).isEqualTo(10);
    }

    @Test
    void countsBatchesAsAWholeUnlessItIsToBeExact() {
        List<Span> batches = List.of(new Span(0, 3), new Span(4, 7), new Span(8, 11));
        assertThat(deliveries.acquire("a", batches, 5, false, LIMITS, 0)).containsExactly(new Acquired(0, 7, 1));
        assertThat(deliveries.acquire("b", batches, 1, true, LIMITS, 0)).containsExactly(new Acquired(8, 8, 1));
    }

    @Test
    void theStartMovesOverWhatIsDealtWithAndStopsAtWhatIsNot() {
        acquire("a", 0, 9, 10);
        assertThat(say("a", 3, 9, Acknowledgement.ACCEPT)).isEqualTo(Verdict.TAKEN);
        assertThat(deliveries.startOffset()).isZero();
        assertThat(deliveries.takeWrite())
                .contains(new Write(0, 7, List.of(new StateBatch(3, 9, DeliveryState.ACKNOWLEDGED, 1))));
        assertThat(say("a", 0, 2, Acknowledgement.REJECT)).isEqualTo(Verdict.TAKEN);
        assertThat(deliveries.startOffset()).isEqualTo(10);
        assertThat(deliveries.takeWrite()).contains(new Write(10, 0, List.of()));
        assertThat(deliveries.takeWrite()).isEmpty();
    }

    @Test
    void aReleasedRecordComesAgainUntilItHasComeOftenEnough() {
        acquire("a", 0, 0, 1);
        say("a", 0, 0, Acknowledgement.RELEASE);
        assertThat(acquire("b", 0, 0, 1)).containsExactly(new Acquired(0, 0, 2));
        say("b", 0, 0, Acknowledgement.RELEASE);
        assertThat(deliveries.startOffset()).as("it was given up").isEqualTo(1);
    }

    @Test
    void aLockEndsWithItsTimeAndItsHolderMayNotSpeakAfterwards() {
        acquire("a", 0, 4, 5);
        assertThat(deliveries.nextExpiryMs()).isEqualTo(1_000);
        assertThat(deliveries.expire(LIMITS, 999)).isFalse();
        assertThat(deliveries.expire(LIMITS, 1_000)).isTrue();
        assertThat(say("a", 0, 4, Acknowledgement.ACCEPT)).isEqualTo(Verdict.NOT_ACQUIRED);
        assertThat(deliveries.takeWrite())
                .contains(new Write(0, 0, List.of(new StateBatch(0, 4, DeliveryState.AVAILABLE, 1))));
    }

    @Test
    void aRenewedLockBeginsAnew() {
        acquire("a", 0, 4, 5);
        assertThat(deliveries.acknowledge(
                        "a", List.of(new Acknowledgement(1, 2, List.of(Acknowledgement.RENEW))), LIMITS, 900))
                .isEqualTo(Verdict.TAKEN);
        assertThat(deliveries.expire(LIMITS, 1_000)).isTrue();
        assertThat(acquire("b", 0, 4, 5)).containsExactly(new Acquired(0, 0, 2), new Acquired(3, 4, 2));
        assertThat(deliveries.nextExpiryMs()).isEqualTo(1_000);
    }

    @Test
    void nothingOfARequestCountsIfAnyOfItIsWrong() {
        acquire("a", 0, 4, 5);
        List<Acknowledgement> halfNotHis = List.of(
                new Acknowledgement(0, 1, List.of(Acknowledgement.ACCEPT)),
                new Acknowledgement(4, 5, List.of(Acknowledgement.ACCEPT)));
        assertThat(deliveries.acknowledge("a", halfNotHis, LIMITS, 0)).isEqualTo(Verdict.NOT_ACQUIRED);
        assertThat(say("b", 0, 4, Acknowledgement.ACCEPT)).isEqualTo(Verdict.NOT_ACQUIRED);
        assertThat(deliveries.acknowledge(
                        "a",
                        List.of(new Acknowledgement(0, 4, List.of(Acknowledgement.ACCEPT, Acknowledgement.ACCEPT))),
                        LIMITS,
                        0))
                .isEqualTo(Verdict.MALFORMED);
        assertThat(say("a", 0, 4, (byte) 9)).isEqualTo(Verdict.MALFORMED);
        assertThat(deliveries.all()).containsExactly(new StateBatch(0, 4, DeliveryState.ACQUIRED, 1));
    }

    @Test
    void whatWasSaidBeforeIsPassedOver() {
        acquire("a", 0, 4, 5);
        say("a", 0, 4, Acknowledgement.ACCEPT);
        assertThat(say("a", 0, 4, Acknowledgement.ACCEPT)).isEqualTo(Verdict.TAKEN);
    }

    @Test
    void noMoreIsInFlightThanIsAllowed() {
        assertThat(acquire("a", 0, 99, 100)).containsExactly(new Acquired(0, 19, 1));
        assertThat(deliveries.mayAcquire(LIMITS)).isFalse();
        say("a", 5, 9, Acknowledgement.ACCEPT);
        assertThat(deliveries.mayAcquire(LIMITS)).isTrue();
        assertThat(acquire("a", 20, 99, 100)).containsExactly(new Acquired(20, 24, 1));
    }

    @Test
    void whoIsGoneHasHadNothing() {
        acquire("a", 0, 4, 5);
        deliveries.releaseAll("a");
        assertThat(acquire("b", 0, 4, 5)).containsExactly(new Acquired(0, 4, 1));
    }

    @Test
    void whatTheLogHasDroppedIsDealtWith() {
        acquire("a", 0, 9, 10);
        deliveries.startAt(4);
        assertThat(deliveries.startOffset()).isEqualTo(4);
        assertThat(say("a", 0, 9, Acknowledgement.ACCEPT)).isEqualTo(Verdict.TAKEN);
        deliveries.startAt(50);
        assertThat(deliveries.nextOffset()).isEqualTo(50);
    }

    @Test
    void whatIsNotToBeDeliveredIsPassedOver() {
        acquire("a", 0, 1, 2);
        deliveries.skip(new Span(2, 5));
        assertThat(acquire("a", 0, 9, 10)).containsExactly(new Acquired(6, 9, 1));
        say("a", 0, 1, Acknowledgement.ACCEPT);
        assertThat(deliveries.startOffset()).isEqualTo(6);
    }

    @Test
    void aFailedWriteIsInTheNextOne() {
        acquire("a", 0, 9, 10);
        say("a", 3, 4, Acknowledgement.ACCEPT);
        Write failed = deliveries.takeWrite().orElseThrow();
        say("a", 6, 6, Acknowledgement.RELEASE);
        deliveries.giveBack(failed);
        assertThat(deliveries.takeWrite())
                .contains(new Write(
                        0,
                        2,
                        List.of(
                                new StateBatch(3, 4, DeliveryState.ACKNOWLEDGED, 1),
                                new StateBatch(6, 6, DeliveryState.AVAILABLE, 1))));
    }

    @Test
    void whatIsNotStoredIsAvailableAfterATakeover() {
        Deliveries taken = Deliveries.of(
                2,
                List.of(
                        new StateBatch(4, 5, DeliveryState.ACKNOWLEDGED, 1),
                        new StateBatch(8, 8, DeliveryState.AVAILABLE, 1)));
        assertThat(taken.nextOffset()).isEqualTo(2);
        assertThat(taken.acquire("a", List.of(new Span(0, 9)), 100, false, LIMITS, 0))
                .containsExactly(
                        new Acquired(2, 3, 1), new Acquired(6, 7, 1), new Acquired(8, 8, 2), new Acquired(9, 9, 1));
    }

    private List<Acquired> acquire(String member, long first, long last, int recordsMax) {
        return deliveries.acquire(member, List.of(new Span(first, last)), recordsMax, true, LIMITS, 0);
    }

    private Verdict say(String member, long first, long last, byte type) {
        return deliveries.acknowledge(member, List.of(new Acknowledgement(first, last, List.of(type))), LIMITS, 0);
    }
}
