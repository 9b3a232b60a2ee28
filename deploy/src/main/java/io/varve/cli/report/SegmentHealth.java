package io.varve.cli.report;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;

/** What is to be said of a segment for its operator. */
final class SegmentHealth {

    private SegmentHealth() {}

    /** Short of copies, with no object to fall back on. */
    static boolean isUnderReplicated(SegmentDescriptor segment, Topic topic, MetadataView view) {
        return !segment.isOffloaded()
                && !segment.isEmpty()
                && segment.replicas().stream()
                                .filter(replica -> lives(replica, view))
                                .count()
                        < topic.replicas();
    }

    /** In which tiers it can be read. */
    static String tier(SegmentDescriptor segment) {
        boolean local = !segment.replicas().isEmpty();
        if (segment.isOffloaded()) {
            return local ? "bookies+object" : "object";
        }
        return local ? "bookies" : "-";
    }

    private static boolean lives(Replica replica, MetadataView view) {
        return view.bookie(replica.bookie())
                .filter(bookie -> bookie.state() != BookieInfo.State.GONE)
                .isPresent();
    }
}
