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

    /** A read that waits in a queue for longer than its caller did begins when the memory is somebody else's. */
    @Test
    void nobodyWritesAfterTheClose() {
        RangeTarget.Attempt attempt = target.begin();
        attempt.put(bytes("abcd"));
        target.close();
        for (RangeTarget.Attempt late : List.of(attempt, target.begin())) {
            ByteBuffer rest = bytes("zzz");
            late.put(rest);
            assertThat(rest.hasRemaining()).as("taken, and dropped").isFalse();
        }
        assertThat(content()).isEqualTo("abcd\0\0\0");
    }
}
