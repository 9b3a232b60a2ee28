package io.varve.metadata.client;

import com.google.protobuf.MessageLite;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.protocol.meta.NotLeaderProto;
import io.varve.protocol.rpc.RpcException;
import io.varve.protocol.rpc.RpcStatus;
import java.util.concurrent.CompletionException;

/** What calls to the service have in common. */
final class Calls {

    /** Says nothing of who leads. */
    static final NotLeaderProto NO_HINT = NotLeaderProto.getDefaultInstance();

    private Calls() {}

    /** How a call failed. */
    static RpcStatus statusOf(Throwable trouble) {
        Throwable cause = trouble instanceof CompletionException ? trouble.getCause() : trouble;
        return cause instanceof RpcException known ? known.status() : RpcStatus.INTERNAL;
    }

    /** A message as a body, the callee's to release. */
    static ByteBuf bytesOf(MessageLite message) {
        return Unpooled.wrappedBuffer(message.toByteArray());
    }
}
