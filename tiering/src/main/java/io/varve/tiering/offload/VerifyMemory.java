package io.varve.tiering.offload;

import io.varve.tiering.core.ObjectBuilder;
import io.varve.tiering.read.ObjectWalk;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The memory that one object is read back into: of the parts that it was sent from, and of the block that it was built in. Used by one thread.
 */
final class VerifyMemory implements ObjectWalk.Memory, AutoCloseable {

    private final PartBuffers buffers;
    private final ObjectBuilder.Memory building;
    private final ByteBuffer[] ranges;

    /**
     * Waits for room.
     *
     * @param building the caller's, of no other use before the {@link #close}
     * @param length of the object: one that is no longer than a part comes in one range
     */
    VerifyMemory(PartBuffers buffers, int partBytes, ObjectBuilder.Memory building, long length) throws IOException {
        this.buffers = buffers;
        this.building = building;
        ByteBuffer first = buffers.take(length);
        try {
            this.ranges = length <= partBytes
                    ? new ByteBuffer[] {first}
                    : new ByteBuffer[] {first, buffers.take(Long.MAX_VALUE)};
        } catch (IOException | RuntimeException | Error e) {
            buffers.give(first);
            throw e;
        }
    }

    @Override
    public ByteBuffer range(int turn, int bytes) {
        ByteBuffer range = ranges[turn % ranges.length];
        // A single block may be longer than a part.
        return bytes <= range.capacity() ? range.duplicate().clear().limit(bytes) : ByteBuffer.allocate(bytes);
    }

    @Override
    public ByteBuffer unpacked(int bytes) {
        return building.block(bytes);
    }

    @Override
    public void close() {
        for (ByteBuffer range : ranges) {
            buffers.give(range);
        }
    }
}
