package io.varve.serving.core.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.core.partition.ProducerStates.Verdict;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Kafka's rules for producers; the cases of user reports T1, T3, C7 and C10 among them. */
class ProducerStatesTest {

    private static final long P = 77;

    private ProducerStates states = new ProducerStates();
    private final AbortedTxns aborted = new AbortedTxns();
    private long end;

    private Verdict append(int epoch, int sequence, int records, boolean transactional, boolean verified) {
        Verdict verdict = states.checkClient(P, (short) epoch, sequence, records, transactional, verified);
        if (verdict == Verdict.ACCEPT) {
            states.onBatch(P, (short) epoch, sequence, end, end + records - 1, 5, transactional, 1_000);
            end += records;
        }
        return verdict;
    }

    private Verdict append(int epoch, int sequence, int records) {
        return append(epoch, sequence, records, false, false);
    }

    private Verdict mark(int epoch, int coordinatorEpoch, boolean commit, int version) {
        Verdict verdict = states.checkMarker(P, (short) epoch, coordinatorEpoch, version);
        if (verdict == Verdict.ACCEPT) {
            states.onMarker(P, (short) epoch, coordinatorEpoch, commit, end++, 1_000, aborted);
        }
        return verdict;
    }

    @Test
    void anyOfTheLastFiveBatchesIsARepeatWithItsFirstOffsets() {
        for (int sequence = 0; sequence < 6; sequence++) {
            assertThat(append(0, sequence * 2, 2)).isEqualTo(Verdict.ACCEPT);
        }
        for (int sequence = 1; sequence < 6; sequence++) {
            assertThat(append(0, sequence * 2, 2)).isEqualTo(Verdict.DUPLICATE);
            assertThat(states.duplicateFirstOffset()).isEqualTo(sequence * 2L);
            assertThat(states.duplicateLastOffset()).isEqualTo(sequence * 2L + 1);
        }
        assertThat(append(0, 0, 2)).as("older than five batches").isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(append(0, 14, 1)).as("one is missing").isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(end).isEqualTo(12);
    }

    /** The first of several batches under way was refused by the owner before; the new one gets the second first. */
    @Test
    void aProducersLaterBatchIsNotTakenBeforeItsFirst() {
        assertThat(append(0, 147, 147)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(append(0, 0, 147)).isEqualTo(Verdict.ACCEPT);
        assertThat(append(0, 147, 147)).isEqualTo(Verdict.ACCEPT);
    }

    /** T1: an idle producer goes on where it was, also after its state expired. */
    @Test
    void aProducerThatMayHaveBeenForgottenMayGoOnAnywhere() {
        append(3, 0, 41);
        states.expire(10_000, 5_000);
        assertThat(states.size()).isZero();
        assertThat(append(3, 41, 1)).isEqualTo(Verdict.ACCEPT);
        assertThat(append(3, 42, 1)).isEqualTo(Verdict.ACCEPT);
        assertThat(states.checkClient(P + 1, (short) 0, 7, 1, false, false)).isEqualTo(Verdict.OUT_OF_ORDER);
    }

    @Test
    void whatWasForgottenIsRememberedByTheCheckpoint() {
        append(3, 0, 41);
        states.expire(10_000, 5_000);
        ByteBuffer encoded = ByteBuffer.allocate(states.encodedBytes());
        states.encode(encoded);
        states = ProducerStates.decode(encoded.flip());
        assertThat(append(3, 41, 1)).isEqualTo(Verdict.ACCEPT);
    }

    @Test
    void aLogWhosePastIsGoneTakesAnyProducerAtAnySequence() {
        states = LogState.empty(1_000).producers();
        assertThat(append(3, 41, 1)).isEqualTo(Verdict.ACCEPT);
        states = LogState.empty(0).producers();
        assertThat(append(3, 41, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
    }

    @Test
    void sequenceNumbersGoOnAtZeroAfterTheLargest() {
        states = ProducerStates.ofUnknownPast();
        assertThat(append(0, Integer.MAX_VALUE - 1, 3)).isEqualTo(Verdict.ACCEPT);
        assertThat(append(0, Integer.MAX_VALUE - 1, 3)).isEqualTo(Verdict.DUPLICATE);
        assertThat(append(0, 1, 1)).isEqualTo(Verdict.ACCEPT);
    }

    @Test
    void aNewEpochStartsAtZeroAndTheOldOneIsRefused() {
        append(4, 0, 1);
        assertThat(append(5, 1, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(append(5, 0, 1)).isEqualTo(Verdict.ACCEPT);
        assertThat(append(4, 1, 1)).isEqualTo(Verdict.STALE_EPOCH);
    }

    @Test
    void aTransactionNeedsItsCoordinatorsWordToBeginAndNoneToGoOn() {
        assertThat(append(0, 0, 1, true, false)).isEqualTo(Verdict.INVALID_TXN_STATE);
        assertThat(append(0, 0, 1, true, true)).isEqualTo(Verdict.ACCEPT);
        assertThat(append(0, 1, 1, true, false)).isEqualTo(Verdict.ACCEPT);
        assertThat(append(0, 2, 1, false, false)).isEqualTo(Verdict.INVALID_TXN_STATE);
        assertThat(states.isInTransaction(P, (short) 0)).isTrue();
    }

    @Test
    void theLastStableOffsetWaitsForTheMarkerToBeAcknowledged() {
        append(0, 0, 3, true, true);
        assertThat(states.lastStableOffset(3)).isZero();
        mark(0, 1, true, 1);
        assertThat(states.lastStableOffset(3))
                .as("the marker isn't acknowledged yet")
                .isZero();
        assertThat(states.lastStableOffset(4)).isEqualTo(4);
        assertThat(aborted.size()).isZero();
    }

    @Test
    void anAbortedTransactionIsInTheIndexUntilNobodyCanNeedIt() {
        append(0, 0, 3, true, true);
        mark(0, 1, false, 1);
        List<AbortedTxns.Aborted> found = new ArrayList<>();
        assertThat(aborted.collect(1, 2, found)).as("complete").isTrue();
        assertThat(found).containsExactly(new AbortedTxns.Aborted(P, 0, 3, 4));
        found.clear();
        assertThat(aborted.collect(4, 9, found)).as("complete").isFalse();
        assertThat(found).isEmpty();
    }

    @Test
    void anOpenTransactionHoldsTheLastStableOffsetWhateverOthersCommit() {
        states.onBatch(1, (short) 0, 0, 0, 0, 5, true, 1_000);
        states.onBatch(2, (short) 0, 0, 1, 1, 5, true, 1_000);
        states.onMarker(2, (short) 0, 1, false, 2, 1_000, aborted);
        assertThat(states.lastStableOffset(3)).isZero();
        List<AbortedTxns.Aborted> found = new ArrayList<>();
        aborted.collect(0, 3, found);
        assertThat(found).extracting(AbortedTxns.Aborted::stableOffset).containsExactly(0L);
        states.onMarker(1, (short) 0, 1, true, 3, 1_000, aborted);
        assertThat(states.lastStableOffset(4)).isEqualTo(4);
    }

    @Test
    void aMarkerOfAReplacedCoordinatorIsRefused() {
        append(0, 0, 1, true, true);
        assertThat(mark(0, 7, true, 1)).isEqualTo(Verdict.ACCEPT);
        assertThat(mark(0, 6, true, 1)).isEqualTo(Verdict.STALE_COORDINATOR);
        assertThat(mark(0, 7, true, 1)).as("a repeat under version 1").isEqualTo(Verdict.ACCEPT);
    }

    @Test
    void fromVersionTwoOnAMarkerRaisesTheEpochAndItsRepeatIsKnown() {
        append(3, 0, 1, true, true);
        assertThat(mark(3, 1, true, 2)).as("an epoch that records have").isEqualTo(Verdict.STALE_EPOCH);
        assertThat(mark(4, 1, true, 2)).isEqualTo(Verdict.ACCEPT);
        assertThat(mark(4, 1, true, 2)).isEqualTo(Verdict.ALREADY_ENDED);
        assertThat(append(3, 1, 1, true, true))
                .as("a late write of the ended one")
                .isEqualTo(Verdict.STALE_EPOCH);
        assertThat(append(4, 1, 1, true, true)).as("not the first of its epoch").isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(append(4, 0, 1, true, true)).isEqualTo(Verdict.ACCEPT);
    }

    @Test
    void idleProducersAreForgottenButNeverThoseWithAnOpenTransaction() {
        states.onBatch(1, (short) 0, 0, 0, 0, 5, false, 1_000);
        states.onBatch(2, (short) 0, 0, 1, 1, 5, true, 1_000);
        states.onBatch(3, (short) 0, 0, 2, 2, 5, false, 9_000);
        states.expire(10_000, 5_000);
        assertThat(states.all()).extracting(ProducerStates.Info::producerId).containsExactly(2L, 3L);
    }

    /** A program that is started again and again: a million producers of one batch each, and one whose transaction is open all the while. */
    @Test
    void aMillionShortLivedProducersTakeBoundedMemoryAndTheYoungestAreKnown() {
        int producers = 1_000_000;
        states.onBatch(0, (short) 0, 0, 0, 0, 5, true, 1_000);
        for (int id = 1; id <= producers; id++) {
            states.onBatch(id, (short) 0, 0, id, id, 5, false, 1_000);
            if (id == producers / 2) {
                states = copyOf(states);
            }
        }

        assertThat(states.size()).isEqualTo(ProducerStates.PRODUCERS_MAX);
        assertThat(states.encodedBytes()).isLessThan(100 * ProducerStates.PRODUCERS_MAX);
        assertThat(states.isInTransaction(0, (short) 0)).isTrue();
        assertThat(states.checkClient(producers, (short) 0, 0, 1, false, false)).isEqualTo(Verdict.DUPLICATE);
        int oldest = producers - ProducerStates.PRODUCERS_MAX + 2;
        assertThat(states.checkClient(oldest, (short) 0, 0, 1, false, false)).isEqualTo(Verdict.DUPLICATE);
        assertThat(states.checkClient(oldest - 1, (short) 0, 1, 1, false, false))
                .as("forgotten, so it may go on anywhere")
                .isEqualTo(Verdict.ACCEPT);
    }

    /** Who has written lately is not old, however long it has been known. */
    @Test
    void aProducerThatGoesOnIsNotForgottenForThoseThatCome() {
        for (int i = 0; i < 3 * ProducerStates.PRODUCERS_MAX; i++) {
            assertThat(append(0, i, 1)).isEqualTo(Verdict.ACCEPT);
            states.onBatch(1_000_000 + i, (short) 0, 0, end, end, 5, false, 1_000);
            end++;
        }
        assertThat(append(0, 3 * ProducerStates.PRODUCERS_MAX - 1, 1)).isEqualTo(Verdict.DUPLICATE);
    }

    private static ProducerStates copyOf(ProducerStates states) {
        ByteBuffer encoded = ByteBuffer.allocate(states.encodedBytes());
        states.encode(encoded);
        return ProducerStates.decode(encoded.flip());
    }
}
