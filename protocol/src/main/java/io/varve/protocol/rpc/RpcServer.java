package io.varve.protocol.rpc;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.varve.base.StartupException;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Listens, takes connections of Varve's own processes, and hands what they ask to a service. */
public final class RpcServer implements AutoCloseable {

    private static final long CLOSE_MS_MAX = 2_000;

    private final Channel listening;
    private final ServerContext context;

    private RpcServer(Channel listening, ServerContext context) {
        this.listening = listening;
        this.context = context;
    }

    /**
     * Begins to listen.
     *
     * @throws StartupException PORT_TAKEN if the address is not to be had
     */
    public static RpcServer bind(RpcServerOptions options, RpcService service) {
        ServerContext context = new ServerContext(options, service);
        ChannelFuture bound = new ServerBootstrap()
                .group(options.loops().group())
                .channel(options.loops().serverChannelType())
                .option(ChannelOption.SO_BACKLOG, 1024)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, RpcLoops.writeMarks())
                .childOption(ChannelOption.RECVBUF_ALLOCATOR, RpcLoops.receiveBuffers())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new ServerHelloHandler(context));
                    }
                })
                .bind(options.host(), options.port())
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new StartupException(
                    StartupException.Reason.PORT_TAKEN,
                    "Can't listen on " + options.host() + ":" + options.port() + ": "
                            + bound.cause().getMessage(),
                    bound.cause());
        }
        return new RpcServer(bound.channel(), context);
    }

    /** The port it listens on. */
    public int port() {
        return ((InetSocketAddress) listening.localAddress()).getPort();
    }

    /** How many peers are connected. */
    public int connections() {
        return context.connections.size();
    }

    /** Bytes of bodies in work, of all connections. */
    public long inFlightBytes() {
        return context.budget.bytes();
    }

    /** Tells the connected that it stops, so that they begin nothing new; connections stay. For a drain before {@link #close}. */
    public void announceClosing(String reason) {
        context.connections.forEach(connection -> connection.announceClosing(reason));
    }

    /** Stops listening and breaks all connections; returns when the service has been told of each, or after two seconds. */
    @Override
    public void close() {
        listening.close().awaitUninterruptibly(CLOSE_MS_MAX, TimeUnit.MILLISECONDS);
        context.closing = true;
        for (ServerLink connection : context.connections) {
            connection.disconnect("this node stops");
        }
        for (ServerLink connection : context.connections) {
            connection.channel().closeFuture().awaitUninterruptibly(CLOSE_MS_MAX, TimeUnit.MILLISECONDS);
        }
    }

    /** What the connections of one server share. */
    static final class ServerContext {
        final RpcServerOptions options;
        final RpcService service;
        final InFlightBudget budget;
        final Set<ServerLink> connections = ConcurrentHashMap.newKeySet();
        volatile boolean closing;

        ServerContext(RpcServerOptions options, RpcService service) {
            this.options = options;
            this.service = service;
            this.budget = new InFlightBudget(options.bounds().totalBytesMax());
        }
    }
}
