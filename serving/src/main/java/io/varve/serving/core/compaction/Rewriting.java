package io.varve.serving.core.compaction;

import java.nio.ByteBuffer;
import java.util.function.Consumer;

/** What decides in a pass over a partition what stays: {@link CompactionPass} by keys. One use, by one thread; every batch is one whole batch from the buffer's position to its limit. */
public interface Rewriting {

    /**
     * First reading: the next batch of the dirty part, in order.
     *
     * @return false if there is no room for what is to be remembered of it: the pass covers what was observed before
     * @throws BatchFormatException if it can't be read: the pass is over
     */
    boolean observe(ByteBuffer batch);

    /** The pass covers what lies below. */
    long observedEnd();

    /**
     * Second reading: the next batch of the log, from its start on, in order. Behind the end of a segment it may be one further on, if retention took what was in between. What lies above the observed end stays as it is.
     *
     * @param sink takes what stays, in order and without a gap; the buffers are good for as long as the batch is
     * @return whether that takes a record away, or makes another of what stays. If it doesn't for any batch of a segment, the segment may as well stay
     * @throws BatchFormatException if it can't be read: the pass is over
     */
    boolean rewrite(ByteBuffer batch, Consumer<ByteBuffer> sink);

    /**
     * A segment of what is written ends here: what is due goes to the sink.
     *
     * @param endOffset exclusive
     */
    void endSegment(long endOffset, Consumer<ByteBuffer> sink);
}
