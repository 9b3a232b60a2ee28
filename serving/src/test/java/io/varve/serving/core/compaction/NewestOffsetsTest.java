package io.varve.serving.core.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class NewestOffsetsTest {

    /** From the authors' test vectors: the key 00 01 … 0f, inputs of 0 and 1 bytes. */
    @Test
    void digestsAreThoseOfSipHash() {
        KeyDigest digest = new KeyDigest(0x0706050403020100L, 0x0f0e0d0c0b0a0908L);

        digest.of(ByteBuffer.allocate(0), 0, 0);
        assertThat(hex(digest)).isEqualTo("a3817f04ba25a8e66df67214c7550293");
        digest.of(ByteBuffer.allocate(1), 0, 1);
        assertThat(hex(digest)).isEqualTo("da87c1d86b99af44347659119b22fc45");
    }

    @Test
    void theOrderOfTheBufferIsOfNoConcern() {
        ByteBuffer bytes = ByteBuffer.wrap("a key of more than eight bytes".getBytes());
        KeyDigest big = new KeyDigest(1, 2);
        KeyDigest little = new KeyDigest(1, 2);

        big.of(bytes, 2, 20);
        little.of(bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN), 2, 20);

        assertThat(hex(big)).isEqualTo(hex(little));
    }

    @Test
    void everyKeyHasItsNewestOffsetUntilThereIsNoRoom() {
        SplittableRandom random = new SplittableRandom(1);
        NewestOffsets newest = new NewestOffsets(24 << 10, 3, 4);
        for (int round = 0; round < 3; round++) {
            newest.clear();
            TreeMap<Integer, Long> model = new TreeMap<>();
            for (long offset = 0; offset < 5_000; offset++) {
                int key = random.nextInt(newest.sizeMax() + 100);
                boolean room = model.containsKey(key) || model.size() < newest.sizeMax();
                assertThat(newest.put(bytes(key), 0, Integer.BYTES, offset)).isEqualTo(room);
                if (room) {
                    model.put(key, offset);
                }
            }
            assertThat(newest.size()).isEqualTo(model.size()).isEqualTo(newest.sizeMax());
            for (int key = 0; key < newest.sizeMax() + 100; key++) {
                assertThat(newest.get(bytes(key), 0, Integer.BYTES))
                        .isEqualTo(model.getOrDefault(key, NewestOffsets.NONE));
            }
        }
    }

    private static ByteBuffer bytes(int key) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(0, key);
    }

    private static String hex(KeyDigest digest) {
        return "%016x%016x".formatted(Long.reverseBytes(digest.first()), Long.reverseBytes(digest.second()));
    }
}
