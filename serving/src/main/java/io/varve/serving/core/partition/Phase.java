package io.varve.serving.core.partition;

import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.core.partition.LeaderEffects.Deposition;

/**
 * Where a leader is. A phase holds the data that only it needs, so that leaving it forgets them, and answers those inputs that mean something in it.
 * Unless it says otherwise, an input means nothing: it is the answer to something that is given up.
 */
abstract sealed class Phase<P> permits Unstarted, Fencing, Opening, Active, Releasing, Deposed {

    private final Tenure<P> tenure;

    Phase(Tenure<P> tenure) {
        this.tenure = tenure;
    }

    final Tenure<P> tenure() {
        return tenure;
    }

    /** Time has passed. */
    void onTick() {}

    /** A segment to go on in was allocated, as this leader asked. */
    void onAllocated(SegmentDescriptor segment) {}

    /** The fences that a late reply can still be of use to, or null. */
    Fences<P> fences() {
        return null;
    }

    /** A truthful fence reply was counted. */
    void onFenceReply() {}

    /** A replica of that segment takes nothing more; the tracker knows already. */
    void onStreamFailed(SegmentWriter writer) {}

    /** More of the segment to be opened is durable on a replica. */
    void onNextDurable() {}

    /** The high watermark rose. */
    void onHighWatermark() {}

    /** The change of the chain that was asked for is in the Raft log. */
    void onChangeCommitted() {}

    /** The segment that the roll was to open is gone. */
    void onSegmentGone() {
        tenure.change().look();
    }

    /** The partition as a linearizable read found it, still owned under this epoch (I-17). */
    void onChainRead(PartitionState state) {}

    /** What it means to find, by a linearizable read, that the partition is not owned under this epoch any more. */
    Deposition whyNotOwned() {
        return Deposition.SUPERSEDED;
    }

    /** Whether reads and answers are given. */
    boolean isServing() {
        return false;
    }

    /** Whether appends are taken. */
    boolean isAppending() {
        return false;
    }
}
