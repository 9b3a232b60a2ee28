package io.varve.tiering.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.model.ObjectKeys;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.testing.BuiltObject;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class BucketSurveyTest {

    private final MemoryObjectStore store = new MemoryObjectStore();
    private final List<TestSegments.Segment> segments = TestSegments.chain(4, 10, 200, true);

    @Test
    void aBucketAloneTellsItsTopicsAndTheirChains() throws Exception {
        write(1, 0, 2);
        write(2, 2, 4);
        write(3, 1, 3);
        store.overwrite(key(9, 0), new byte[100]);

        BucketSurvey.Survey survey = new BucketSurvey(store, TestSegments.CLUSTER).look(read -> {});
        BucketSurvey.Partition partition = survey.partitions().get(TestSegments.PARTITION);
        assertThat(partition.topicName()).isEqualTo("orders");
        assertThat(partition.startOffset()).isZero();
        assertThat(partition.endOffset()).isEqualTo(segments.get(3).descriptor().endOffset());
        assertThat(partition.chain().gaps()).isEmpty();
        assertThat(survey.unreadable()).containsOnlyKeys(key(9, 0));
    }

    @Test
    void whatIsMissingIsNamed() throws Exception {
        write(1, 0, 1);
        write(2, 2, 4);
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        BucketSurvey.print(
                new BucketSurvey(store, TestSegments.CLUSTER).look(read -> {}),
                new PrintStream(printed, true, StandardCharsets.UTF_8));
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .contains("orders-7 (0123456789abcdef000000000000002a): offsets 0 to ")
                .contains("GAP, offsets " + segments.get(1).descriptor().startOffset() + " to ");
    }

    private void write(long attempt, int from, int to) throws Exception {
        List<TestSegments.Segment> some = segments.subList(from, to);
        BuiltObject object = BuiltObject.of(some, 1024, Lz4FrameCompression.INSTANCE);
        store.overwrite(key(attempt, some.get(0).descriptor().startOffset()), object.bytes());
    }

    private static String key(long attempt, long startOffset) {
        return ObjectKeys.segment(TestSegments.CLUSTER, TestSegments.PARTITION, startOffset, attempt);
    }
}
