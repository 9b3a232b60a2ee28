package io.varve.serving.core.compaction;

import java.nio.ByteBuffer;

/** Inflates and deflates the records of a batch. A port: codecs are libraries with streams and native memory. For one thread. */
public interface RecordCodec {

    /**
     * Inflates the records of a batch.
     *
     * @param compression Kafka's number of the codec, not 0
     * @param records from its position to its limit, which stay
     * @param bytesMax inflated
     * @return valid until the next call
     * @throws BatchFormatException if it can't be inflated or is larger
     */
    ByteBuffer inflate(int compression, ByteBuffer records, int bytesMax);

    /**
     * Deflates records.
     *
     * @param compression Kafka's number of the codec, not 0
     * @param records from its position to its limit, which stay; backed by an array
     * @param headroomBytes left free before what is deflated
     * @return from 0, headroom included, to its limit; the caller's own
     */
    ByteBuffer deflate(int compression, ByteBuffer records, int headroomBytes);
}
