package io.varve.tiering.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** A body is read as often as it has to be, without a copy, and not at all once its memory may hold something else. */
class UploadBodyTest {

    private static final int BYTES = 1_000_000;

    private final ByteBuffer memory = ByteBuffer.allocateDirect(BYTES + 20);
    private final ByteBuffer bytes;
    private final UploadBody body;

    UploadBodyTest() {
        byte[] random = new byte[memory.capacity()];
        new SplittableRandom(1).nextBytes(random);
        memory.put(random).position(10).limit(BYTES + 10);
        bytes = memory.slice();
        body = new UploadBody(memory);
    }

    @Test
    void allOfItEachTimeItIsRead() {
        assertThat(body.contentLength()).contains((long) BYTES);
        for (int time = 0; time < 2; time++) {
            Reader reader = new Reader(1);
            body.subscribe(reader);
            reader.subscription.request(1);
            assertThat(reader.ends).isEqualTo(1);
            assertThat(reader.failure).isNull();
            assertThat(reader.got.flip()).isEqualTo(bytes);
        }
        assertThat(memory.position()).isEqualTo(10);
    }

    @Test
    void noMoreThanWasAskedFor() {
        Reader reader = new Reader(0);
        body.subscribe(reader);
        assertThat(reader.pieces).isZero();
        reader.subscription.request(2);
        assertThat(reader.pieces).isEqualTo(2);
        reader.subscription.request(Long.MAX_VALUE);
        reader.subscription.request(Long.MAX_VALUE);
        assertThat(reader.ends).isEqualTo(1);
        assertThat(reader.got.flip()).isEqualTo(bytes);
    }

    @Test
    void nothingIsHandedOutWhenTheTryIsOver() {
        Reader begun = new Reader(0);
        body.subscribe(begun);
        begun.subscription.request(2);
        body.end();
        begun.subscription.request(1);
        begun.subscription.request(1);
        assertThat(begun.pieces).isEqualTo(2);
        assertThat(begun.failure).isInstanceOf(IllegalStateException.class);
        assertThat(begun.ends).isZero();
        Reader late = new Reader(0);
        body.subscribe(late);
        late.subscription.request(1);
        assertThat(late.pieces).isZero();
        assertThat(late.failure).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void whoCancelsHearsNothingMore() {
        Reader reader = new Reader(0);
        body.subscribe(reader);
        reader.subscription.request(1);
        reader.subscription.cancel();
        reader.subscription.request(100);
        assertThat(reader.pieces).isEqualTo(1);
        assertThat(reader.ends).isZero();
    }

    @Test
    void anEmptyOneEndsAtOnce() {
        Reader reader = new Reader(0);
        new UploadBody(ByteBuffer.allocate(0)).subscribe(reader);
        reader.subscription.request(1);
        assertThat(reader.pieces).isZero();
        assertThat(reader.ends).isEqualTo(1);
    }

    /** Asks for more while it takes. */
    private static final class Reader implements Subscriber<ByteBuffer> {

        private final int more;
        private final ByteBuffer got = ByteBuffer.allocate(BYTES);
        private Subscription subscription;
        private int pieces;
        private int ends;
        private Throwable failure;

        Reader(int more) {
            this.more = more;
        }

        @Override
        public void onSubscribe(Subscription to) {
            subscription = to;
        }

        @Override
        public void onNext(ByteBuffer piece) {
            assertThat(piece.isDirect()).isTrue();
            pieces++;
            got.put(piece);
            if (more > 0) {
                subscription.request(more);
            }
        }

        @Override
        public void onError(Throwable why) {
            failure = why;
        }

        @Override
        public void onComplete() {
            ends++;
        }
    }
}
