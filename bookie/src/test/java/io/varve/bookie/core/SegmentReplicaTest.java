package io.varve.bookie.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.InvariantViolation;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.core.SegmentReplica.Verdict;
import org.junit.jupiter.api.Test;

/** A replica is a prefix, and its state is its end. */
class SegmentReplicaTest {

    private final Fence fence = new Fence(new PartitionId(new TopicId(1, 2), 0), 0);
    private final SegmentReplica replica = new SegmentReplica(new SegmentId(1), fence, 5, 100);

    private void accept(long first, long last) {
        assertThat(replica.judge(5, first, last)).isEqualTo(Verdict.ACCEPT);
        replica.accept(first, last, first);
    }

    /** I-3. */
    @Test
    void onlyTheEntryAtTheEndIsAccepted() {
        accept(100, 109);
        assertThat(replica.judge(5, 111, 112)).isEqualTo(Verdict.GAP);
        assertThat(replica.judge(5, 100, 109)).isEqualTo(Verdict.REPEAT);
        assertThat(replica.judge(5, 104, 106)).isEqualTo(Verdict.REPEAT);
        assertThat(replica.judge(5, 105, 115)).isEqualTo(Verdict.INVALID);
        assertThat(replica.judge(5, 99, 99)).isEqualTo(Verdict.INVALID);
        assertThatThrownBy(() -> replica.accept(120, 121, 0)).isInstanceOf(InvariantViolation.class);
    }

    @Test
    void whatIsAcceptedIsNotYetDurable() {
        accept(100, 109);
        assertThat(replica.durableEnd()).isEqualTo(100);
        replica.onDurable(110);
        assertThat(replica.durableEnd()).isEqualTo(110);
        assertThatThrownBy(() -> replica.onDurable(105)).isInstanceOf(InvariantViolation.class);
        assertThatThrownBy(() -> replica.onDurable(111)).isInstanceOf(InvariantViolation.class);
    }

    /** I-4. */
    @Test
    void nothingBelowTheFenceIsAccepted() {
        fence.raise(6);
        assertThat(replica.judge(5, 100, 100)).isEqualTo(Verdict.FENCED);
        assertThat(fence.raise(5)).isFalse();
        assertThat(fence.epoch()).isEqualTo(6);
    }

    @Test
    void aSegmentHasOneWriterOfOneEpoch() {
        assertThat(replica.judge(4, 100, 100)).isEqualTo(Verdict.FENCED);
        assertThat(replica.judge(6, 100, 100)).isEqualTo(Verdict.INVALID);
    }

    @Test
    void aSealedSegmentTakesRepeatsOnlyAndTheHigherEpochsSealStands() {
        accept(100, 109);
        assertThat(replica.seal(5, 110)).isTrue();
        assertThat(replica.seal(5, 110)).isFalse();
        assertThat(replica.judge(5, 110, 110)).isEqualTo(Verdict.SEALED);
        assertThat(replica.judge(5, 100, 109)).isEqualTo(Verdict.REPEAT);
        assertThat(replica.seal(7, 105)).isTrue();
        assertThat(replica.seal(6, 110)).isFalse();
        assertThat(replica.sealedEnd()).isEqualTo(105);
    }

    @Test
    void theHighWatermarkNeverMovesBack() {
        replica.accept(100, 100, 90);
        replica.accept(101, 101, 80);
        assertThat(replica.highWatermark()).isEqualTo(90);
    }
}
