package io.varve.tiering.object;

import io.varve.tiering.object.StoreException.Kind;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Ranged GETs, nearly all that a broker asks of a bucket. Threads wait for them, each with a small buffer that it keeps: the SDK's
 * asynchronous client copies every piece of a body into a new array, as much garbage as is read, and collecting it held up everybody's
 * appends (ADR 0096). Safe for any thread.
 */
final class S3Ranges implements AutoCloseable {

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final long IDLE_SECONDS = 30;
    private static final int WAITING_FOR_EACH = 2;

    private final S3Client s3;
    private final String bucket;
    private final ThreadPoolExecutor threads;
    private final Set<RangeCall> underWay = ConcurrentHashMap.newKeySet();

    /**
     * Opens a client; says nothing to the store yet. As many calls at a time as there are connections: that no more come is seen to by
     * {@link TurnsObjectStore}, and one that does waits for a thread that is still at a call that was given up, or that asks whether something is there. Those are no more than connections either, so that more than
     * twice as many who wait are a mistake, which is answered and not kept.
     */
    S3Ranges(S3Settings settings) {
        this.bucket = settings.bucket();
        this.s3 = S3Clients.openBlocking(settings, Abortable::new);
        this.threads = new ThreadPoolExecutor(
                settings.connectionsMax(),
                settings.connectionsMax(),
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(WAITING_FOR_EACH * settings.connectionsMax()),
                RangeThread::new);
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Begins a GET.
     *
     * @param into not empty
     * @return fails with what the SDK or the network had to say, or with a {@link StoreException}. Cancelling it breaks the connection
     *     off, which ends the call wherever it is.
     */
    CompletableFuture<Void> fill(String key, long from, RangeTarget into) {
        RangeCall call = new RangeCall(bucket, key, from, into);
        underWay.add(call);
        Runnable work = () -> run(call);
        call.done().whenComplete((done, failure) -> {
            underWay.remove(call);
            if (failure != null) {
                threads.remove(work); // Who was given up while he waited keeps nobody out.
            }
        });
        try {
            threads.execute(work);
        } catch (RejectedExecutionException e) {
            if (threads.isShutdown()) {
                refuse(call);
            } else {
                call.done().completeExceptionally(full(key));
            }
        }
        return call.done();
    }

    private StoreException full(String key) {
        return new StoreException(
                Kind.SATURATED,
                "GET " + key + ": the store is saturated, " + threads.getQueue().size() + " reads wait for "
                        + threads.getMaximumPoolSize() + " threads");
    }

    private void run(RangeCall call) {
        RangeThread thread = (RangeThread) Thread.currentThread();
        thread.current = call;
        try {
            call.run(s3, thread.buffer);
        } finally {
            thread.current = null;
        }
    }

    /** Calls under way and calls to come fail with CLOSED. */
    @Override
    public void close() {
        threads.shutdown();
        underWay.forEach(S3Ranges::refuse);
        s3.close();
    }

    private static void refuse(RangeCall call) {
        call.done().completeExceptionally(new StoreException(Kind.CLOSED, "the store was closed"));
    }

    private static final class RangeThread extends Thread {

        private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        private RangeCall current;

        RangeThread(Runnable work) {
            super(work, "s3-range");
            setDaemon(true);
        }
    }

    /** Tells the call that a thread is at which request is now its own, so that it can be broken off. */
    private record Abortable(SdkHttpClient client) implements SdkHttpClient {

        @Override
        public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
            ExecutableHttpRequest prepared = client.prepareRequest(request);
            if (Thread.currentThread() instanceof RangeThread thread) {
                thread.current.onRequest(prepared);
            }
            return prepared;
        }

        @Override
        public String clientName() {
            return client.clientName();
        }

        @Override
        public void close() {
            client.close();
        }
    }
}
