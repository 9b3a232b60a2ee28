package io.varve.bookie.client;

import io.netty.buffer.ByteBuf;

/**
 * One owner's ordered stream of entries to one replica of one segment. Used by one thread at a time. Entries may be sent before the
 * bookie has confirmed that it created the segment; they stay in order behind that.
 */
public interface AppendStream extends AutoCloseable {

    /**
     * Sends the next entry.
     *
     * @param firstOffset where the entry before it ended
     * @param lastOffset inclusive
     * @param crc the entry's checksum, by {@link io.varve.protocol.storage.EntryFormat#checksum}
     * @param payload the stream takes over one reference and releases it when the bytes have left or can no longer leave; its indices
     *     must not be changed by anybody meanwhile
     * @param highWatermark the owner's, for the replica to remember
     */
    void append(long firstOffset, long lastOffset, int crc, ByteBuf payload, long highWatermark);

    /**
     * Stores a checkpoint of the owner's state with the replica, in order with the entries: it becomes durable with or after the entries
     * sent before it. Only the newest few of a segment are kept. Not acknowledged.
     *
     * @param offset the state's offset: what follows from replaying everything below it
     * @param state opaque; ownership as for {@link #append}
     */
    void checkpoint(long offset, ByteBuf state);

    /**
     * Tells the replica that the segment ends: a hint that comes before the metadata says so, and that it may use to settle early.
     *
     * @param endOffset exclusive
     */
    void seal(long endOffset);

    /** Bytes handed to this stream and not yet known to be durable. */
    long pendingBytes();

    /** Ends the stream without a word to the listener. What is under way may still become durable. */
    @Override
    void close();
}
