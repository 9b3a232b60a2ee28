package io.varve.tiering.compress;

import io.varve.tiering.core.BlockCompression;
import io.varve.tiering.core.BlockIndex;
import io.varve.tiering.core.ObjectFormatException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4FrameInputStream;
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

    private static final byte BLOCKS_OF_1_MIB = 0x60;
    private static final int BLOCK_BYTES = 1 << 20;

    /** Safe for any thread. */
    public static final BlockCompression INSTANCE = new Lz4FrameCompression();

    private final LZ4Factory lz4 = LZ4Factory.fastestInstance();
    private final XXHashFactory hashes = XXHashFactory.fastestInstance();

    private Lz4FrameCompression() {}

    @Override
    public int codec() {
        return BlockIndex.CODEC_LZ4_FRAME;
    }

    /** From one memory into the other, without any between. */
    @Override
    public boolean compress(ByteBuffer raw, ByteBuffer into) {
        ByteBuffer frame = into.slice().order(ByteOrder.LITTLE_ENDIAN);
        if (frame.remaining() < HEADER_BYTES + Integer.BYTES) {
            return false;
        }
        frame.putInt(MAGIC).put(PLAIN_FLAGS).put(BLOCKS_OF_1_MIB);
        frame.put((byte) (hashes.hash32().hash(frame, FLAGS_AT, 2, 0) >> Byte.SIZE));
        for (int at = raw.position(); at < raw.limit(); at += BLOCK_BYTES) {
            if (!pack(raw, at, Math.min(BLOCK_BYTES, raw.limit() - at), frame)) {
                return false;
            }
        }
        frame.putInt(END_MARK);
        into.position(into.position() + frame.position());
        return true;
    }

    /** Leaves room for the end mark. */
    private boolean pack(ByteBuffer raw, int at, int bytes, ByteBuffer frame) {
        int room = frame.remaining() - 2 * Integer.BYTES;
        int to = frame.position() + Integer.BYTES;
        int packed = room <= 0 ? 0 : packed(raw, at, bytes, frame, to, Math.min(room, bytes - 1));
        if (packed > 0) {
            frame.putInt(packed).position(to + packed);
            return true;
        }
        if (bytes > room) {
            return false;
        }
        frame.putInt(bytes | STORED_BIT).put(raw.slice(at, bytes));
        return true;
    }

    /** @return 0 if it takes more than {@code bytesMax} */
    private int packed(ByteBuffer raw, int at, int bytes, ByteBuffer frame, int to, int bytesMax) {
        try {
            return lz4.fastCompressor().compress(raw, at, bytes, frame, to, bytesMax);
        } catch (LZ4Exception tooMuch) {
            return 0;
        }
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
}
