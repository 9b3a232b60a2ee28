package io.varve.protocol.rpc;

import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** The event loops of a process, shared by its servers and clients: epoll where it is, else NIO. */
public final class RpcLoops implements AutoCloseable {

    private static final long CLOSE_MS_MAX = 2_000;
    private static final int RECEIVE_BYTES_MIN = 1024;
    private static final int RECEIVE_BYTES_FIRST = 16 * 1024;
    private static final int RECEIVE_BYTES_MAX = 256 * 1024;
    private static final int WRITE_BYTES_LOW = 256 * 1024;
    private static final int WRITE_BYTES_HIGH = 1024 * 1024;

    private final EventLoopGroup group;

    private RpcLoops(EventLoopGroup group) {
        this.group = group;
    }

    /**
     * Starts {@code threads} loops.
     *
     * @param name of the threads
     */
    public static RpcLoops start(String name, int threads) {
        IoHandlerFactory io = Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
        return new RpcLoops(new MultiThreadIoEventLoopGroup(threads, new DefaultThreadFactory(name, true), io));
    }

    /** The loops. */
    public EventLoopGroup group() {
        return group;
    }

    /** The class of outgoing connections that runs on them. */
    public Class<? extends Channel> channelType() {
        return Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class;
    }

    /** The class of listening sockets that runs on them. */
    public Class<? extends ServerChannel> serverChannelType() {
        return Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    }

    /** Receive buffers that grow with what comes, so that large frames take few reads and idle connections little memory. */
    static RecvByteBufAllocator receiveBuffers() {
        return new AdaptiveRecvByteBufAllocator(RECEIVE_BYTES_MIN, RECEIVE_BYTES_FIRST, RECEIVE_BYTES_MAX);
    }

    /** So much may wait to leave before a connection counts as not writable: enough to keep a fast network busy while the next part is made. */
    static WriteBufferWaterMark writeMarks() {
        return new WriteBufferWaterMark(WRITE_BYTES_LOW, WRITE_BYTES_HIGH);
    }

    /** Runs {@code task}, which must not block, every {@code periodMs} on one of the loops until what is returned is closed. */
    public Repeated every(long periodMs, Runnable task) {
        Future<?> repeated = group.next().scheduleWithFixedDelay(task, periodMs, periodMs, TimeUnit.MILLISECONDS);
        return () -> repeated.cancel(false);
    }

    /** Something that is run again and again. */
    @FunctionalInterface
    public interface Repeated extends AutoCloseable {
        /** Not again from now on; a run under way goes on. */
        @Override
        void close();
    }

    /** Stops the loops and waits for them, two seconds at most. Close what runs on them first. */
    @Override
    public void close() {
        group.shutdownGracefully(0, CLOSE_MS_MAX, TimeUnit.MILLISECONDS)
                .awaitUninterruptibly(CLOSE_MS_MAX, TimeUnit.MILLISECONDS);
    }
}
