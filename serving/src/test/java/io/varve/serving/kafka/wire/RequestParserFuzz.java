package io.varve.serving.kafka.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.serving.request.cluster.SupportedApis;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.requests.RequestHeader;
import org.junit.jupiter.api.Test;

/** Whatever bytes come: a request or a {@link MalformedRequestException}, never anything else, and never more memory than the frame warrants. */
final class RequestParserFuzz {

    private static final int ROUNDS = 100_000;

    @Test
    void randomBytesAreARequestOrMalformed() {
        SplittableRandom random = new SplittableRandom(21);
        for (int i = 0; i < ROUNDS; i++) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            if (bytes.length > 3) {
                // Mostly keys and versions that there are.
                bytes[0] = 0;
                bytes[1] = (byte) random.nextInt(96);
                bytes[2] = 0;
                bytes[3] = (byte) random.nextInt(19);
            }
            parse(bytes);
        }
    }

    @Test
    void everyRequestWithABitTurnedOrAnEndCutOffIsARequestOrMalformed() {
        SplittableRandom random = new SplittableRandom(22);
        for (byte[] whole : defaultRequests()) {
            for (int cut = 0; cut < whole.length; cut++) {
                byte[] part = java.util.Arrays.copyOf(whole, cut);
                parse(part);
            }
            for (int i = 0; i < 50; i++) {
                byte[] turned = whole.clone();
                turned[random.nextInt(turned.length)] ^= (byte) (1 << random.nextInt(8));
                parse(turned);
            }
        }
    }

    @Test
    void aLengthThatTheFrameDoesNotHaveIsRefusedBeforeItIsAllocated() {
        ByteBuf frame = Unpooled.buffer();
        frame.writeShort(ApiKeys.SASL_AUTHENTICATE.id).writeShort(0).writeInt(1).writeShort(-1);
        frame.writeInt(Integer.MAX_VALUE);
        assertThat(isMalformed(frame)).isTrue();
    }

    private static List<byte[]> defaultRequests() {
        List<byte[]> requests = new ArrayList<>();
        SupportedApis.served().forEach((api, range) -> {
            for (short version = range.least(); version <= range.most(); version++) {
                RequestHeader header = new RequestHeader(api, version, "fuzz", 5);
                ApiMessage body = ApiMessageType.fromApiKey(api.id).newRequest();
                ObjectSerializationCache cache = new ObjectSerializationCache();
                int size = header.data().size(cache, header.headerVersion()) + body.size(cache, version);
                ByteBufferAccessor to = new ByteBufferAccessor(ByteBuffer.allocate(size));
                header.data().write(to, cache, header.headerVersion());
                body.write(to, cache, version);
                requests.add(to.buffer().array());
            }
        });
        return requests;
    }

    private static void parse(byte[] bytes) {
        isMalformed(Unpooled.wrappedBuffer(bytes));
    }

    private static boolean isMalformed(ByteBuf frame) {
        try {
            RequestParser.parse(frame);
            return false;
        } catch (MalformedRequestException expected) {
            return true;
        } catch (Throwable other) {
            return fail("neither a request nor malformed", other);
        }
    }
}
