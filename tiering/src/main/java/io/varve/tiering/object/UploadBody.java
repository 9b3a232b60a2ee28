package io.varve.tiering.object;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import software.amazon.awssdk.core.async.AsyncRequestBody;

/**
 * The body of one try of a write: pieces of the caller's memory, without a copy, as often as the client wants to read it. When the try is over nothing more is
 * handed out, for the memory may hold something else by then; what the client was handed before goes with the connection, which it closes. Safe for any thread.
 */
final class UploadBody implements AsyncRequestBody {

    /**
     * A try that is given up has no more than a few of them in its hands; and where the endpoint isn't https the client copies each to sign what it sends: no copy is larger than half
     * of a collector's smallest region.
     */
    private static final int PIECE_BYTES = 128 * 1024;

    private final ByteBuffer bytes;
    private volatile boolean isOver;

    /** @param bytes from the position to the limit; neither moves. They stay as they are until {@link #end}. */
    UploadBody(ByteBuffer bytes) {
        this.bytes = bytes.asReadOnlyBuffer();
    }

    /** The try is over. */
    void end() {
        isOver = true;
    }

    @Override
    public Optional<Long> contentLength() {
        return Optional.of((long) bytes.remaining());
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        subscriber.onSubscribe(new Pieces(subscriber));
    }

    /** One reading from the first byte on. Whoever adds the first demand hands out for all: a subscriber may ask for more while it takes. */
    private final class Pieces implements Subscription {

        private final Subscriber<? super ByteBuffer> subscriber;
        private final AtomicLong demand = new AtomicLong();
        private int at = bytes.position();
        private volatile boolean isDone;

        Pieces(Subscriber<? super ByteBuffer> subscriber) {
            this.subscriber = subscriber;
        }

        @Override
        public void request(long pieces) {
            if (pieces <= 0) {
                fail(new IllegalArgumentException("a demand of " + pieces));
            } else if (demand.getAndAccumulate(pieces, Pieces::sum) == 0) {
                handOut();
            }
        }

        @Override
        public void cancel() {
            isDone = true;
        }

        private static long sum(long before, long more) {
            return before + more < 0 ? Long.MAX_VALUE : before + more;
        }

        private void handOut() {
            do {
                if (isDone) {
                    return;
                }
                if (isOver) {
                    fail(new IllegalStateException("the write is over"));
                    return;
                }
                int count = Math.min(PIECE_BYTES, bytes.limit() - at);
                if (count > 0) {
                    at += count;
                    subscriber.onNext(bytes.slice(at - count, count));
                }
                if (at == bytes.limit() && !isDone) {
                    isDone = true;
                    subscriber.onComplete();
                    return;
                }
            } while (demand.decrementAndGet() > 0);
        }

        private void fail(RuntimeException why) {
            if (!isDone) {
                isDone = true;
                subscriber.onError(why);
            }
        }
    }
}
