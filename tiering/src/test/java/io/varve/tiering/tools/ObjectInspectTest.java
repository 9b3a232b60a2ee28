package io.varve.tiering.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.protocol.storage.EntryFormat;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.testing.BuiltObject;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ObjectInspectTest {

    private static final String KEY = "c/x.seg";

    private final MemoryObjectStore store = new MemoryObjectStore();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final ObjectInspect inspect =
            new ObjectInspect(store, new PrintStream(bytes, true, StandardCharsets.UTF_8));
    private BuiltObject object;

    @BeforeEach
    void object() throws Exception {
        object = BuiltObject.of(TestSegments.chain(2, 20, 300, true), 2048, Lz4FrameCompression.INSTANCE);
        store.overwrite(KEY, object.bytes());
    }

    @Test
    void anObjectSaysWhatItIs() {
        inspect.inspect(KEY, true);
        assertThat(printed())
                .contains("format        1.0")
                .contains("cluster       cluster-1")
                .contains("partition     orders (0123456789abcdef000000000000002a) 7")
                .contains("written       1970-01-01T00:00:05Z by attempt 77")
                .contains("segment       2 epoch 2")
                .contains("section       type 1")
                .contains("block         1: from offset");
    }

    @Test
    void anIntactObjectIsSaidToBe() {
        inspect.verify(KEY);
        assertThat(printed()).contains("40 entries").endsWith("intact\n");
    }

    @Test
    void aDamagedOneIsRefusedWithItsReason() {
        byte[] damaged = object.bytes().clone();
        damaged[200] ^= 1;
        store.overwrite(KEY, damaged);
        assertThatThrownBy(() -> inspect.verify(KEY))
                .isInstanceOf(RemoteReadException.class)
                .hasMessageContaining("block 0");
        assertThatThrownBy(() -> inspect.inspect("c/none.seg", false)).hasMessageContaining("is not there");
    }

    @Test
    void itsRecordBatchesAreWrittenOutAsTheyAre() {
        inspect.cat(KEY, true);
        ByteBuffer all = ByteBuffer.wrap(bytes.toByteArray());
        for (TestSegments.Segment segment : object.segments()) {
            for (ByteBuffer entry : segment.entries()) {
                ByteBuffer payload =
                        entry.slice(EntryFormat.HEADER_BYTES, entry.remaining() - EntryFormat.HEADER_BYTES);
                assertThat(all.slice(all.position(), payload.remaining())).isEqualTo(payload);
                all.position(all.position() + payload.remaining());
            }
        }
        assertThat(all.hasRemaining()).isFalse();
    }

    private String printed() {
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
