package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import java.util.ArrayDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Reads of one kind: threads of their own, and so many bytes in memory at a time, from the moment a read begins until whoever asked has released the answer. What
 * does not fit waits in order, in a queue that is bounded too. So readers of cold data, however many and slow, neither hold the memory nor the threads of the
 * others.
 *
 * <p>How much a read holds is only known when it is done, because its first entry comes whole, however little was asked for. A read begins only when a thread is free for it
 * and what is held leaves room; so the bound is exceeded by one entry for each thread at most.
 */
final class ReadLane implements AutoCloseable {

    private static final int WAITING_MAX = 4096;

    private final int threadCount;
    private final long bytesMax;
    private final ThreadPoolExecutor threads;
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private int running;
    private long bytesHeld;

    private record Waiting(int bytes, Runnable task) {}

    ReadLane(String name, int threadCount, long bytesMax) {
        this.threadCount = threadCount;
        this.bytesMax = bytesMax;
        this.threads = new ThreadPoolExecutor(
                threadCount, threadCount, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Runs a read once a thread and its bytes are to be had. The task must {@link #release} them, or hand them on with {@link #charged}.
     *
     * @return {@code false} if too many wait already
     */
    synchronized boolean submit(int bytes, Runnable task) {
        if (waiting.size() >= WAITING_MAX) {
            return false;
        }
        waiting.add(new Waiting(bytes, task));
        startWaiting();
        return true;
    }

    private synchronized void startWaiting() {
        while (!waiting.isEmpty() && running < threadCount && fits(waiting.peek().bytes) && !threads.isShutdown()) {
            Waiting next = waiting.poll();
            bytesHeld += next.bytes;
            running++;
            threads.execute(() -> run(next.task));
        }
    }

    private void run(Runnable task) {
        try {
            task.run();
        } finally {
            synchronized (this) {
                running--;
                startWaiting();
            }
        }
    }

    /** One read always fits, however large. */
    private boolean fits(int bytes) {
        return bytesHeld == 0 || bytesHeld + bytes <= bytesMax;
    }

    /** A read that is under way turned out to hold more than was asked for. */
    synchronized void chargeMore(int bytes) {
        bytesHeld += bytes;
    }

    /** Gives bytes back. */
    synchronized void release(int bytes) {
        bytesHeld -= bytes;
        startWaiting();
    }

    /** Bytes held at the moment. */
    synchronized long bytesHeld() {
        return bytesHeld;
    }

    /** The same bytes, given back to the lane when the buffer is released. Takes over the reference. */
    ByteBuf charged(ByteBuf buffer, int bytes) {
        return new Charged(buffer, bytes);
    }

    private final class Charged extends CompositeByteBuf {
        private final int charge;

        Charged(ByteBuf buffer, int charge) {
            super(ByteBufAllocator.DEFAULT, true, 1);
            this.charge = charge;
            addComponent(true, buffer);
        }

        @Override
        protected void deallocate() {
            super.deallocate();
            ReadLane.this.release(charge);
        }
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
