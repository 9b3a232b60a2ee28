package io.varve.bookie.net;

import io.varve.base.SegmentId;
import io.varve.protocol.storage.StorageMethods;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** Bytes of the internal wire, laid out by hand from docs/FORMATS.md, for a peer that behaves as no client of ours would. */
final class RawFrames {

    private static final int VRPC = 0x56525043;
    private static final int HELLO_BYTES = 24;
    private static final int READ_BYTES = 21;

    private RawFrames() {}

    /** A hello of a broker to a bookie. */
    static byte[] hello(int bookie) {
        return ByteBuffer.allocate(6 + HELLO_BYTES)
                .putInt(VRPC)
                .putShort((short) HELLO_BYTES)
                .putShort((short) 1)
                .putShort((short) 1)
                .put((byte) 3)
                .putInt(1)
                .putLong(1)
                .put((byte) 2)
                .putInt(bookie)
                .putShort((short) 0)
                .array();
    }

    /** A request to read. */
    static byte[] read(long correlation, SegmentId segment, long fromOffset, int bytesMax) {
        return ByteBuffer.allocate(20 + READ_BYTES)
                .putInt(16 + READ_BYTES)
                .put((byte) 1)
                .put((byte) 0)
                .putShort((short) StorageMethods.READ)
                .putLong(correlation)
                .putInt(30_000)
                .putLong(segment.value())
                .putLong(fromOffset)
                .putInt(bytesMax)
                .put((byte) 2)
                .array();
    }

    /** Reads the server's hello and then frames until so many replies have come. */
    static int countReplies(InputStream in, int wanted) throws IOException {
        DataInputStream from = new DataInputStream(in);
        if (from.readInt() != VRPC) {
            throw new IOException("no hello");
        }
        from.skipNBytes(from.readUnsignedShort());
        int replies = 0;
        while (replies < wanted) {
            int length = from.readInt();
            int kind = from.readUnsignedByte();
            from.skipNBytes(length - 1);
            if (kind == 2) {
                replies++;
            }
        }
        return replies;
    }
}
