package io.varve.metadata.raft;

import io.varve.metadata.core.MetadataImage;
import io.varve.protocol.meta.MetadataRecord;
import java.util.List;

/** Is told what happens to the log and its state. Called on the log's own threads, changes in order; must not block. */
public interface RaftListener {

    /**
     * Records were applied. Comes before the command that made them is answered.
     *
     * @param before the image before
     * @param after the image after
     */
    void onApplied(MetadataImage before, MetadataImage after, List<MetadataRecord> records);

    /** The state was replaced by a snapshot that came from another node, or was read at the start. */
    void onRestored(MetadataImage image);

    /** This node leads, and has applied everything from before it did. */
    void onLeading();

    /** This node leads no longer, or another node does. */
    void onFollowing();
}
