package io.varve.protocol.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

/** When a connection is read, which is all that bounds what a peer can have us hold. */
class FrameHandlerTest {

    private final Frames frames = new Frames();
    private final ReadsAsked reads = new ReadsAsked();
    private final EmbeddedChannel channel = new EmbeddedChannel(reads, frames);

    @Test
    void nothingIsReadWhileReadingIsSwitchedOff() {
        channel.config().setAutoRead(false);
        reads.asked = 0;
        channel.writeInbound(frame(10), frame(20));
        assertThat(frames.heard).isEqualTo(2);
        assertThat(reads.asked).isZero();
        channel.config().setAutoRead(true);
        assertThat(reads.asked).isEqualTo(1);
        assertThat(channel.finish()).isFalse();
    }

    @Test
    void halfAFrameDoesNotAskForItsRestWhileReadingIsSwitchedOff() {
        channel.config().setAutoRead(false);
        reads.asked = 0;
        ByteBuf whole = frame(100);
        channel.writeInbound(whole.readRetainedSlice(50));
        assertThat(reads.asked).isZero();
        channel.writeInbound(whole);
        assertThat(frames.heard).isEqualTo(1);
        assertThat(channel.finish()).isFalse();
    }

    private static ByteBuf frame(int bodyBytes) {
        ByteBuf frame = Unpooled.buffer();
        frame.writeInt(Frame.HEADER_BYTES_COUNTED + bodyBytes);
        return frame.writeZero(Frame.HEADER_BYTES - Integer.BYTES + bodyBytes);
    }

    private static final class Frames extends FrameHandler {

        private int heard;

        Frames() {
            super(1024);
        }

        @Override
        void onFrame(int kind, int code, long correlation, int timeoutMs, ByteBuf body) {
            heard++;
        }

        @Override
        void onGarbage(String what) {
            throw new AssertionError(what);
        }
    }

    private static final class ReadsAsked extends ChannelOutboundHandlerAdapter {

        private int asked;

        @Override
        public void read(ChannelHandlerContext ctx) throws Exception {
            asked++;
            super.read(ctx);
        }
    }
}
