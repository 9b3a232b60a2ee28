package io.varve.tiering.object;

import io.varve.tiering.object.StoreException.Kind;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.async.SdkPublisher;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * Collects the body of a ranged GET in the memory that is meant for it, with one copy. Used by one call, whose events come one after the
 * other. A store that sends another range, or another number of bytes, has not answered the question.
 */
final class RangeResponse implements AsyncResponseTransformer<GetObjectResponse, Void> {

    private final String key;
    private final long from;
    private final RangeTarget target;
    private final RangeTarget.Attempt to;
    private volatile CompletableFuture<Void> done;

    /** Begins a try: an answer that comes when there is a later one writes nothing. */
    RangeResponse(String key, long from, RangeTarget target) {
        this.key = key;
        this.from = from;
        this.target = target;
        this.to = target.begin();
    }

    @Override
    public CompletableFuture<Void> prepare() {
        done = new CompletableFuture<>();
        return done;
    }

    @Override
    public void onResponse(GetObjectResponse head) {
        String range = head.contentRange();
        if (range != null && !range.startsWith("bytes " + from + "-")) {
            done.completeExceptionally(new StoreException(Kind.REFUSED, "GET " + key + " was answered with " + range));
        } else if (range == null && from > 0) {
            done.completeExceptionally(new StoreException(Kind.REFUSED, "GET " + key + ": the store ignores ranges"));
        }
    }

    @Override
    public void onStream(SdkPublisher<ByteBuffer> body) {
        body.subscribe(new Collector(done));
    }

    @Override
    public void exceptionOccurred(Throwable failure) {
        done.completeExceptionally(failure);
    }

    private final class Collector implements Subscriber<ByteBuffer> {

        private final CompletableFuture<Void> result;
        private Subscription subscription;

        Collector(CompletableFuture<Void> result) {
            this.result = result;
        }

        @Override
        public void onSubscribe(Subscription s) {
            if (subscription != null || result.isDone()) {
                s.cancel();
                return;
            }
            subscription = s;
            s.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(ByteBuffer bytes) {
            if (bytes.remaining() > to.room()) {
                subscription.cancel();
                result.completeExceptionally(new StoreException(
                        Kind.REFUSED, "GET " + key + " sent more than the " + target.length() + " bytes asked for"));
                return;
            }
            to.put(bytes);
        }

        @Override
        public void onError(Throwable failure) {
            result.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            if (to.room() > 0) {
                int sent = target.length() - to.room();
                result.completeExceptionally(new StoreException(
                        Kind.TRUNCATED,
                        "GET " + key + " sent " + sent + " of the " + target.length() + " bytes from " + from));
            } else {
                result.complete(null);
            }
        }
    }
}
