package io.varve.tiering.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.object.StoreFailures;
import io.varve.tiering.read.ObjectWalk;
import io.varve.tiering.testing.BuiltObject;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** No byte of an object can change without being noticed, and no bytes make the decoders do anything but say what is wrong. */
class ObjectFormatFuzz {

    private static final String KEY = "c/t/0/x.seg";

    @Test
    void everyFlippedBitIsFound() throws Exception {
        BuiltObject object = BuiltObject.of(TestSegments.chain(2, 6, 150, true), 512, Lz4FrameCompression.INSTANCE);
        for (int at = 0; at < object.bytes().length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] changed = object.bytes().clone();
                changed[at] ^= (byte) (1 << bit);
                assertThat(verify(changed)).as("byte %d bit %d", at, bit).isEqualTo(RemoteReadException.Kind.CORRUPT);
            }
        }
    }

    @Test
    void everyCutIsFound() throws Exception {
        BuiltObject object = BuiltObject.of(TestSegments.chain(1, 6, 150, false), 512, BlockCompression.NONE);
        for (int length = 0; length < object.bytes().length; length++) {
            byte[] cut = java.util.Arrays.copyOf(object.bytes(), length);
            assertThat(verify(cut)).as("length %d", length).isEqualTo(RemoteReadException.Kind.CORRUPT);
        }
    }

    @Test
    void anyBytesAreRefusedWithAReason() {
        SplittableRandom random = new SplittableRandom(1);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[random.nextInt(400)];
            random.nextBytes(bytes);
            ByteBuffer all = ByteBuffer.wrap(bytes);
            if (bytes.length >= ObjectFormat.TRAILER_BYTES && random.nextBoolean()) {
                all.putLong(bytes.length - 8, ObjectFormat.TRAILER_MAGIC);
                all.putInt(bytes.length - 32, random.nextInt(64)).putInt(bytes.length - 28, random.nextInt(128));
            }
            try {
                ObjectTail.Result result = ObjectTail.decode(all, bytes.length + 64L);
                assertThat(result).isInstanceOf(ObjectTail.Result.More.class);
            } catch (ObjectFormatException expected) {
                assertThat(expected).hasMessageMatching(".+");
            }
        }
    }

    /** A footer whose checksum is right but whose fields are not: whatever a broken writer could produce. */
    @Test
    void anyFooterIsRefusedOrMakesSense() throws Exception {
        BuiltObject object = BuiltObject.of(TestSegments.chain(2, 6, 150, true), 512, Lz4FrameCompression.INSTANCE);
        int trailer = object.bytes().length - ObjectFormat.TRAILER_BYTES;
        int footerBytes = object.range(trailer + 4, 4).getInt();
        SplittableRandom random = new SplittableRandom(2);
        for (int round = 0; round < 20_000; round++) {
            byte[] changed = object.bytes().clone();
            int at = trailer - footerBytes + random.nextInt(footerBytes);
            changed[at] = (byte) random.nextInt();
            BuiltObject other = new BuiltObject(changed, object.segments(), object.compression(), object.written())
                    .withVersion(1, 0);
            try {
                ObjectTail tail = other.tail();
                for (int block = 0; block < tail.index().blocks(); block++) {
                    other.block(tail, block);
                }
            } catch (ObjectFormatException expected) {
                assertThat(expected).hasMessageMatching(".+");
            }
        }
    }

    private static RemoteReadException.Kind verify(byte[] bytes) {
        MemoryObjectStore store = new MemoryObjectStore();
        store.overwrite(KEY, bytes);
        try {
            new ObjectWalk(store, Lz4FrameCompression.INSTANCE, 1024).verify(KEY, bytes.length, block -> {});
        } catch (RuntimeException e) {
            return StoreFailures.root(e) instanceof RemoteReadException told ? told.kind() : fail("not told", e);
        }
        return fail("nothing was noticed");
    }
}
