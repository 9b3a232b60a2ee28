package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;

/**
 * A frame, in either direction, after the hellos. Big-endian.
 *
 * <pre>
 *  0        4      5      6        8             16        20
 *  +--------+------+------+--------+-------------+---------+------+
 *  | length | kind | 0    | code   | correlation | timeout | body |
 *  +--------+------+------+--------+-------------+---------+------+
 * </pre>
 *
 * {@code length} counts what follows it. {@code code} is the method of REQUEST and STREAM_OPEN and the status of FAIL and STREAM_END, else 0.
 * {@code correlation} is chosen by the client and returned by the server; 0 in ALIVE. {@code timeout} is the caller's, in milliseconds, in
 * REQUEST; else 0. The body of FAIL, STREAM_END and CLOSING is a line of UTF-8 text.
 *
 * <p>Versions: a receiver ignores the byte at 5 and skips frames of a kind it does not know. Everything else is settled by the version that
 * the hellos agreed on.
 */
final class Frame {

    /** Client to server: a call. */
    static final int REQUEST = 1;

    /** Server to client: the call's reply. */
    static final int REPLY = 2;

    /** Server to client: the call failed. */
    static final int FAIL = 3;

    /** Client to server: a stream begins. */
    static final int STREAM_OPEN = 4;

    /** Either way: a message of a stream. */
    static final int STREAM_MESSAGE = 5;

    /** Either way: the stream is over. */
    static final int STREAM_END = 6;

    /** Either way: nothing else was sent for a while. Not answered: each side sends its own. */
    static final int ALIVE = 7;

    /** Server to client: it is about to stop; begin nothing new here. */
    static final int CLOSING = 8;

    /** Bytes before the body. */
    static final int HEADER_BYTES = 20;

    /** What {@code length} counts besides the body. */
    static final int HEADER_BYTES_COUNTED = HEADER_BYTES - Integer.BYTES;

    /** Parts up to this size are copied behind the header, which costs less than another buffer for the kernel to gather. */
    private static final int COPIED_PART_BYTES_MAX = 512;

    private Frame() {}

    /** Queues a frame on the channel, whose event loop this is, without flushing. Takes over one reference of each part. */
    static void write(Channel to, int kind, int code, long correlation, int timeoutMs, ByteBuf... parts) {
        int copiedParts = 0;
        int copiedBytes = 0;
        while (copiedParts < parts.length && parts[copiedParts].readableBytes() <= COPIED_PART_BYTES_MAX) {
            copiedBytes += parts[copiedParts++].readableBytes();
        }
        ByteBuf head = to.alloc().ioBuffer(HEADER_BYTES + copiedBytes);
        head.writeInt(HEADER_BYTES_COUNTED + bytesOf(parts))
                .writeByte(kind)
                .writeByte(0)
                .writeShort(code)
                .writeLong(correlation)
                .writeInt(timeoutMs);
        for (int i = 0; i < copiedParts; i++) {
            head.writeBytes(parts[i], parts[i].readerIndex(), parts[i].readableBytes());
            parts[i].release();
        }
        to.write(head, to.voidPromise());
        for (int i = copiedParts; i < parts.length; i++) {
            to.write(parts[i], to.voidPromise());
        }
    }

    /** The bytes of all parts. */
    static int bytesOf(ByteBuf... parts) {
        int bytes = 0;
        for (ByteBuf part : parts) {
            bytes = Math.addExact(bytes, part.readableBytes());
        }
        return bytes;
    }

    /** Gives back the references of parts that are not sent. */
    static void releaseAll(ByteBuf... parts) {
        for (ByteBuf part : parts) {
            part.release();
        }
    }
}
