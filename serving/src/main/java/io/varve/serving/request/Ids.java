package io.varve.serving.request;

import io.varve.base.TopicId;
import org.apache.kafka.common.Uuid;

/** Topic ids in Varve's and in Kafka's words: the same 128 bits. */
public final class Ids {

    private Ids() {}

    /** Kafka's. */
    public static Uuid toKafka(TopicId id) {
        return new Uuid(id.high(), id.low());
    }

    /** Ours. */
    public static TopicId fromKafka(Uuid id) {
        return new TopicId(id.getMostSignificantBits(), id.getLeastSignificantBits());
    }
}
