package io.varve.serving.kafka.record;

import io.netty.util.concurrent.FastThreadLocal;
import java.nio.ByteBuffer;
import org.apache.kafka.common.utils.internals.BufferSupplier;

/** What one thread inflates with, kept from batch to batch. */
final class CodecBuffers {

    private static final int WINDOW_BYTES = 16 << 10;

    private static final FastThreadLocal<CodecBuffers> OF_THREAD = new FastThreadLocal<>() {
        @Override
        protected CodecBuffers initialValue() {
            return new CodecBuffers();
        }

        @Override
        protected void onRemoval(CodecBuffers buffers) {
            buffers.supplier.close();
        }
    };

    private final BufferSupplier supplier = BufferSupplier.create();
    private final ByteBuffer window = ByteBuffer.allocate(WINDOW_BYTES);

    private CodecBuffers() {}

    /** The calling thread's. */
    static CodecBuffers get() {
        return OF_THREAD.get();
    }

    /** For the codecs. */
    BufferSupplier supplier() {
        return supplier;
    }

    /** For {@link RecordWalk}. */
    ByteBuffer window() {
        return window;
    }
}
