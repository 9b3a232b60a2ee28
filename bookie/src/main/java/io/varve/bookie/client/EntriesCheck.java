package io.varve.bookie.client;

import io.varve.protocol.storage.EntryFormat;
import java.nio.ByteBuffer;

/** Whether what a bookie sent is what was asked for. */
final class EntriesCheck {

    private EntriesCheck() {}

    /**
     * Whether the buffer, from its position to its limit, is whole, intact, consecutive entries, at least one, of which the first holds
     * {@code fromOffset}.
     */
    static boolean isSound(ByteBuffer entries, long fromOffset) {
        int at = entries.position();
        long next = -1;
        while (at < entries.limit()) {
            if (!EntryFormat.isIntact(entries, at)) {
                return false;
            }
            long first = EntryFormat.firstOffset(entries, at);
            long last = EntryFormat.lastOffset(entries, at);
            boolean fits = next < 0 ? first <= fromOffset && fromOffset <= last : first == next;
            if (!fits) {
                return false;
            }
            next = last + 1;
            at += EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(entries, at);
        }
        return next >= 0;
    }
}
