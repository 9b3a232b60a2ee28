package io.varve.tiering.compress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.tiering.core.ObjectFormatException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import net.jpountz.lz4.LZ4FrameInputStream;
import net.jpountz.lz4.LZ4FrameOutputStream;
import net.jpountz.lz4.LZ4FrameOutputStream.BLOCKSIZE;
import net.jpountz.lz4.LZ4FrameOutputStream.FLG;
import org.junit.jupiter.api.Test;

class Lz4FrameCompressionTest {

    /** Longer than a block of a frame, and half of it nothing compresses. */
    private final byte[] raw = new byte[2_500_000];

    {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < raw.length; i++) {
            raw[i] = (byte) (i / 500_000 % 2 == 0 ? i % 7 : random.nextInt());
        }
    }

    private ByteBuffer unpacked(ByteBuffer stored, int bytes) throws ObjectFormatException {
        ByteBuffer direct = ByteBuffer.allocateDirect(stored.remaining());
        direct.put(stored.duplicate()).flip();
        ByteBuffer into = ByteBuffer.allocateDirect(bytes);
        Lz4FrameCompression.INSTANCE.decompress(direct, into);
        return into.flip();
    }

    @Test
    void whatWasPackedIsUnpackedFromOneMemoryIntoAnother() throws Exception {
        ByteBuffer stored = packed(ByteBuffer.wrap(raw));
        assertThat(unpacked(stored, raw.length)).isEqualTo(ByteBuffer.wrap(raw));
    }

    @Test
    void whatWasPackedIsWhatTheLibraryUnpacksToo() throws Exception {
        ByteBuffer outside = ByteBuffer.allocateDirect(raw.length).put(raw).flip();
        ByteBuffer stored = packed(outside);
        assertThat(stored).isEqualTo(packed(ByteBuffer.wrap(raw)));
        byte[] frame = new byte[stored.remaining()];
        stored.get(frame);
        try (LZ4FrameInputStream in = new LZ4FrameInputStream(new ByteArrayInputStream(frame))) {
            assertThat(in.readAllBytes()).isEqualTo(raw);
        }
    }

    /** To a byte: what doesn't fit leaves the position where it was. */
    @Test
    void aFrameEndsBeforeTheLimitOrIsNone() {
        int bytes = packed(ByteBuffer.wrap(raw)).remaining();
        for (int room : new int[] {0, 6, 7, 10, 11, bytes / 2, bytes - 1}) {
            ByteBuffer into = ByteBuffer.allocateDirect(5 + room).position(5);
            assertThat(Lz4FrameCompression.INSTANCE.compress(ByteBuffer.wrap(raw), into))
                    .as("room for " + room)
                    .isFalse();
            assertThat(into.position()).isEqualTo(5);
        }
        ByteBuffer into = ByteBuffer.allocateDirect(5 + bytes).position(5);
        assertThat(Lz4FrameCompression.INSTANCE.compress(ByteBuffer.wrap(raw), into))
                .isTrue();
        assertThat(into.hasRemaining()).isFalse();
    }

    @Test
    void whatDoesNotGetSmallerIsStoredAsItIs() throws Exception {
        byte[] noise = new byte[2 << 20];
        new SplittableRandom(2).nextBytes(noise);
        ByteBuffer into = ByteBuffer.allocateDirect(noise.length + 7 + 3 * 4);
        assertThat(Lz4FrameCompression.INSTANCE.compress(ByteBuffer.wrap(noise), into))
                .isTrue();
        assertThat(into.hasRemaining()).isFalse();
        assertThat(unpacked(into.flip(), noise.length)).isEqualTo(ByteBuffer.wrap(noise));
    }

    private static ByteBuffer packed(ByteBuffer from) {
        ByteBuffer into = ByteBuffer.allocateDirect(from.remaining());
        assertThat(Lz4FrameCompression.INSTANCE.compress(from, into)).isTrue();
        return into.flip();
    }

    @Test
    void framesWithMoreInTheirHeadersAreReadToo() throws Exception {
        for (FLG.Bits more :
                new FLG.Bits[] {FLG.Bits.CONTENT_CHECKSUM, FLG.Bits.BLOCK_CHECKSUM, FLG.Bits.CONTENT_SIZE}) {
            ByteArrayOutputStream frame = new ByteArrayOutputStream();
            write(frame, more);
            assertThat(unpacked(ByteBuffer.wrap(frame.toByteArray()), raw.length))
                    .isEqualTo(ByteBuffer.wrap(raw));
        }
    }

    private void write(ByteArrayOutputStream frame, FLG.Bits more) throws IOException {
        long size = more == FLG.Bits.CONTENT_SIZE ? raw.length : -1L;
        try (LZ4FrameOutputStream out =
                new LZ4FrameOutputStream(frame, BLOCKSIZE.SIZE_256KB, size, FLG.Bits.BLOCK_INDEPENDENCE, more)) {
            out.write(raw);
        }
    }

    @Test
    void whatIsDamagedCutOrOfAnotherLengthIsRefused() {
        ByteBuffer stored = packed(ByteBuffer.wrap(raw));
        for (int bytes : new int[] {raw.length - 1, raw.length + 1}) {
            assertThatThrownBy(() -> unpacked(stored, bytes)).isInstanceOf(ObjectFormatException.class);
        }
        for (int cut : new int[] {3, 7, 10, stored.remaining() - 4, stored.remaining() - 1}) {
            assertThatThrownBy(() -> unpacked(stored.slice(0, cut), raw.length))
                    .as("cut at " + cut)
                    .isInstanceOf(ObjectFormatException.class);
        }
        for (int at : new int[] {0, 4, 5, 6, 7}) {
            ByteBuffer damaged = ByteBuffer.allocate(stored.remaining());
            damaged.put(stored.duplicate()).flip();
            damaged.put(at, (byte) (damaged.get(at) ^ 0x55));
            assertThatThrownBy(() -> unpacked(damaged, raw.length))
                    .as("damaged at " + at)
                    .isInstanceOf(ObjectFormatException.class);
        }
    }
}
