package io.varve.bookie.journal;

import io.varve.bookie.core.JournalFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** What one fsync makes durable. It belongs to the journal's thread while it forms and when it is done, to the flusher in between. */
final class Group {

    final JournalFile file;
    final long position;
    final List<JournalOp> ops;
    final Slab slab;
    private final int startAt;
    int endAt;
    int lastRecordAt = -1;
    long pendingBytes;
    boolean full;
    /** How it ended: {@code null} if durable. */
    IOException failure;
    /** How long writing and fsync took. */
    long flushNs;

    Group(JournalFile file, long position, Slab slab, int opsExpected) {
        this.ops = new ArrayList<>(opsExpected);
        this.file = file;
        this.position = position;
        this.slab = slab;
        this.startAt = slab.indexOf(position);
        this.endAt = startAt;
        slab.hold();
    }

    /** Bytes of its records. */
    int bytes() {
        return endAt - startAt;
    }

    /** Ends it, pads it to a block, writes it and makes it durable; nothing of it may change any more. */
    void flush() throws IOException {
        if (lastRecordAt < 0) {
            return;
        }
        ByteBuffer memory = slab.memory();
        JournalFormat.markLast(memory, lastRecordAt);
        int paddedEnd = startAt + (int) JournalFormat.blockAligned(bytes());
        for (int at = endAt; at < paddedEnd; at++) {
            memory.put(at, (byte) 0);
        }
        file.writeGroup(memory.duplicate().limit(paddedEnd).position(startAt), position);
    }
}
