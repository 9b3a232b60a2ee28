package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;

/**
 * Cuts the stream into {@linkplain Frame frames} and gives each to the subclass. A body is a view of the receive buffer and is never copied;
 * nothing is allocated for a length before its bytes have come.
 */
abstract class FrameHandler extends ByteToMessageDecoder {

    /** Room for a frame up to this size is made at once when its header has come; for a longer one it grows with what comes. */
    private static final int ROOM_BYTES_MAX = 1024 * 1024;

    private final int frameBytesMax;

    FrameHandler(int frameBytesMax) {
        this.frameBytesMax = frameBytesMax;
        setCumulator(FrameHandler::cumulate);
    }

    /**
     * Adds what came to what was there. A buffer of which slices are kept is not written to any more, and a frame that spans several
     * reads is gathered in a buffer that has room for all of it, so that its bytes are copied once and not at each doubling.
     */
    private static ByteBuf cumulate(ByteBufAllocator alloc, ByteBuf there, ByteBuf came) {
        int bytesThere = there.readableBytes();
        if (bytesThere == 0) {
            there.release();
            return came;
        }
        int bytesCame = came.readableBytes();
        try {
            boolean fits = there.refCnt() == 1 && !there.isReadOnly() && bytesCame <= there.writableBytes();
            ByteBuf gathered = fits ? there : alloc.buffer(Math.max(bytesThere + bytesCame, room(there)));
            if (!fits) {
                gathered.writeBytes(there, there.readerIndex(), bytesThere);
                there.release();
            }
            return gathered.writeBytes(came, came.readerIndex(), bytesCame);
        } finally {
            came.release();
        }
    }

    private static int room(ByteBuf there) {
        if (there.readableBytes() < Integer.BYTES) {
            return 0;
        }
        int claimed = there.getInt(there.readerIndex());
        int frame = claimed < 0 || claimed > ROOM_BYTES_MAX ? 0 : claimed + Integer.BYTES;
        return Math.max(frame, Math.min(2 * there.readableBytes(), Integer.MAX_VALUE / 2));
    }

    /** A whole frame. {@code body} is valid during the call: who keeps it retains it. */
    abstract void onFrame(int kind, int code, long correlation, int timeoutMs, ByteBuf body);

    /** What came can't be a frame: the connection is of no use any more. */
    abstract void onGarbage(String what);

    /**
     * As above, but without its read: a decoder that handed nothing to the next handler asks for more even when reading is switched off, and this one never hands anything on. A side that
     * doesn't want to be sent more would go on reading for ever.
     */
    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
        discardSomeReadBytes();
        ctx.fireChannelReadComplete();
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        if (in.readableBytes() < Frame.HEADER_BYTES) {
            return;
        }
        int at = in.readerIndex();
        int counted = in.getInt(at);
        if (counted < Frame.HEADER_BYTES_COUNTED || counted > frameBytesMax) {
            in.skipBytes(in.readableBytes());
            onGarbage("a frame of " + Integer.toUnsignedString(counted) + " bytes; the largest is " + frameBytesMax);
            return;
        }
        if (in.readableBytes() - Integer.BYTES < counted) {
            return;
        }
        int kind = in.getUnsignedByte(at + 4);
        int code = in.getUnsignedShort(at + 6);
        long correlation = in.getLong(at + 8);
        int timeoutMs = in.getInt(at + 16);
        ByteBuf body = in.slice(at + Frame.HEADER_BYTES, counted - Frame.HEADER_BYTES_COUNTED);
        in.skipBytes(Integer.BYTES + counted);
        onFrame(kind, code, correlation, timeoutMs, body);
    }
}
