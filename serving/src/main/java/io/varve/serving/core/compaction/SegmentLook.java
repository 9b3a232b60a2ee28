package io.varve.serving.core.compaction;

import io.varve.protocol.record.RecordBatchHeader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Goes through a segment that passes have looked at before, to see whether this one takes anything from it. Most often it doesn't, and the segment stays as it is. If it does, the
 * segment is written anew from its start: first what lies below {@link #unchangedEnd}, as it stands there, then {@link #handedOn}, then what the pass makes of the rest. One use, by one
 * thread.
 */
public final class SegmentLook {

    private final Rewriting pass;
    private final List<ByteBuffer> handedOn = new ArrayList<>(2);
    private long unchangedEnd;
    private long nextOffset;
    private boolean changes;

    /**
     * @param pass whose second reading has come to this segment
     * @param startOffset the segment's
     */
    public SegmentLook(Rewriting pass, long startOffset) {
        this.pass = pass;
        this.unchangedEnd = startOffset;
        this.nextOffset = startOffset;
    }

    /**
     * Looks at the segment's next batch.
     *
     * @return false if it isn't to stay as it is: then the looking is over
     * @throws BatchFormatException if it can't be read: the pass is over
     */
    public boolean at(ByteBuffer batch) {
        handedOn.clear();
        changes = pass.rewrite(batch, handedOn::add);
        nextOffset = lastOffset(batch) + 1;
        if (!changes && !handedOn.isEmpty()) {
            unchangedEnd = lastOffset(handedOn.get(handedOn.size() - 1)) + 1;
        }
        return !changes;
    }

    /** Whether a batch was met that isn't to stay as it is. */
    public boolean changes() {
        return changes;
    }

    /** Below this everything stays as it is; exclusive, and the end of a batch. */
    public long unchangedEnd() {
        return unchangedEnd;
    }

    /** What the pass handed on of the last batch, from {@link #unchangedEnd} on: good for as long as that batch is. */
    public List<ByteBuffer> handedOn() {
        return handedOn;
    }

    /** Where the pass goes on. */
    public long nextOffset() {
        return nextOffset;
    }

    private static long lastOffset(ByteBuffer batch) {
        return RecordBatchHeader.lastOffset(batch, batch.position());
    }
}
