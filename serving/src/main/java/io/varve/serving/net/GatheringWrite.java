package io.varve.serving.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.varve.serving.request.Answer;

/**
 * Writes a frame that consists of several buffers as these buffers, which the kernel gathers. A composite one Netty's socket channels copy first: into an
 * array of its whole size, and from there into memory of their own.
 */
final class GatheringWrite {

    private GatheringWrite() {}

    /**
     * Queues the frame without flushing, and takes over its reference.
     *
     * @param idle of the handler next to the socket, which takes note of when something was sent: it is told of each frame's end and not of each
     *     part, of which there may be thousands
     * @param whenGone run when all of it was sent, or never will be
     */
    static void write(ChannelHandlerContext idle, ByteBuf frame, Runnable whenGone) {
        Channel channel = idle.channel();
        if (!(frame instanceof CompositeByteBuf composite) || composite.numComponents() < 2) {
            writeWhole(channel, frame, whenGone);
            return;
        }
        int last = composite.numComponents() - 1;
        for (int i = 0; i < last; i++) {
            idle.write(composite.componentSlice(i).retain(), channel.voidPromise());
        }
        ByteBuf end = composite.componentSlice(last).retain();
        composite.release();
        writeWhole(channel, end, whenGone);
    }

    private static void writeWhole(Channel channel, ByteBuf buffer, Runnable whenGone) {
        if (whenGone == Answer.NOTHING) {
            channel.write(buffer, channel.voidPromise());
        } else {
            channel.write(buffer).addListener(gone -> whenGone.run());
        }
    }
}
