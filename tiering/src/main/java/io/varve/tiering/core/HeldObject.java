package io.varve.tiering.core;

import io.varve.metadata.model.ObjectRef;
import java.util.List;
import java.util.Objects;

/**
 * An object as its own tail describes it, when there is no metadata to ask.
 *
 * @param ref what the metadata would say of it
 * @param topicName the topic's name when it was written
 * @param segments held, in order, adjoining
 */
public record HeldObject(ObjectRef ref, String topicName, List<ObjectFooter.Segment> segments) {

    public HeldObject {
        Objects.requireNonNull(ref, "ref");
        segments = List.copyOf(segments);
    }

    /** What the tail of the object of that key says. */
    public static HeldObject of(String key, ObjectTail tail) {
        ObjectFooter footer = tail.footer();
        ObjectRef ref = new ObjectRef(
                key,
                footer.attemptId(),
                tail.length(),
                tail.crc(),
                footer.startOffset(),
                footer.endOffset(),
                footer.maxTimestampMs());
        return new HeldObject(ref, footer.topicName(), footer.segments());
    }
}
