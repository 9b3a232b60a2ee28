package io.varve.serving.core.txn;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The rules, request by request. User reports T8 to T15, C12. */
class TxnRulesTest {

    private static final short V1 = 1;
    private static final short V2 = 2;
    private static final int TIMEOUT_MS = 1000;
    private static final TxnPartition A = new TxnPartition("a", 0);
    private static final TxnPartition B = new TxnPartition("b", 3);

    private Optional<Txn> state = Optional.empty();
    private long nowMs = 100;

    // ---- initialise
    // ------------------------------------------------------------------------------------------------------

    @Test
    void aNewIdNeedsAProducerIdAndStartsAtEpochZero() {
        assertThat(initialise(OptionalLong.empty())).isInstanceOf(TxnDecision.NeedsProducerId.class);

        assertThat(apply(initialise(OptionalLong.of(7)))).isEqualTo("NONE 7/0");
        assertThat(state.orElseThrow().status()).isEqualTo(TxnStatus.EMPTY);
    }

    @Test
    void anotherProducerOfTheSameIdFencesTheFirst() {
        begin();
        assertThat(apply(initialise())).isEqualTo("NONE 7/1");
        assertThat(apply(add(0, V1, A))).isEqualTo("PRODUCER_FENCED");
        assertThat(apply(end(0, true, V1))).isEqualTo("PRODUCER_FENCED");
    }

    @Test
    void anOpenTransactionIsAbortedUnderAnEpochThatNobodyHasBeforeTheNextProducerGetsOne() {
        begin();
        apply(add(0, V1, A));

        assertThat(apply(initialise())).isEqualTo("CONCURRENT_TRANSACTIONS");
        assertThat(state.orElseThrow().status()).isEqualTo(TxnStatus.PREPARE_ABORT);
        assertThat(state.orElseThrow().epoch()).isEqualTo((short) 1);
        assertThat(apply(initialise())).isEqualTo("CONCURRENT_TRANSACTIONS");
        complete();

        assertThat(apply(initialise())).isEqualTo("NONE 7/2");
        assertThat(apply(end(0, true, V1))).isEqualTo("PRODUCER_FENCED");
    }

    /** A fenced producer of version 2 knows the epoch below the fencing one: its end must not pass for a repeat. */
    @Test
    void aFencedProducerCannotTakeTheFenceForItsOwnEnd() {
        begin();
        apply(add(0, V2, A));
        nowMs += TIMEOUT_MS;
        apply(TxnRules.timeOut(state.orElseThrow(), nowMs));
        complete();

        assertThat(apply(end(0, false, V2))).isEqualTo("PRODUCER_FENCED");
        assertThat(apply(end(0, true, V2))).isEqualTo("PRODUCER_FENCED");
        assertThat(apply(add(0, V2, A))).isEqualTo("PRODUCER_FENCED");
    }

    /** KIP-360. */
    @Test
    void aProducerThatGoesOnAfterAnErrorIsBumpedAndItsRepeatIsNot() {
        begin();
        assertThat(apply(continueAs(7, 0))).isEqualTo("NONE 7/1");
        assertThat(apply(continueAs(7, 0))).isEqualTo("NONE 7/1");
        assertThat(apply(continueAs(7, 1))).isEqualTo("NONE 7/2");
        assertThat(apply(continueAs(7, 0))).isEqualTo("PRODUCER_FENCED");
    }

    @Test
    void aProducerThatWasFencedByANewOneCannotGoOn() {
        begin();
        apply(initialise());

        assertThat(apply(continueAs(7, 0))).isEqualTo("PRODUCER_FENCED");
        assertThat(apply(continueAs(8, 0))).isEqualTo("PRODUCER_FENCED");
    }

    @Test
    void aFencedProducerCannotAbortTheTransactionOfTheNewOne() {
        begin();
        apply(initialise());
        apply(add(1, V1, A));

        assertThat(apply(continueAs(7, 0))).isEqualTo("PRODUCER_FENCED");
        assertThat(state.orElseThrow().status()).isEqualTo(TxnStatus.ONGOING);
    }

    @Test
    void whenTheEpochsRunOutThereIsANewProducerId() {
        state = Optional.of(idle(TxnStatus.COMPLETE_COMMIT, Txn.EPOCH_MAX, V1));

        assertThat(initialise(OptionalLong.empty())).isInstanceOf(TxnDecision.NeedsProducerId.class);
        assertThat(apply(TxnRules.initialise("id", state, TIMEOUT_MS, 7, Txn.EPOCH_MAX, OptionalLong.of(8), nowMs)))
                .isEqualTo("NONE 8/0");
        assertThat(apply(continueAs(7, Txn.EPOCH_MAX))).isEqualTo("NONE 8/0");
    }

    // ---- version 1
    // -------------------------------------------------------------------------------------------------------

    @Test
    void inVersionOneTheEpochStaysAndARepeatedEndIsAnsweredAsTheFirst() {
        begin();
        assertThat(apply(add(0, V1, A))).isEqualTo("NONE 7/0");
        assertThat(apply(add(0, V1, A, B))).isEqualTo("NONE 7/0");
        assertThat(state.orElseThrow().partitions()).containsExactly(A, B);

        assertThat(apply(end(0, true, V1))).isEqualTo("NONE 7/0");
        assertThat(apply(end(0, true, V1))).isEqualTo("CONCURRENT_TRANSACTIONS");
        assertThat(apply(end(0, false, V1))).isEqualTo("INVALID_TXN_STATE");
        assertThat(apply(add(0, V1, A))).isEqualTo("CONCURRENT_TRANSACTIONS");
        complete();

        assertThat(apply(end(0, true, V1))).isEqualTo("NONE 7/0");
        assertThat(apply(end(0, false, V1))).isEqualTo("INVALID_TXN_STATE");
        assertThat(apply(add(0, V1, B))).isEqualTo("NONE 7/0");
        assertThat(state.orElseThrow().partitions()).containsExactly(B);
    }

    @Test
    void inVersionOneThereIsNothingToEndBeforeAPartitionIsAdded() {
        begin();
        assertThat(apply(end(0, true, V1))).isEqualTo("INVALID_TXN_STATE");
        assertThat(apply(end(0, false, V1))).isEqualTo("INVALID_TXN_STATE");
    }

    // ---- version 2 (KIP-890)
    // ---------------------------------------------------------------------------------------------

    @Test
    void inVersionTwoEachEndBumpsTheEpochAndItsRepeatIsAnsweredTheSame() {
        begin();
        apply(add(0, V2, A));

        assertThat(apply(end(0, true, V2))).isEqualTo("NONE 7/1");
        assertThat(apply(end(0, true, V2))).isEqualTo("CONCURRENT_TRANSACTIONS");
        complete();

        assertThat(apply(end(0, true, V2))).isEqualTo("NONE 7/1");
        assertThat(apply(end(0, false, V2))).isEqualTo("INVALID_TXN_STATE");
        assertThat(apply(add(0, V2, A))).isEqualTo("PRODUCER_FENCED");
        assertThat(apply(add(1, V2, A))).isEqualTo("NONE 7/1");
        assertThat(apply(end(1, false, V2))).isEqualTo("NONE 7/2");
    }

    @Test
    void inVersionTwoAnAbortWithNothingInItBumpsToo() {
        begin();
        assertThat(apply(end(0, false, V2))).isEqualTo("NONE 7/1");
        complete();
        assertThat(apply(end(1, false, V2))).isEqualTo("NONE 7/2");
        complete();
        assertThat(apply(end(2, true, V2))).isEqualTo("INVALID_TXN_STATE");
    }

    /** C12: epoch 32765, five transactions, and the last end sent again with the old pair. */
    @Test
    void inVersionTwoTheEpochsRunOutWithinATransaction() {
        state = Optional.of(idle(TxnStatus.EMPTY, (short) (Txn.EPOCH_MAX - 1), V2));
        apply(add(Txn.EPOCH_MAX - 1, V2, A));
        assertThat(apply(end(Txn.EPOCH_MAX - 1, true, V2))).isEqualTo("NONE 7/" + Txn.EPOCH_MAX);
        complete();
        apply(add(Txn.EPOCH_MAX, V2, A));
        assertThat(end(Txn.EPOCH_MAX, true, V2)).isInstanceOf(TxnDecision.NeedsProducerId.class);

        assertThat(apply(TxnRules.end(state, 7, Txn.EPOCH_MAX, true, V2, OptionalLong.of(8), nowMs)))
                .isEqualTo("NONE 8/0");
        assertThat(state.orElseThrow().epoch()).isEqualTo(Short.MAX_VALUE);
        complete();

        assertThat(apply(end(Txn.EPOCH_MAX, true, V2))).isEqualTo("NONE 8/0");
        assertThat(apply(TxnRules.addPartitions(state, 8, (short) 0, List.of(A), V2, nowMs)))
                .isEqualTo("NONE 8/0");
        assertThat(apply(end(Txn.EPOCH_MAX, true, V2))).isEqualTo("INVALID_PRODUCER_ID_MAPPING");
    }

    // ---- time-outs, expiry, verification
    // ---------------------------------------------------------------------------------

    @Test
    void aTransactionIsTimedOutWhenItsTimeHasPassedAndNotBefore() {
        begin();
        apply(add(0, V1, A));
        nowMs += TIMEOUT_MS - 1;
        assertThat(TxnRules.timeOut(state.orElseThrow(), nowMs).changed()).isEmpty();
        nowMs++;
        assertThat(TxnRules.timeOut(state.orElseThrow(), nowMs).changed())
                .hasValueSatisfying(txn -> assertThat(txn.status()).isEqualTo(TxnStatus.PREPARE_ABORT));
    }

    @Test
    void onlyAnIdleIdIsForgotten() {
        begin();
        assertThat(TxnRules.expired(state.orElseThrow(), 500, nowMs + 500)).isTrue();
        assertThat(TxnRules.expired(state.orElseThrow(), 500, nowMs + 499)).isFalse();
        apply(add(0, V1, A));
        assertThat(TxnRules.expired(state.orElseThrow(), 500, nowMs + 5000)).isFalse();
    }

    @Test
    void verificationNamesWhatIsNotInTheTransaction() {
        begin();
        apply(add(0, V1, A));
        assertThat(TxnRules.verify(state, 7, (short) 0, List.of(A, B)))
                .containsEntry(A, TxnError.NONE)
                .containsEntry(B, TxnError.TRANSACTION_ABORTABLE);
        assertThat(TxnRules.verify(state, 7, (short) 1, List.of(A))).containsEntry(A, TxnError.PRODUCER_FENCED);
        assertThat(TxnRules.verify(state, 8, (short) 0, List.of(A)))
                .containsEntry(A, TxnError.INVALID_PRODUCER_ID_MAPPING);
        apply(end(0, true, V1));
        assertThat(TxnRules.verify(state, 7, (short) 0, List.of(A))).containsEntry(A, TxnError.CONCURRENT_TRANSACTIONS);
    }

    @Test
    void markersOfAnotherTransactionCompleteNothing() {
        begin();
        apply(add(0, V2, A));
        apply(end(0, true, V2));
        assertThat(TxnRules.complete(state, 7, (short) 0, nowMs)).isEmpty();
        assertThat(TxnRules.complete(state, 8, (short) 1, nowMs)).isEmpty();
        assertThat(TxnRules.complete(state, 7, (short) 1, nowMs)).isPresent();
        complete();
        assertThat(TxnRules.complete(state, 7, (short) 1, nowMs)).isEmpty();
    }

    @Test
    void nothingCanBeDoneWithAnUnknownId() {
        assertThat(apply(add(0, V1, A))).isEqualTo("INVALID_PRODUCER_ID_MAPPING");
        assertThat(apply(end(0, true, V1))).isEqualTo("INVALID_PRODUCER_ID_MAPPING");
    }

    // ---- helpers
    // ---------------------------------------------------------------------------------------------------------

    private void begin() {
        apply(initialise(OptionalLong.of(7)));
    }

    private TxnDecision initialise() {
        return initialise(OptionalLong.empty());
    }

    private TxnDecision initialise(OptionalLong freshId) {
        return TxnRules.initialise("id", state, TIMEOUT_MS, Txn.NONE, Txn.NO_EPOCH, freshId, nowMs);
    }

    private TxnDecision continueAs(long producerId, int epoch) {
        return TxnRules.initialise("id", state, TIMEOUT_MS, producerId, (short) epoch, OptionalLong.empty(), nowMs);
    }

    private TxnDecision add(int epoch, short version, TxnPartition... partitions) {
        return TxnRules.addPartitions(state, 7, (short) epoch, List.of(partitions), version, nowMs);
    }

    private TxnDecision end(int epoch, boolean commit, short version) {
        return TxnRules.end(state, 7, (short) epoch, commit, version, OptionalLong.empty(), nowMs);
    }

    private void complete() {
        Txn present = state.orElseThrow();
        state = TxnRules.complete(state, present.producerId(), present.epoch(), nowMs);
        assertThat(state).isPresent();
    }

    private String apply(TxnDecision decision) {
        decision.changed().ifPresent(txn -> state = Optional.of(txn));
        if (decision.error() != TxnError.NONE) {
            return decision.error().name();
        }
        return decision instanceof TxnDecision.Change change
                ? "NONE " + change.producerId() + "/" + change.epoch()
                : "NONE " + ((TxnDecision.Answer) decision).producerId() + "/"
                        + ((TxnDecision.Answer) decision).epoch();
    }

    private static Txn idle(TxnStatus status, short epoch, short version) {
        return new Txn(
                "id",
                7,
                7,
                Txn.NONE,
                epoch,
                Txn.NO_EPOCH,
                TIMEOUT_MS,
                status,
                new java.util.TreeSet<>(),
                Txn.NONE,
                0,
                version);
    }
}
