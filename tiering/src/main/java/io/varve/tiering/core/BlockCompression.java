package io.varve.tiering.core;

import java.nio.ByteBuffer;
import java.util.Optional;

/** Makes blocks smaller. A port, so that the formats don't name a library. Safe for any thread. */
public interface BlockCompression {

    /** Keeps every block as it is. */
    BlockCompression NONE = new BlockCompression() {
        @Override
        public int codec() {
            return BlockIndex.CODEC_RAW;
        }

        @Override
        public Optional<ByteBuffer> compress(ByteBuffer raw, int bytesMax) {
            return Optional.empty();
        }

        @Override
        public void decompress(ByteBuffer stored, ByteBuffer into) throws ObjectFormatException {
            throw ObjectFormatException.unsupported("a compressed block");
        }
    };

    /** The number that stands for it in an index entry. */
    int codec();

    /**
     * The block in its smaller form, or nothing if that would take more than {@code bytesMax}.
     *
     * @param raw from its position to its limit; neither moves
     */
    Optional<ByteBuffer> compress(ByteBuffer raw, int bytesMax);

    /**
     * Fills {@code into} to its limit.
     *
     * @throws ObjectFormatException if {@code stored} is damaged or holds another number of bytes
     */
    void decompress(ByteBuffer stored, ByteBuffer into) throws ObjectFormatException;
}
