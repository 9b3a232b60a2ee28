package io.varve.serving.partition;

import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** Threads for partition loops: Netty's event loops, for their queues of many producers and one consumer. */
final class NettyLoops implements AutoCloseable {

    private static final long CLOSE_TIMEOUT_MS = 5_000;

    private final MultiThreadIoEventLoopGroup group;
    private final List<LoopThread> threads = new ArrayList<>();

    NettyLoops(String name, int count) {
        group = new MultiThreadIoEventLoopGroup(
                count, new DefaultThreadFactory(name, true), LocalIoHandler.newFactory());
        for (EventExecutor executor : group) {
            threads.add(new NettyThread(executor));
        }
    }

    List<LoopThread> threads() {
        return List.copyOf(threads);
    }

    /** Runs what was handed in, and stops. Waits for it. */
    @Override
    public void close() {
        group.shutdownGracefully(0, CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS).awaitUninterruptibly(CLOSE_TIMEOUT_MS);
    }

    private record NettyThread(EventExecutor executor) implements LoopThread {
        @Override
        public boolean isCurrent() {
            return executor.inEventLoop();
        }

        @Override
        public void every(long intervalMs, Runnable task) {
            executor.scheduleWithFixedDelay(task, intervalMs, intervalMs, TimeUnit.MILLISECONDS);
        }

        @Override
        public void execute(Runnable task) {
            try {
                executor.execute(task);
            } catch (RejectedExecutionException stopped) {
                // An answer that came after the broker stopped serving: nobody waits for it.
            }
        }
    }
}
