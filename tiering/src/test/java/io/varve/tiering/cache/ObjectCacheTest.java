package io.varve.tiering.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.varve.tiering.core.Block;
import io.varve.tiering.core.BlockCompression;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.testing.BuiltObject;
import io.varve.tiering.testing.TestSegments;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ObjectCacheTest {

    private static final int BLOCK = 4096;

    private final BlockMemory memory = new BlockMemory();
    private final List<ByteBuf> taken = new ArrayList<>();
    private BuiltObject object;
    private ObjectTail tail;
    private ObjectCache cache;

    @BeforeEach
    void object() throws Exception {
        object = BuiltObject.of(TestSegments.chain(1, 400, 500, false), BLOCK, BlockCompression.NONE);
        tail = object.tail();
    }

    @AfterEach
    void nothingIsHeldAfterTheClose() {
        cache.close();
        assertThat(taken).allSatisfy(bytes -> assertThat(bytes.refCnt()).isZero());
    }

    private CachedBlock block(int block) throws Exception {
        ByteBuffer entries = object.block(tail, block).entries();
        ByteBuf bytes = memory.take(entries.remaining());
        taken.add(bytes);
        ByteBuffer in = bytes.nioBuffer(0, bytes.capacity());
        in.put(entries.duplicate()).flip();
        return new CachedBlock(Block.open(in, tail, block, BlockCompression.NONE), bytes);
    }

    @Test
    void whatIsHeldNeverExceedsTheBudget() throws Exception {
        cache = new ObjectCache(10 * BLOCK);
        for (int block = 0; block < tail.index().blocks(); block++) {
            cache.putRead("o", block, block(block));
            cache.putAhead("p", block, block(block));
            assertThat(cache.bytes()).isLessThanOrEqualTo(10 * BLOCK);
            if (block % 3 == 0) {
                assertThat(cache.tryExpect(BLOCK, true)).isTrue();
                assertThat(cache.bytes()).as("with what is on its way").isLessThanOrEqualTo(10 * BLOCK);
                cache.arrived(BLOCK);
            }
        }
        assertThat(cache.bytes()).isGreaterThan(5 * BLOCK);
    }

    /** The reason for the second half: blocks that nobody asked for yet must outlive those that were asked for often. */
    @Test
    void blocksFetchedAheadWaitForTheirReaderHoweverHotTheRestIs() throws Exception {
        cache = new ObjectCache(20 * BLOCK);
        for (int block = 0; block < 10; block++) {
            cache.putRead("hot", block, block(block));
        }
        for (int round = 0; round < 50; round++) {
            for (int block = 0; block < 10; block++) {
                cache.block("hot", block).ifPresent(CachedBlock::release);
            }
        }
        for (int block = 0; block < 8; block++) {
            cache.putAhead("cold", block, block(block));
        }
        for (int block = 0; block < 8; block++) {
            assertThat(cache.holds("cold", block)).isTrue();
            assertThat(cache.block("cold", block)).hasValueSatisfying(CachedBlock::release);
        }
    }

    @Test
    void whatIsAwaitedGetsRoomBeforeWhatIsFetchedAhead() {
        cache = new ObjectCache(16 * BLOCK);
        assertThat(cache.tryExpect(4 * BLOCK, true)).isTrue();
        assertThat(cache.tryExpect(1, true)).as("half of the room is left").isFalse();
        assertThat(cache.tryExpect(4 * BLOCK, false)).isTrue();
        assertThat(cache.tryExpect(1, false)).isFalse();
        cache.arrived(8 * BLOCK);
        assertThat(cache.tryExpect(100 * BLOCK, false))
                .as("alone, however large")
                .isTrue();
        cache.arrived(100 * BLOCK);
    }

    @Test
    void whoHoldsABlockKeepsItsMemoryAlsoWhenTheCacheLetsGo() throws Exception {
        cache = new ObjectCache(100 * BLOCK);
        cache.putAhead("o", 0, block(0));
        CachedBlock held = cache.block("o", 0).orElseThrow();
        cache.close();
        assertThat(cache.block("o", 0)).isEmpty();
        assertThat(held.tryHold()).isTrue();
        assertThat(held.block().entries()).isEqualTo(object.block(tail, 0).entries());
        held.release();
        held.release();
        assertThat(held.tryHold()).as("it is gone").isFalse();
        assertThat(taken.get(0).refCnt()).isZero();
        cache.putRead("o", 1, block(1));
        assertThat(taken.get(1).refCnt()).as("a closed cache keeps nothing").isZero();
    }

    @Test
    void theLongestWaitingMakeRoom() throws Exception {
        cache = new ObjectCache(8 * BLOCK);
        for (int block = 0; block < 20; block++) {
            cache.putAhead("o", block, block(block));
        }
        assertThat(cache.holds("o", 0)).isFalse();
        assertThat(cache.holds("o", 19)).isTrue();
    }

    @Test
    void tailsAndBlocksAreNotMistakenForEachOther() throws Exception {
        cache = new ObjectCache(100 * BLOCK);
        assertThat(cache.tail("o")).isEmpty();
        cache.put("o", tail);
        assertThat(cache.tail("o")).hasValue(tail);
        assertThat(cache.block("o", 0)).isEmpty();
    }
}
