package io.varve.protocol.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.varve.protocol.storage.AppendFrames;
import io.varve.protocol.storage.StorageCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Bytes of any kind at the decoders: nothing but the documented exceptions, no frame that was not sent, no leak, no allocation by a claimed length. */
class WireFuzz {

    private static final int FRAME_BYTES_MAX = 4096;
    private static final int ROUNDS = 20_000;

    @Test
    void framesComeOutAsTheyWentInHoweverTheyAreCut() {
        for (long seed = 1; seed <= 300; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            Sink sink = new Sink();
            EmbeddedChannel channel = new EmbeddedChannel(sink);
            ByteBuf wire = Unpooled.buffer();
            List<String> sent = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                byte[] body = new byte[random.nextInt(300)];
                random.nextBytes(body);
                int kind = random.nextInt(256);
                int code = random.nextInt(65536);
                long correlation = random.nextLong();
                int timeout = random.nextInt();
                wire.writeInt(Frame.HEADER_BYTES_COUNTED + body.length)
                        .writeByte(kind)
                        .writeByte(random.nextInt())
                        .writeShort(code)
                        .writeLong(correlation)
                        .writeInt(timeout)
                        .writeBytes(body);
                sent.add(Sink.line(kind, code, correlation, timeout, Unpooled.wrappedBuffer(body)));
            }
            while (wire.isReadable()) {
                channel.writeInbound(wire.readBytes(1 + random.nextInt(wire.readableBytes())));
            }
            assertThat(sink.got).as("seed " + seed).isEqualTo(sent);
            assertThat(sink.garbage).isEmpty();
            sink.kept.forEach(ByteBuf::release);
            channel.finishAndReleaseAll();
            assertThat(sink.kept).allSatisfy(body -> assertThat(body.refCnt()).isZero());
        }
    }

    @Test
    void noiseIsGarbageOrWaitsButNeverAnException() {
        for (long seed = 1; seed <= ROUNDS / 10; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            Sink sink = new Sink();
            EmbeddedChannel channel = new EmbeddedChannel(sink);
            byte[] noise = new byte[random.nextInt(200)];
            random.nextBytes(noise);
            if (random.nextBoolean() && noise.length > 3) {
                noise[0] = noise[1] = 0;
            }
            channel.writeInbound(Unpooled.wrappedBuffer(noise));
            channel.checkException();
            assertThat(sink.got.size()).isLessThanOrEqualTo(noise.length / Frame.HEADER_BYTES);
            sink.kept.forEach(ByteBuf::release);
            channel.finishAndReleaseAll();
        }
    }

    @Test
    void hellosOfAnyBytesAreReadOrCutShort() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < ROUNDS; i++) {
            byte[] noise = new byte[random.nextInt(80)];
            random.nextBytes(noise);
            allowOnly(() -> Hello.Offer.read(Unpooled.wrappedBuffer(noise)), List.of(IndexOutOfBoundsException.class));
            allowOnly(() -> Hello.Answer.read(Unpooled.wrappedBuffer(noise)), List.of(IndexOutOfBoundsException.class));
        }
    }

    @Test
    void hellosComeBackAsWrittenAndLaterFieldsAreIgnored() {
        RpcIdentity self = new RpcIdentity(RpcRole.BROKER, 5, -9, "clüster");
        ByteBuf wire = Unpooled.buffer();
        new Hello.Offer(1, 7, self, RpcRole.BOOKIE, 3).writeTo(wire);
        wire.writeLong(99);
        wire.skipBytes(Hello.PREFIX_BYTES);
        assertThat(Hello.Offer.read(wire)).isEqualTo(new Hello.Offer(1, 7, self, RpcRole.BOOKIE, 3));
        ByteBuf answer = Unpooled.buffer();
        new Hello.Answer(3, 1, self, "no").writeTo(answer);
        answer.skipBytes(Hello.PREFIX_BYTES);
        assertThat(Hello.Answer.read(answer)).isEqualTo(new Hello.Answer(3, 1, self, "no"));
    }

    @Test
    void storageMessagesOfAnyBytesAreReadOrRefused() {
        SplittableRandom random = new SplittableRandom(2);
        for (int i = 0; i < ROUNDS; i++) {
            byte[] noise = new byte[random.nextInt(120)];
            random.nextBytes(noise);
            if (i % 3 == 0 && noise.length > 3) {
                noise[0] = noise[1] = noise[2] = 0;
            }
            allowStorage(() -> StorageCodec.readFences(Unpooled.wrappedBuffer(noise)));
            allowStorage(() -> StorageCodec.readReplicas(Unpooled.wrappedBuffer(noise)));
            allowStorage(() -> StorageCodec.readRead(Unpooled.wrappedBuffer(noise)));
            allowStorage(() -> AppendFrames.readOpen(Unpooled.wrappedBuffer(noise)));
            ByteBuf append = Unpooled.wrappedBuffer(noise);
            if (AppendFrames.isWholeAppend(append)) {
                assertThat(AppendFrames.payload(append).readableBytes())
                        .isEqualTo(noise.length - AppendFrames.APPEND_HEAD_BYTES);
            }
        }
    }

    private static void allowStorage(Runnable read) {
        allowOnly(read, List.of(IndexOutOfBoundsException.class, IllegalArgumentException.class));
    }

    private static void allowOnly(Runnable read, List<Class<? extends RuntimeException>> allowed) {
        try {
            read.run();
        } catch (RuntimeException e) {
            assertThat(allowed).anyMatch(type -> type.isInstance(e));
        }
    }

    private static final class Sink extends FrameHandler {
        final List<String> got = new ArrayList<>();
        final List<String> garbage = new ArrayList<>();
        final List<ByteBuf> kept = new ArrayList<>();

        Sink() {
            super(FRAME_BYTES_MAX);
        }

        @Override
        void onFrame(int kind, int code, long correlation, int timeoutMs, ByteBuf body) {
            got.add(line(kind, code, correlation, timeoutMs, body));
            kept.add(body.retain());
        }

        @Override
        void onGarbage(String what) {
            garbage.add(what);
        }

        static String line(int kind, int code, long correlation, int timeoutMs, ByteBuf body) {
            return kind + " " + code + " " + correlation + " " + timeoutMs + " " + body.hashCode();
        }
    }
}
