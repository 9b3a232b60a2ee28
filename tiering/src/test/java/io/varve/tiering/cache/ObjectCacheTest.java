package io.varve.tiering.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.tiering.core.BlockCompression;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.testing.BuiltObject;
import io.varve.tiering.testing.TestSegments;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ObjectCacheTest {

    private static final int BLOCK = 4096;

    private BuiltObject object;
    private ObjectTail tail;

    @BeforeEach
    void object() throws Exception {
        object = BuiltObject.of(TestSegments.chain(1, 400, 500, false), BLOCK, BlockCompression.NONE);
        tail = object.tail();
    }

    @Test
    void whatIsHeldNeverExceedsTheBudget() throws Exception {
        ObjectCache cache = new ObjectCache(10 * BLOCK);
        for (int block = 0; block < tail.index().blocks(); block++) {
            cache.putRead("o", block, object.block(tail, block));
            cache.putAhead("p", block, object.block(tail, block));
            assertThat(cache.bytes()).isLessThanOrEqualTo(10 * BLOCK);
        }
        assertThat(cache.bytes()).isGreaterThan(5 * BLOCK);
    }

    /** The reason for the second half: blocks that nobody asked for yet must outlive those that were asked for often. */
    @Test
    void blocksFetchedAheadWaitForTheirReaderHoweverHotTheRestIs() throws Exception {
        ObjectCache cache = new ObjectCache(20 * BLOCK);
        for (int block = 0; block < 10; block++) {
            cache.putRead("hot", block, object.block(tail, block));
        }
        for (int round = 0; round < 50; round++) {
            for (int block = 0; block < 10; block++) {
                cache.block("hot", block);
            }
        }
        for (int block = 0; block < 8; block++) {
            cache.putAhead("cold", block, object.block(tail, block));
        }
        for (int block = 0; block < 8; block++) {
            assertThat(cache.holds("cold", block)).isTrue();
            assertThat(cache.block("cold", block)).isPresent();
        }
    }

    @Test
    void theLongestWaitingMakeRoom() throws Exception {
        ObjectCache cache = new ObjectCache(8 * BLOCK);
        for (int block = 0; block < 20; block++) {
            cache.putAhead("o", block, object.block(tail, block));
        }
        assertThat(cache.holds("o", 0)).isFalse();
        assertThat(cache.holds("o", 19)).isTrue();
    }

    @Test
    void tailsAndBlocksAreNotMistakenForEachOther() throws Exception {
        ObjectCache cache = new ObjectCache(100 * BLOCK);
        assertThat(cache.tail("o")).isEmpty();
        cache.put("o", tail);
        assertThat(cache.tail("o")).hasValue(tail);
        assertThat(cache.block("o", 0)).isEmpty();
    }
}
