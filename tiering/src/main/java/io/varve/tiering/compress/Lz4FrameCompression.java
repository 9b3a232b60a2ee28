package io.varve.tiering.compress;

import io.varve.tiering.core.BlockCompression;
import io.varve.tiering.core.BlockIndex;
import io.varve.tiering.core.ObjectFormatException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Optional;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4FrameInputStream;
import net.jpountz.lz4.LZ4FrameOutputStream;
import net.jpountz.xxhash.XXHashFactory;

/**
 * Blocks as LZ4 frames, which any other tool reads too. The frame's own content checksum is left out: the block's CRC32C covers what is
 * stored, and every entry's covers what comes out of it.
 */
public final class Lz4FrameCompression implements BlockCompression {

    /** Safe for any thread. */
    public static final BlockCompression INSTANCE = new Lz4FrameCompression();

    private final LZ4Factory lz4 = LZ4Factory.fastestInstance();
    private final XXHashFactory hashes = XXHashFactory.fastestInstance();

    private Lz4FrameCompression() {}

    @Override
    public int codec() {
        return BlockIndex.CODEC_LZ4_FRAME;
    }

    @Override
    public Optional<ByteBuffer> compress(ByteBuffer raw, int bytesMax) {
        Bounded out = new Bounded(bytesMax);
        try (LZ4FrameOutputStream frame = new LZ4FrameOutputStream(
                out,
                LZ4FrameOutputStream.BLOCKSIZE.SIZE_1MB,
                -1L,
                lz4.fastCompressor(),
                hashes.hash32(),
                LZ4FrameOutputStream.FLG.Bits.BLOCK_INDEPENDENCE)) {
            byte[] bytes = raw.array();
            frame.write(bytes, raw.arrayOffset() + raw.position(), raw.remaining());
        } catch (IOException full) {
            return Optional.empty();
        }
        return out.full ? Optional.empty() : Optional.of(ByteBuffer.wrap(out.bytes, 0, out.length));
    }

    @Override
    public void decompress(ByteBuffer stored, ByteBuffer into) throws ObjectFormatException {
        int wanted = into.remaining();
        try (InputStream frame = new LZ4FrameInputStream(
                new ByteArrayInputStream(stored.array(), stored.arrayOffset() + stored.position(), stored.remaining()),
                lz4.safeDecompressor(),
                hashes.hash32())) {
            int got = frame.readNBytes(into.array(), into.arrayOffset() + into.position(), wanted);
            if (got != wanted || frame.read() != -1) {
                throw ObjectFormatException.corrupt("an LZ4 frame doesn't hold " + wanted + " bytes");
            }
            into.position(into.position() + wanted);
        } catch (IOException | RuntimeException e) {
            throw ObjectFormatException.corrupt("an LZ4 frame is damaged: " + e.getMessage());
        }
    }

    /** Takes bytes up to a bound; whatever comes after makes it full. */
    private static final class Bounded extends OutputStream {

        private final byte[] bytes;
        private int length;
        private boolean full;

        Bounded(int bytesMax) {
            bytes = new byte[bytesMax];
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] from, int at, int count) throws IOException {
            if (full || count > bytes.length - length) {
                full = true;
                throw new IOException("no saving");
            }
            System.arraycopy(from, at, bytes, length, count);
            length += count;
        }
    }
}
