package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;

/**
 * Cuts the stream into {@linkplain Frame frames} and gives each to the subclass. A body is a view of the receive buffer and is never copied;
 * nothing is allocated for a length before its bytes have come.
 */
abstract class FrameHandler extends ByteToMessageDecoder {

    private final int frameBytesMax;

    FrameHandler(int frameBytesMax) {
        this.frameBytesMax = frameBytesMax;
    }

    /** A whole frame. {@code body} is valid during the call: who keeps it retains it. */
    abstract void onFrame(int kind, int code, long correlation, int timeoutMs, ByteBuf body);

    /** What came can't be a frame: the connection is of no use any more. */
    abstract void onGarbage(String what);

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
