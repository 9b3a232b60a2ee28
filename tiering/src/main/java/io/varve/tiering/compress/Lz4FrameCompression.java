package io.varve.tiering.compress;

import io.varve.tiering.core.BlockCompression;
import io.varve.tiering.core.BlockIndex;
import io.varve.tiering.core.ObjectFormatException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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

    private static final int MAGIC = 0x184D2204;
    private static final int FLAGS_AT = 4;
    private static final int HEADER_SUM_AT = 6;
    private static final int HEADER_BYTES = 7;
    private static final int END_MARK = 0;
    private static final int STORED_BIT = 0x80000000;

    /** Version 1, independent blocks. */
    private static final byte PLAIN_FLAGS = 0x60;

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

    /**
     * Frames as {@link #compress} makes them are unpacked block by block from one memory into the other; those that have more in their headers, by the
     * library's stream.
     */
    @Override
    public void decompress(ByteBuffer stored, ByteBuffer into) throws ObjectFormatException {
        ByteBuffer frame = stored.slice().order(ByteOrder.LITTLE_ENDIAN);
        try {
            if (!isPlain(frame)) {
                stream(frame, into);
                return;
            }
            frame.position(HEADER_BYTES);
            for (int word = frame.getInt(); word != END_MARK; word = frame.getInt()) {
                unpack(frame, word, into);
            }
            if (into.hasRemaining() || frame.hasRemaining()) {
                throw ObjectFormatException.corrupt("an LZ4 frame doesn't hold what it should");
            }
        } catch (RuntimeException e) {
            throw ObjectFormatException.corrupt("an LZ4 frame is damaged: " + e.getMessage());
        }
    }

    /** Whether a frame has independent blocks and no checksums, lengths or dictionaries. */
    private boolean isPlain(ByteBuffer frame) {
        return frame.remaining() >= HEADER_BYTES
                && frame.getInt(0) == MAGIC
                && frame.get(FLAGS_AT) == PLAIN_FLAGS
                && frame.get(HEADER_SUM_AT) == (byte) (hashes.hash32().hash(frame, FLAGS_AT, 2, 0) >> Byte.SIZE);
    }

    /** @param word the block's length, with a bit that says whether it is stored as it is */
    private void unpack(ByteBuffer frame, int word, ByteBuffer into) throws ObjectFormatException {
        int bytes = word & ~STORED_BIT;
        if (bytes > frame.remaining()) {
            throw ObjectFormatException.corrupt("an LZ4 frame ends within a block");
        }
        if (word != bytes) {
            into.put(frame.slice(frame.position(), bytes));
        } else {
            int out = lz4.safeDecompressor()
                    .decompress(frame, frame.position(), bytes, into, into.position(), into.remaining());
            into.position(into.position() + out);
        }
        frame.position(frame.position() + bytes);
    }

    private void stream(ByteBuffer frame, ByteBuffer into) throws ObjectFormatException {
        byte[] bytes = new byte[frame.remaining()];
        frame.get(bytes);
        byte[] unpacked = new byte[into.remaining()];
        decompress(bytes, unpacked);
        into.put(unpacked);
    }

    private void decompress(byte[] stored, byte[] into) throws ObjectFormatException {
        try (InputStream frame =
                new LZ4FrameInputStream(new ByteArrayInputStream(stored), lz4.safeDecompressor(), hashes.hash32())) {
            int got = frame.readNBytes(into, 0, into.length);
            if (got != into.length || frame.read() != -1) {
                throw ObjectFormatException.corrupt("an LZ4 frame doesn't hold " + into.length + " bytes");
            }
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
