package io.varve.serving.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.timeout.IdleStateHandler;
import io.varve.serving.request.Answer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is sent of a fetch: the batches themselves, where they lie, and no copy of them. */
class GatheringWriteTest {

    private final EmbeddedChannel channel = new EmbeddedChannel(new IdleStateHandler(0, 0, 1));
    private final ChannelHandlerContext idle = channel.pipeline().firstContext();

    private static ByteBuf direct(String text) {
        return ByteBufAllocator.DEFAULT.directBuffer().writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void eachPartOfACompositeGoesOutAsTheBufferThatItIs() {
        ByteBuf batch = direct("[batch]");
        CompositeByteBuf frame = ByteBufAllocator.DEFAULT
                .compositeBuffer()
                .addComponent(true, direct("head"))
                .addComponent(true, batch.retainedSlice(1, 5))
                .addComponent(true, direct("tail"));
        List<String> gone = new ArrayList<>();

        GatheringWrite.write(idle, frame, () -> gone.add("gone"));
        channel.flush();

        List<String> sent = new ArrayList<>();
        for (ByteBuf part; (part = channel.readOutbound()) != null; ) {
            assertThat(part).isNotInstanceOf(CompositeByteBuf.class);
            assertThat(part.hasMemoryAddress())
                    .as("the kernel can take it from where it is")
                    .isTrue();
            sent.add(part.toString(StandardCharsets.UTF_8));
            part.release();
        }
        assertThat(sent).containsExactly("head", "batch", "tail");
        assertThat(gone).containsExactly("gone");
        assertThat(frame.refCnt()).isZero();
        assertThat(batch.refCnt()).isEqualTo(1);
        batch.release();
    }

    @Test
    void whatCanNoLongerBeSentIsReleasedAndSaidToBeGone() {
        ByteBuf batch = direct("batch");
        CompositeByteBuf frame = ByteBufAllocator.DEFAULT
                .compositeBuffer()
                .addComponent(true, direct("head"))
                .addComponent(true, batch.retain());
        List<String> gone = new ArrayList<>();
        channel.close();

        GatheringWrite.write(idle, frame, () -> gone.add("gone"));

        assertThat(gone).containsExactly("gone");
        assertThat(batch.refCnt()).isEqualTo(1);
        batch.release();
    }

    @Test
    void aFrameOfOnePartIsWrittenAsItIs() {
        ByteBuf frame = direct("frame");
        GatheringWrite.write(idle, frame, Answer.NOTHING);
        channel.flush();
        assertThat(channel.<ByteBuf>readOutbound()).isSameAs(frame);
        frame.release();
    }
}
