package io.varve.serving.partition;

import io.netty.buffer.ByteBuf;
import io.varve.protocol.storage.EntryFormat;

/**
 * Walks whole entries as a bookie or object storage answered them. Checksums were verified where the bytes came in; lengths are checked again here,
 * because they are used to slice. The buffer stays the caller's.
 */
final class EntryCursor {

    private static final int LAST_AT = 8;
    private static final int LENGTH_AT = 16;
    private static final int CRC_AT = 20;

    private final ByteBuf in;
    private int at;
    private long firstOffset;
    private long lastOffset;
    private int payloadBytes;
    private int crc;

    EntryCursor(ByteBuf in) {
        this.in = in;
        this.at = in.readerIndex();
    }

    /** Moves to the next entry; false at the end, or at what can't be one. */
    boolean next() {
        if (in.writerIndex() - at < EntryFormat.HEADER_BYTES) {
            return false;
        }
        firstOffset = in.getLong(at);
        lastOffset = in.getLong(at + LAST_AT);
        payloadBytes = in.getInt(at + LENGTH_AT);
        crc = in.getInt(at + CRC_AT);
        if (!EntryFormat.isPlausible(firstOffset, lastOffset, payloadBytes)
                || in.writerIndex() - at - EntryFormat.HEADER_BYTES < payloadBytes) {
            return false;
        }
        at += EntryFormat.HEADER_BYTES + payloadBytes;
        return true;
    }

    long firstOffset() {
        return firstOffset;
    }

    long lastOffset() {
        return lastOffset;
    }

    int crc() {
        return crc;
    }

    int payloadBytes() {
        return payloadBytes;
    }

    /** With its header. */
    int sizeBytes() {
        return EntryFormat.HEADER_BYTES + payloadBytes;
    }

    /** The payload, without a reference of its own. */
    ByteBuf payload() {
        return in.slice(at - payloadBytes, payloadBytes);
    }
}
