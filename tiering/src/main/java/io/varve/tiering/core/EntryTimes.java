package io.varve.tiering.core;

import io.varve.protocol.storage.EntryFormat;
import java.nio.ByteBuffer;

/** The record times in an entry, as far as the head of its record batch tells them. */
final class EntryTimes {

    /** No record, or a payload that is no record batch of version 2. */
    static final long NONE = -1;

    private static final int MAGIC_AT = 16;
    private static final int MAX_TIMESTAMP_AT = 35;
    private static final int BATCH_HEADER_BYTES = 61;
    private static final byte MAGIC_V2 = 2;

    private EntryTimes() {}

    /** The largest record time, in milliseconds, in the intact entry that starts at {@code at}. */
    static long maxTimestampMs(ByteBuffer buffer, int at) {
        int payloadAt = at + EntryFormat.HEADER_BYTES;
        boolean batch = EntryFormat.payloadLength(buffer, at) >= BATCH_HEADER_BYTES
                && buffer.get(payloadAt + MAGIC_AT) == MAGIC_V2;
        return batch ? Math.max(NONE, buffer.getLong(payloadAt + MAX_TIMESTAMP_AT)) : NONE;
    }
}
