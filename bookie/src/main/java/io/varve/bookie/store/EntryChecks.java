package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.varve.protocol.storage.EntryFormat;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** An entry's checksum over a Netty buffer, as {@link EntryFormat#checksum} defines it. */
final class EntryChecks {

    private EntryChecks() {}

    /** Reads the readable bytes; the indices are left alone. */
    static int checksum(long firstOffset, long lastOffset, ByteBuf payload) {
        if (payload.nioBufferCount() == 1) {
            return EntryFormat.checksum(firstOffset, lastOffset, payload.nioBuffer());
        }
        ByteBuffer head = ByteBuffer.allocate(EntryFormat.HEADER_BYTES);
        EntryFormat.putHeader(head, firstOffset, lastOffset, payload.readableBytes(), 0);
        CRC32C crc = new CRC32C();
        crc.update(head.flip().limit(EntryFormat.HEADER_BYTES - 4));
        for (ByteBuffer part : payload.nioBuffers()) {
            crc.update(part);
        }
        return (int) crc.getValue();
    }
}
