package io.varve.serving.core.partition;

import static io.varve.serving.core.partition.SteppedLeader.EPOCH;
import static io.varve.serving.core.partition.SteppedLeader.segment;
import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.SegmentId;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.SegmentDescriptor.State;
import io.varve.serving.core.partition.LeaderEffects.SealFacts;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** I-17: every combination of what a chain can look like with what a roll was to do. The roll is of segment 1, at offset 50, to segment 2. */
class RollLookupTest {

    private static final SealFacts TRIED = new SealFacts(new SegmentId(1), 50, 0, -1, new TreeSet<>());
    private static final SegmentId OPENING = new SegmentId(2);

    private static RollLookup lookup(SegmentDescriptor open, SealFacts tried, SegmentId opening) {
        return RollLookup.of(open, tried, opening, EPOCH, 50);
    }

    @Test
    void theSegmentThatItOpensIsOpen() {
        SegmentDescriptor open = segment(2, EPOCH, State.OPEN, 50);
        assertThat(lookup(open, TRIED, OPENING)).isEqualTo(RollLookup.COMMITTED);
        assertThat(lookup(open, null, OPENING)).isEqualTo(RollLookup.COMMITTED);
    }

    @Test
    void theSegmentThatItSealsIsStillOpen() {
        assertThat(lookup(segment(1, EPOCH - 1, State.OPEN, 0), TRIED, OPENING)).isEqualTo(RollLookup.NOT_COMMITTED);
        assertThat(lookup(segment(1, EPOCH - 1, State.OPEN, 0), TRIED, null)).isEqualTo(RollLookup.NOT_COMMITTED);
    }

    @Test
    void noSegmentIsOpen() {
        assertThat(lookup(null, null, OPENING)).isEqualTo(RollLookup.NOT_COMMITTED);
        assertThat(lookup(null, TRIED, OPENING)).isEqualTo(RollLookup.OVERTAKEN);
    }

    @Test
    void anEarlierTryOfThisOwnerIsOpen() {
        SegmentDescriptor open = segment(3, EPOCH, State.OPEN, 50);
        assertThat(lookup(open, TRIED, OPENING)).isEqualTo(RollLookup.STRANDED);
        assertThat(lookup(open, TRIED, null)).isEqualTo(RollLookup.STRANDED);
        assertThat(lookup(open, null, OPENING)).isEqualTo(RollLookup.STRANDED);
    }

    @Test
    void anotherOwnersSegmentIsOpenOrOneElsewhere() {
        assertThat(lookup(segment(3, EPOCH + 1, State.OPEN, 50), TRIED, OPENING))
                .isEqualTo(RollLookup.OVERTAKEN);
        assertThat(lookup(segment(3, EPOCH, State.OPEN, 51), TRIED, OPENING)).isEqualTo(RollLookup.OVERTAKEN);
    }
}
