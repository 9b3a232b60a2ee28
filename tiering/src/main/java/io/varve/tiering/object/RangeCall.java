package io.varve.tiering.object;

import io.varve.tiering.object.StoreException.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * One ranged GET, carried out by a thread that waits for it and given up by any other. A store that sends another range, or another number
 * of bytes, has not answered the question.
 */
final class RangeCall {

    /**
     * After a full piece. From a store that is near the next one is there already, and the thread would have its processor for as long as
     * the system lets it: some milliseconds, which appends would wait for. However short, a pause gives the processor to who waits for it;
     * to yield leaves that to a scheduler that lets a thread use up its time first.
     */
    private static final long PAUSE_NS = 1;

    private final String bucket;
    private final String key;
    private final long from;
    private final int length;
    private final RangeTarget.Attempt to;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private ExecutableHttpRequest request;

    /** A try of its own from now on, not from when its turn comes: by then its target may have been given up. */
    RangeCall(String bucket, String key, long from, RangeTarget target) {
        this.bucket = bucket;
        this.key = key;
        this.from = from;
        this.length = target.length();
        this.to = target.begin();
        done.whenComplete((filled, failure) -> {
            if (failure != null) {
                breakOff();
            }
        });
    }

    /** Ends when the target is full, or with what went wrong; ending it from outside breaks the call off. */
    CompletableFuture<Void> done() {
        return done;
    }

    /**
     * Carries it out, unless it was given up before.
     *
     * @param buffer on the heap, the thread's own, for the pieces of the body
     */
    void run(S3Client s3, ByteBuffer buffer) {
        if (done.isDone()) {
            return;
        }
        GetObjectRequest get = GetObjectRequest.builder()
                .bucket(bucket)
                .key(key)
                .range("bytes=" + from + "-" + (from + length - 1))
                .build();
        Throwable trouble = null;
        try {
            s3.getObject(get, (head, body) -> {
                check(head, body);
                try {
                    take(body, buffer);
                } catch (IOException e) {
                    throw new StoreException(Kind.UNREACHABLE, "GET " + key + " broke off: " + e, e);
                }
                return head;
            });
        } catch (Throwable failure) {
            // Errors too: whoever waits for the call hands them on.
            trouble = failure;
        }
        forget();
        if (trouble == null) {
            done.complete(null);
        } else {
            done.completeExceptionally(trouble);
        }
    }

    /** The request that the call is now. */
    synchronized void onRequest(ExecutableHttpRequest prepared) {
        if (done.isDone()) {
            throw AbortedException.create("GET " + key + " was given up");
        }
        request = prepared;
    }

    private synchronized void forget() {
        request = null;
    }

    private void breakOff() {
        ExecutableHttpRequest waiting;
        synchronized (this) {
            waiting = request;
            request = null;
        }
        if (waiting != null) {
            waiting.abort();
        }
    }

    private void check(GetObjectResponse head, AbortableInputStream body) {
        String range = head.contentRange();
        if (range != null && !range.startsWith("bytes " + from + "-")) {
            throw refusing(body, "was answered with " + range);
        }
        if (range == null && from > 0) {
            throw refusing(body, "was answered with the whole object: the store ignores ranges");
        }
    }

    /** Breaks the connection off: to use it again the client would read all that is still to come. */
    private StoreException refusing(AbortableInputStream body, String what) {
        body.abort();
        return new StoreException(Kind.REFUSED, "GET " + key + " " + what);
    }

    private void take(AbortableInputStream body, ByteBuffer buffer) throws IOException {
        int count;
        while ((count = body.read(buffer.array(), 0, buffer.capacity())) >= 0) {
            if (count > to.room()) {
                throw refusing(body, "sent more than the " + length + " bytes asked for");
            }
            to.put(buffer.clear().limit(count));
            if (count == buffer.capacity()) {
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
        if (to.room() > 0) {
            int sent = length - to.room();
            throw new StoreException(
                    Kind.TRUNCATED, "GET " + key + " sent " + sent + " of the " + length + " bytes from " + from);
        }
    }
}
