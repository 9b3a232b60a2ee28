package io.varve.metadata.core;

import io.varve.base.SegmentId;
import io.varve.metadata.model.SegmentDescriptor;

/**
 * The intent to delete an object (I-11).
 *
 * @param when not before its readers of yesterday are gone
 * @param replacedBy the segment that compaction put in the place of what is in it; 0 if nothing was. As long as that segment is on bookies alone the object stays, for should they all be lost it is what a
 *     restoration can have
 */
record DeadObject(Retry when, long replacedBy) {

    /** One that nothing took the place of. */
    DeadObject(Retry when) {
        this(when, 0);
    }

    boolean isDue(MetadataImage image, long nowMs) {
        return when.notBeforeMs() <= nowMs && !isTheOnlyOneInTheBucket(image);
    }

    /** Whether what took the place of its content is on bookies alone. */
    boolean isTheOnlyOneInTheBucket(MetadataImage image) {
        SegmentDescriptor replacing = replacedBy == 0 ? null : image.find(new SegmentId(replacedBy));
        return replacing != null && !replacing.isOffloaded();
    }

    /** After one more failure. */
    DeadObject later(long nowMs) {
        return new DeadObject(Retry.after(when.attempts(), nowMs), replacedBy);
    }
}
