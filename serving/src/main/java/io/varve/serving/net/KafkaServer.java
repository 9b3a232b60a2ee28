package io.varve.serving.net;

import io.micrometer.core.instrument.MeterRegistry;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.StartupException;
import io.varve.protocol.runtime.LogLimiter;
import io.varve.serving.core.admission.ConnectionCount;
import io.varve.serving.request.RequestProcessor;
import io.varve.serving.session.ClientSession;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for Kafka clients and speaks with them. Each connection belongs to one event loop for its life; requests go to one
 * {@link RequestProcessor}.
 */
public final class KafkaServer implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(KafkaServer.class);

    /** Between two lines about what clients do. */
    private static final long LOG_PERIOD_MS = 1_000;

    private static final int FLUSHES_TOGETHER_MAX = 256;
    private static final WriteBufferWaterMark WRITE_MARKS = new WriteBufferWaterMark(256 * 1024, 1024 * 1024);

    private final KafkaServerOptions options;
    private final EventLoopGroup acceptLoop;
    private final EventLoopGroup ioLoops;
    private final ServerContext context;
    private final Map<String, Channel> listeners = new LinkedHashMap<>();
    private final Set<KafkaConnection> connections = ConcurrentHashMap.newKeySet();
    private final ConnectionCount count;
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicLong nextConnection = new AtomicLong();

    private KafkaServer(
            KafkaServerOptions options,
            RequestProcessor processor,
            Clock clock,
            MeterRegistry registry,
            FaultHandler faults) {
        this.options = options;
        this.count = new ConnectionCount(options.connectionsMax(), options.connectionsPerAddressMax());
        this.acceptLoop = loops(1, "kafka-accept");
        this.ioLoops = loops(options.ioThreads(), "kafka-io");
        RequestMemory memory = new RequestMemory(options.requestMemoryBytes());
        this.context = new ServerContext(
                options,
                processor,
                memory,
                new ServerMetrics(registry, open, memory),
                clock,
                faults,
                LOG,
                new LogLimiter(clock, LOG_PERIOD_MS),
                this::onClosed);
    }

    /**
     * Begins to listen.
     *
     * @throws StartupException if an address is taken or isn't ours
     */
    public static KafkaServer bind(
            KafkaServerOptions options,
            RequestProcessor processor,
            Clock clock,
            MeterRegistry registry,
            FaultHandler faults) {
        KafkaServer server = new KafkaServer(options, processor, clock, registry, faults);
        try {
            options.listeners().forEach(server::listen);
            return server;
        } catch (StartupException e) {
            server.close();
            throw e;
        }
    }

    /** The port of a listener, which matters if it was configured as 0. */
    public int port(String listener) {
        return ((InetSocketAddress) listeners.get(listener).localAddress()).getPort();
    }

    /** Open connections. */
    public int connections() {
        return open.get();
    }

    /** Takes no new connections; those that are open go on. */
    public void stopAccepting() {
        listeners.values().forEach(channel -> channel.close().awaitUninterruptibly());
    }

    /**
     * Stops accepting, lets every connection answer what it has taken and closes it.
     *
     * @param waitMs how long answers are waited for; what is open then is closed all the same
     */
    public void drain(long waitMs) {
        stopAccepting();
        List<Channel> ending = new ArrayList<>();
        for (KafkaConnection connection : connections) {
            ending.add(connection.channel());
            connection.drain();
        }
        long deadlineNs = context.clock().nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs);
        for (Channel channel : ending) {
            long leftNs = deadlineNs - context.clock().nanoTime();
            channel.closeFuture().awaitUninterruptibly(Math.max(0, leftNs), TimeUnit.NANOSECONDS);
        }
    }

    /** Closes everything at once: a drain, if there is to be one, comes first. */
    @Override
    public void close() {
        stopAccepting();
        for (KafkaConnection connection : connections) {
            connection.channel().close().awaitUninterruptibly(1, TimeUnit.SECONDS);
        }
        acceptLoop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        ioLoops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }

    private void listen(KafkaServerOptions.Listener listener) {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(acceptLoop, ioLoops)
                .channel(serverChannel())
                .option(ChannelOption.SO_BACKLOG, options.backlog())
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WRITE_MARKS)
                .childHandler(new Initializer(listener.name()));
        InetSocketAddress address = listener.host().isEmpty()
                ? new InetSocketAddress(listener.port())
                : new InetSocketAddress(listener.host(), listener.port());
        var bound = bootstrap.bind(address).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new StartupException(
                    StartupException.Reason.PORT_TAKEN,
                    "Listener " + listener.name() + " can't listen on " + listener.host() + ":" + listener.port() + ": "
                            + bound.cause().getMessage()
                            + ". Is another process using it? Set another one in 'listeners'.",
                    bound.cause());
        }
        listeners.put(listener.name(), bound.channel());
        LOG.info(
                "event=listening listener={} address={}",
                listener.name(),
                bound.channel().localAddress());
    }

    private void onClosed(KafkaConnection connection) {
        connections.remove(connection);
        open.decrementAndGet();
        synchronized (count) {
            count.onClose(connection.address());
        }
    }

    private static EventLoopGroup loops(int threads, String name) {
        return new MultiThreadIoEventLoopGroup(
                threads,
                new DefaultThreadFactory(name, true),
                Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
    }

    private static Class<? extends ServerChannel> serverChannel() {
        return Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    }

    /** Builds a connection. */
    private final class Initializer extends ChannelInitializer<SocketChannel> {

        private final String listener;

        private Initializer(String listener) {
            this.listener = listener;
        }

        @Override
        protected void initChannel(SocketChannel channel) {
            InetSocketAddress remote = channel.remoteAddress();
            long waitMs = context.processor().onConnection(remote.getAddress().getHostAddress());
            if (waitMs > 0) {
                throttle(channel, waitMs);
                return;
            }
            ClientSession session = new ClientSession(
                    listener + "-" + nextConnection.incrementAndGet(), remote.getAddress(), remote.getPort(), listener);
            boolean withinLimits;
            synchronized (count) {
                withinLimits = count.onOpen(session.address().getHostAddress());
            }
            open.incrementAndGet();
            KafkaConnection connection = new KafkaConnection(context, session, withinLimits);
            FrameDecoder decoder = new FrameDecoder(options.frameBytesMax(), connection);
            IdleStateHandler idle =
                    new IdleStateHandler(options.stallMs(), 0, Math.max(0, options.idleMs()), TimeUnit.MILLISECONDS);
            channel.pipeline()
                    .addLast(idle)
                    .addLast(new FlushConsolidationHandler(FLUSHES_TOGETHER_MAX, true))
                    .addLast(decoder)
                    .addLast(connection);
            connection.attach(
                    channel.pipeline().context(idle),
                    decoder,
                    channel.pipeline().context(decoder));
            connections.add(connection);
        }

        /** Whoever connects too often is kept waiting and then sent away, as Kafka does (KIP-612): nothing is read of it. */
        private void throttle(SocketChannel channel, long waitMs) {
            channel.config().setAutoRead(false);
            context.metrics().onRefused();
            channel.eventLoop().schedule(() -> channel.close(), waitMs, TimeUnit.MILLISECONDS);
        }
    }
}
