package io.varve.serving.kafka.runtime;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.model.BrokerInfo;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestHeader;

/**
 * One connection to each broker that there is something to send to, opened on demand and again after it broke. Requests are pipelined; a
 * request that isn't answered in time breaks its connection, for nothing can be known of those behind it either.
 */
public final class NettyBrokerClient implements BrokerClient {

    private static final int FRAME_BYTES_MAX = 16 << 20;
    private static final int LENGTH_BYTES = 4;
    private static final String CLIENT_ID = "varve-broker";
    private static final int TIMEOUT_MS = 5_000;
    private static final String PLAINTEXT = "PLAINTEXT";

    private final EventLoopGroup loops;
    private final Class<? extends Channel> channelType;
    private final IntFunction<Optional<InetSocketAddress>> addresses;
    private final int timeoutMs;
    private final Map<Integer, Connection> connections = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /**
     * @param loops not closed here
     * @param addresses where a broker is reached now, unresolved; empty if it isn't known to live
     * @param timeoutMs for connecting, and for each answer
     */
    NettyBrokerClient(
            EventLoopGroup loops,
            Class<? extends Channel> channelType,
            IntFunction<Optional<InetSocketAddress>> addresses,
            int timeoutMs) {
        this.loops = loops;
        this.channelType = channelType;
        this.addresses = addresses;
        this.timeoutMs = timeoutMs;
    }

    /**
     * A client to the cluster's brokers, through the first listener of each that is not encrypted.
     *
     * @param loops not closed with it
     */
    public static BrokerClient of(MetadataClient metadata, EventLoopGroup loops, Class<? extends Channel> channelType) {
        IntFunction<Optional<InetSocketAddress>> addresses = broker -> metadata.view().brokers().stream()
                .filter(b -> b.id() == broker && b.state() != BrokerInfo.State.GONE)
                .flatMap(b -> b.endpoints().stream())
                .filter(e -> e.securityProtocol().equals(PLAINTEXT))
                .map(e -> InetSocketAddress.createUnresolved(e.host(), e.port()))
                .findFirst();
        return new NettyBrokerClient(loops, channelType, addresses, TIMEOUT_MS);
    }

    @Override
    public CompletableFuture<AbstractResponse> send(
            int broker, AbstractRequest.Builder<? extends AbstractRequest> request) {
        Optional<InetSocketAddress> address = addresses.apply(broker);
        if (address.isEmpty() || closed) {
            return CompletableFuture.failedFuture(new DisconnectException("broker " + broker + " is not there"));
        }
        Connection connection = connections.compute(
                broker, (id, old) -> old != null && old.usable(address.get()) ? old : open(address.get()));
        CompletableFuture<AbstractResponse> answer = new CompletableFuture<>();
        connection.send(request.build(), answer);
        return answer;
    }

    private Connection open(InetSocketAddress address) {
        Connection connection = new Connection(address);
        connection.opening = new Bootstrap()
                .group(loops)
                .channel(channelType)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeoutMs)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(new LengthFieldBasedFrameDecoder(
                                        FRAME_BYTES_MAX, 0, LENGTH_BYTES, 0, LENGTH_BYTES))
                                .addLast(connection);
                    }
                })
                .connect(address);
        return connection;
    }

    @Override
    public void close() {
        closed = true;
        connections.values().forEach(connection -> connection.opening.channel().close());
    }

    /** One connection. Its state belongs to its channel's event loop. */
    private final class Connection extends SimpleChannelInboundHandler<ByteBuf> {
        private final InetSocketAddress address;
        private final Map<Integer, Waiting> waiting = new HashMap<>();
        private ChannelFuture opening;
        private int lastCorrelation;

        Connection(InetSocketAddress address) {
            this.address = address;
        }

        boolean usable(InetSocketAddress wanted) {
            return address.equals(wanted)
                    && (!opening.isDone() || opening.channel().isActive());
        }

        void send(AbstractRequest request, CompletableFuture<AbstractResponse> answer) {
            opening.addListener(opened -> {
                if (opened.isSuccess()) {
                    write(opening.channel(), request, answer);
                } else {
                    answer.completeExceptionally(
                            new DisconnectException("can't connect to " + address, opened.cause()));
                }
            });
        }

        private void write(Channel channel, AbstractRequest request, CompletableFuture<AbstractResponse> answer) {
            if (!channel.isActive()) {
                answer.completeExceptionally(new DisconnectException("lost the connection to " + address));
                return;
            }
            int correlation = ++lastCorrelation;
            RequestHeader header = new RequestHeader(request.apiKey(), request.version(), CLIENT_ID, correlation);
            Future<?> deadline = channel.eventLoop()
                    .schedule(() -> onTimeout(channel, correlation), timeoutMs, TimeUnit.MILLISECONDS);
            waiting.put(correlation, new Waiting(header, answer, deadline));
            ByteBuffer body = request.serializeWithHeader(header);
            channel.writeAndFlush(
                    Unpooled.wrappedBuffer(Unpooled.copyInt(body.remaining()), Unpooled.wrappedBuffer(body)));
        }

        private void onTimeout(Channel channel, int correlation) {
            Waiting late = waiting.remove(correlation);
            if (late != null) {
                late.answer.completeExceptionally(new TimeoutException("no answer from " + address));
                channel.close();
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
            Waiting answered =
                    frame.readableBytes() < Integer.BYTES ? null : waiting.remove(frame.getInt(frame.readerIndex()));
            if (answered == null) {
                context.close();
                return;
            }
            answered.deadline.cancel(false);
            ByteBuffer copy = ByteBuffer.allocate(frame.readableBytes());
            frame.readBytes(copy);
            try {
                answered.answer.complete(AbstractResponse.parseResponse(copy.flip(), answered.header));
            } catch (RuntimeException e) {
                answered.answer.completeExceptionally(e);
                context.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            waiting.values().forEach(lost -> {
                lost.deadline.cancel(false);
                lost.answer.completeExceptionally(new DisconnectException("lost the connection to " + address));
            });
            waiting.clear();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    private record Waiting(RequestHeader header, CompletableFuture<AbstractResponse> answer, Future<?> deadline) {}
}
