package io.varve.serving.kafka.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.serving.core.compaction.BatchFormatException;
import java.nio.ByteBuffer;
import org.apache.kafka.common.record.internal.CompressionType;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KafkaRecordCodecTest {

    private static final int HEADROOM = 61;

    private final KafkaRecordCodec codec = new KafkaRecordCodec();

    /** Sizes about those at which memory is taken anew. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aBatchMayBeAsLargeAsIsAllowedAndNotAByteLarger(CompressionType type) {
        for (int size : new int[] {1, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 128 << 10, 300_000, 5 << 20}) {
            byte[] records = new byte[size];
            for (int i = 0; i < size; i++) {
                records[i] = (byte) (i / 1_000);
            }
            ByteBuffer deflated = codec.deflate(type.id, ByteBuffer.wrap(records), HEADROOM);
            deflated.position(HEADROOM);
            ByteBuffer inflated = codec.inflate(type.id, deflated, size);
            assertThat(inflated).as("%s bytes", size).isEqualTo(ByteBuffer.wrap(records));
            assertThat(inflated.array().length)
                    .as("memory for %s bytes", size)
                    .isLessThanOrEqualTo(Math.max(64 << 10, size + 1));
            assertThatThrownBy(() -> codec.inflate(type.id, deflated, size - 1))
                    .as("%s bytes", size)
                    .isInstanceOf(BatchFormatException.class);
        }
    }
}
