package io.varve.tiering.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class RangeTargetTest {

    private final ByteBuffer first = ByteBuffer.allocate(3);
    private final ByteBuffer second = ByteBuffer.allocateDirect(4);
    private final RangeTarget target = new RangeTarget(List.of(first, second));

    private String content() {
        ByteBuffer all = ByteBuffer.allocate(7);
        all.put(first.duplicate()).put(second.duplicate()).flip();
        return StandardCharsets.US_ASCII.decode(all).toString();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void whatComesInPiecesFillsThePiecesThatThereAre() {
        assertThat(target.length()).isEqualTo(7);
        RangeTarget.Attempt attempt = target.begin();
        for (String some : List.of("a", "bcde", "", "fg")) {
            attempt.put(bytes(some));
        }
        assertThat(attempt.room()).isZero();
        assertThat(content()).isEqualTo("abcdefg");
        assertThat(first.position()).isZero();
    }

    @Test
    void onlyTheNewestTryWrites() {
        RangeTarget.Attempt givenUp = target.begin();
        givenUp.put(bytes("xx"));
        RangeTarget.Attempt newest = target.begin();
        newest.put(bytes("abcd"));
        ByteBuffer late = bytes("yyyyy");
        givenUp.put(late);
        assertThat(late.hasRemaining()).as("taken, and dropped").isFalse();
        newest.put(bytes("efg"));
        assertThat(content()).isEqualTo("abcdefg");
    }

    @Test
    void nobodyWritesAfterTheClose() {
        RangeTarget.Attempt attempt = target.begin();
        attempt.put(bytes("abcdefg"));
        target.close();
        target.begin();
        target.close();
        attempt.put(ByteBuffer.allocate(0));
        RangeTarget.Attempt late = target.begin();
        target.close();
        late.put(bytes("zzz"));
        assertThat(content()).isEqualTo("abcdefg");
    }
}
