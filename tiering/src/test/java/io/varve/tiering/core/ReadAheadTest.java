package io.varve.tiering.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.tiering.testing.BuiltObject;
import io.varve.tiering.testing.TestSegments;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReadAheadTest {

    private static final PartitionId PARTITION = TestSegments.PARTITION;
    private static final long BLOCK = 2048;
    private static final long RANGE = 4 * BLOCK;
    private static final long MANY = 1_000_000;

    private ObjectTail tail;
    private BlockIndex index;

    @BeforeEach
    void objects() throws Exception {
        tail = object(0);
        index = tail.index();
        assertThat(index.blocks()).isGreaterThan(50);
    }

    private static ObjectTail object(long startOffset) throws Exception {
        TestSegments.Segment segment = TestSegments.segment(1 + startOffset, startOffset, 400, 500, false);
        return BuiltObject.of(List.of(segment), (int) BLOCK, BlockCompression.NONE)
                .tail();
    }

    private static ReadAhead ahead(long allBytes, int readersMax) {
        return new ReadAhead(2 * RANGE, 8 * RANGE, allBytes, RANGE, readersMax, 1000);
    }

    @Test
    void aReaderThatJumpsAboutCausesNothing() {
        ReadAhead ahead = ahead(MANY, 100);
        for (int block : new int[] {5, 1, 30, 7, 22}) {
            assertThat(read(ahead, block, true, 0).runs()).isEmpty();
        }
    }

    @Test
    void whatIsAheadIsAskedForInWholeRequestsOneAfterTheOtherAndNeverTwice() {
        ReadAhead ahead = ahead(MANY, 100);
        int fetched = 0;
        for (int block = 0; block < index.blocks() - 1; block++) {
            ReadAhead.Plan plan = read(ahead, block, true, 0);
            if (block > 12 && fetched < index.blocks() - 4) {
                assertThat(plan.runs().size())
                        .as("at full depth it is one request whenever there is room for one")
                        .isLessThan(2);
            }
            for (ReadAhead.Run run : plan.runs()) {
                assertThat(run.from()).isGreaterThanOrEqualTo(fetched).isGreaterThan(block);
                assertThat(fetched == 0 || run.from() == fetched).isTrue();
                long bytes =
                        index.position(run.end() - 1) + index.storedBytes(run.end() - 1) - index.position(run.from());
                assertThat(bytes).isLessThanOrEqualTo(RANGE);
                assertThat(run.end() == index.blocks() || bytes + index.storedBytes(run.end()) > RANGE)
                        .as("another block would not fit into the request")
                        .isTrue();
                fetched = run.end();
            }
        }
        assertThat(fetched).isEqualTo(index.blocks());
    }

    @Test
    void aReaderThatNeverWaitsIsNotReadAheadOfAnyFurther() {
        ReadAhead ahead = ahead(MANY, 100);
        for (int block = 0; block < 10; block++) {
            read(ahead, block, false, 0);
        }
        assertThat(ahead.depthBytes(PARTITION, index.firstOffset(10))).isEqualTo(2 * RANGE);
        for (int block = 10; block < 20; block++) {
            read(ahead, block, true, 0);
        }
        assertThat(ahead.depthBytes(PARTITION, index.firstOffset(20))).isEqualTo(8 * RANGE);
    }

    @Test
    void readingAheadGoesOnIntoTheObjectsThatFollow() throws Exception {
        ReadAhead ahead = ahead(MANY, 100);
        for (int block = 0; block < index.blocks() - 2; block++) {
            read(ahead, block, true, 0);
        }
        long nextOffset = index.firstOffset(index.blocks() - 2);
        ReadAhead.Plan alone = ahead.plan(PARTITION, nextOffset, List.of(tail));
        assertThat(alone.wantsMore()).isTrue();
        ObjectTail second = object(tail.footer().endOffset());
        List<ReadAhead.Run> runs =
                ahead.plan(PARTITION, nextOffset, List.of(tail, second)).runs();
        assertThat(runs).isNotEmpty().allSatisfy(run -> assertThat(run.object()).isEqualTo(1));
        assertThat(runs.get(0).from()).isZero();
        assertThat(ahead.plan(PARTITION, nextOffset, List.of(tail, second)).runs())
                .isEmpty();
    }

    @Test
    void twoReadersThatReadTheSameAtTheSameTimeDoNotDisturbEachOther() {
        ReadAhead ahead = ahead(MANY, 100);
        List<ReadAhead.Run> runs = new ArrayList<>();
        for (int block = 0; block < 20; block++) {
            runs.addAll(read(ahead, block, true, 0).runs());
            runs.addAll(read(ahead, block, true, 0).runs());
        }
        assertThat(ahead.depthBytes(PARTITION, index.firstOffset(20))).isPositive();
        for (int i = 1; i < runs.size(); i++) {
            assertThat(runs.get(i).from()).isEqualTo(runs.get(i - 1).end());
        }
    }

    @Test
    void manyReadersShareTheBudget() {
        ReadAhead ahead = ahead(10 * BLOCK, 1000);
        long fetched = 0;
        for (int reader = 0; reader < 40; reader++) {
            PartitionId partition = new PartitionId(PARTITION.topic(), reader);
            for (int block = 0; block < 6; block++) {
                ahead.onRead(partition, index.firstOffset(block), index.firstOffset(block + 1), true, 0);
                // The first ones still get their share; when all are there, a share is less than a block.
                fetched += reader < 20
                        ? 0
                        : ahead.plan(partition, index.firstOffset(block + 1), List.of(tail))
                                .runs()
                                .size();
            }
        }
        assertThat(fetched).isZero();
        assertThat(ahead.readers()).isEqualTo(40);
    }

    @Test
    void whoJumpsAboutTakesNobodysShare() {
        ReadAhead ahead = ahead(16 * RANGE, 10_000);
        for (int jumper = 0; jumper < 1000; jumper++) {
            ahead.onRead(new PartitionId(PARTITION.topic(), jumper), 7, 9, true, 0);
        }
        for (int block = 0; block < 10; block++) {
            read(ahead, block, true, 0);
        }
        assertThat(ahead.depthBytes(PARTITION, index.firstOffset(10))).isEqualTo(8 * RANGE);
    }

    @Test
    void aReaderThatStaysAwayIsForgottenAndTheOldestMakesRoom() {
        ReadAhead ahead = ahead(MANY, 3);
        for (int i = 0; i < 10; i++) {
            read(ahead, i * 5, true, 0);
        }
        assertThat(ahead.readers()).isEqualTo(3);
        read(ahead, 2, true, 5000);
        assertThat(ahead.readers()).isEqualTo(1);
    }

    private ReadAhead.Plan read(ReadAhead ahead, int block, boolean waited, long nowMs) {
        long nextOffset = index.firstOffset(block + 1);
        ahead.onRead(PARTITION, index.firstOffset(block), nextOffset, waited, nowMs);
        return ahead.plan(PARTITION, nextOffset, List.of(tail));
    }
}
