package io.varve.tiering.core;

import java.nio.ByteBuffer;

/** Makes blocks smaller. A port, so that the formats don't name a library. Safe for any thread. */
public interface BlockCompression {

    /** Keeps every block as it is. */
    BlockCompression NONE = new BlockCompression() {
        @Override
        public int codec() {
            return BlockIndex.CODEC_RAW;
        }

        @Override
        public boolean compress(ByteBuffer raw, ByteBuffer into) {
            return false;
        }

        @Override
        public void decompress(ByteBuffer stored, ByteBuffer into) throws ObjectFormatException {
            throw ObjectFormatException.unsupported("a compressed block");
        }
    };

    /** The number that stands for it in an index entry. */
    int codec();

    /**
     * Writes the block in its smaller form.
     *
     * @param raw from its position to its limit; neither moves
     * @param into from its position on, which moves behind what was written
     * @return whether that fits before {@code into}'s limit; if not, what lies there is of no use, and the position stays
     */
    boolean compress(ByteBuffer raw, ByteBuffer into);

    /**
     * Fills {@code into} to its limit.
     *
     * @throws ObjectFormatException if {@code stored} is damaged or holds another number of bytes
     */
    void decompress(ByteBuffer stored, ByteBuffer into) throws ObjectFormatException;
}
