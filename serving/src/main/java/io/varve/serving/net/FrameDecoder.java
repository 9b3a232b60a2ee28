package io.varve.serving.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Cuts the byte stream into request frames.
 *
 * <pre>
 *  0        4
 *  +--------+------------------+
 *  | length | request (length) |
 *  +--------+------------------+
 * </pre>
 *
 * The length is checked before a byte is allocated for it, and then the memory is asked for: while there is none, the connection isn't read
 * and what was already read waits here. Each frame is a buffer of its own (record batches of it are kept for a while and must not hold a
 * larger buffer alive), except when what was read is just about that frame: then it is handed on as it is.
 *
 * <p>Bytes behind the socket's buffer: at most one read buffer plus the frame under way.
 */
final class FrameDecoder extends ChannelInboundHandlerAdapter {

    private final int frameBytesMax;
    private final FrameSink sink;

    private ByteBuf frame;
    private ByteBuf unread;
    private int lengthBytes;
    private int length;
    private boolean bad;

    /** @param frameBytesMax {@code socket.request.max.bytes} */
    FrameDecoder(int frameBytesMax, FrameSink sink) {
        this.frameBytesMax = frameBytesMax;
        this.sink = sink;
    }

    /** Where frames go. All calls on the connection's event loop. */
    interface FrameSink {
        /**
         * Asks for memory for a frame.
         *
         * @return false to have decoding stop until {@link FrameDecoder#resume}
         */
        boolean onFrameStart(int bytes);

        /** A whole frame, without its length. The receiver releases it. */
        void onFrame(ByteBuf frame);

        /** The connection ended before the frame was whole: its memory is free again. */
        void onFrameDropped(int bytes);

        /** Something that can't be a request: nothing more comes. */
        void onBadFrame(int claimedBytes);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf read = (ByteBuf) message;
        if (bad) {
            read.release();
            return;
        }
        if (unread != null) {
            unread = joined(ctx, unread, read);
        } else {
            unread = read;
        }
        decode(ctx);
    }

    /** Whether a frame has begun and is not whole. */
    boolean isWithinFrame() {
        return frame != null;
    }

    /** Goes on with what was read, after memory was refused. */
    void resume(ChannelHandlerContext ctx) {
        if (unread != null) {
            decode(ctx);
        }
    }

    private void decode(ChannelHandlerContext ctx) {
        while (unread != null && unread.isReadable()) {
            if (frame == null && !start(ctx)) {
                return;
            }
            if (frame != null && fill()) {
                ByteBuf whole = frame;
                frame = null;
                sink.onFrame(whole);
            }
        }
        dropUnread();
    }

    /** Reads the length and begins the frame. Answers false if decoding has to stop here. */
    private boolean start(ChannelHandlerContext ctx) {
        while (lengthBytes < Integer.BYTES && unread.isReadable()) {
            length = length << Byte.SIZE | unread.readUnsignedByte();
            lengthBytes++;
        }
        if (lengthBytes < Integer.BYTES) {
            return true;
        }
        if (length <= 0 || length > frameBytesMax) {
            bad = true;
            dropUnread();
            sink.onBadFrame(length);
            return false;
        }
        if (!sink.onFrameStart(length)) {
            return false;
        }
        int bytes = length;
        length = 0;
        lengthBytes = 0;
        if (unread.readableBytes() >= bytes && bytes >= unread.capacity() / 2) {
            sink.onFrame(unread.readRetainedSlice(bytes));
        } else {
            frame = ctx.alloc().buffer(bytes, bytes);
        }
        return unread != null;
    }

    private boolean fill() {
        frame.writeBytes(unread, Math.min(frame.writableBytes(), unread.readableBytes()));
        return !frame.isWritable();
    }

    private void dropUnread() {
        if (unread != null) {
            unread.release();
            unread = null;
        }
    }

    private static ByteBuf joined(ChannelHandlerContext ctx, ByteBuf first, ByteBuf second) {
        ByteBuf both = ctx.alloc().buffer(first.readableBytes() + second.readableBytes());
        both.writeBytes(first).writeBytes(second);
        first.release();
        second.release();
        return both;
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        dropUnread();
        if (frame != null) {
            int bytes = frame.capacity();
            frame.release();
            frame = null;
            sink.onFrameDropped(bytes);
        }
    }
}
