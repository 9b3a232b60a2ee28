package io.varve.serving.core.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.protocol.record.RecordBatchHeader;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class EndMarkerTest {

    @Test
    void aMarkerIsAnIntactBatchThatReadsAsItWasWritten() {
        for (boolean commit : new boolean[] {true, false}) {
            EndMarker marker = new EndMarker(42, (short) 7, 3, commit);
            ByteBuffer bytes = ByteBuffer.allocate(EndMarker.BYTES);
            marker.write(bytes, 1_234);
            bytes.flip();
            assertThat(RecordBatchHeader.isIntact(bytes, 0)).isTrue();
            assertThat(RecordBatchHeader.isControl(bytes, 0)).isTrue();
            assertThat(RecordBatchHeader.isTransactional(bytes, 0)).isTrue();
            assertThat(RecordBatchHeader.count(bytes, 0)).isOne();
            assertThat(EndMarker.parse(bytes, 0)).isEqualTo(marker);
        }
    }
}
