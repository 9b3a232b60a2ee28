package io.varve.tiering.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.SegmentId;
import io.varve.metadata.core.PlannerSettings;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ObjectRef;
import io.varve.sim.RecordingFaultHandler;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.SealedSegmentSource;
import io.varve.tiering.object.ObjectStore.Verb;
import io.varve.tiering.offload.OffloadWorker;
import io.varve.tiering.offload.UploadSettings;
import io.varve.tiering.testing.FaultyObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** C16.6: what partitions cost that are hardly written to, of which a cluster has thousands. */
class SlowPartitionBudgetTest {

    private static final long ROLL_MS = 600_000;
    private static final int ROLLS = 6;
    private static final int RECORDS_EACH = 600;
    private static final int MIB = 1 << 20;

    /** An hour of 1 KB a second, rolled by {@code segment.ms} every ten minutes: the numbers stand in docs/TIERING.md. */
    @Test
    void aSlowPartitionCostsOnePutForEachRollAndNothingBetween() throws Exception {
        OnePartition log = new OnePartition(1, PlannerSettings.DEFAULT, Map.of("segment.ms", Long.toString(ROLL_MS)));
        FaultyObjectStore bucket = new FaultyObjectStore(log.bucket);
        Map<Long, TestSegments.Segment> written = new TreeMap<>();
        try (Offloader bookie = new OffloadWorker(
                bucket,
                log.clusterId,
                new UploadSettings(1, 10, 16 * MIB, 2, MIB, true, 0),
                log.clock,
                new SimpleMeterRegistry(),
                new RecordingFaultHandler())) {
            for (int second = 0; second < 3_720; second++) {
                log.clock.advance(1_000);
                if (second % (ROLL_MS / 1_000) == 0 && written.size() < ROLLS) {
                    write(log, written);
                }
                log.metadata.plan();
                for (BookieTask task : log.tasks()) {
                    if (task instanceof BookieTask.Offload offload) {
                        upload(log, bookie, offload, written);
                    }
                }
            }
        }
        assertThat(bucket.calls(Verb.PUT)).isEqualTo(ROLLS);
        assertThat(bucket.calls(Verb.HEAD)).isEqualTo(ROLLS);
        assertThat(bucket.calls(Verb.GET)).isLessThanOrEqualTo(4L * ROLLS);
        assertThat(bucket.calls(Verb.LIST) + bucket.calls(Verb.CREATE_UPLOAD)).isZero();
    }

    private static void write(OnePartition log, Map<Long, TestSegments.Segment> written) {
        long id = log.open().id().value();
        TestSegments.Segment segment = TestSegments.segment(id, log.open().startOffset(), RECORDS_EACH, 1_000, false);
        written.put(id, segment);
        log.roll(
                segment.descriptor().endOffset(),
                segment.descriptor().bytes(),
                segment.descriptor().maxTimestampMs());
    }

    private static void upload(
            OnePartition log, Offloader bookie, BookieTask.Offload task, Map<Long, TestSegments.Segment> written)
            throws Exception {
        List<SealedSegmentSource> sources = new ArrayList<>();
        for (SegmentId id : task.segments()) {
            TestSegments.Segment held = written.get(id.value());
            sources.add(new TestSegments.Segment(
                            log.metadata.view().segment(id).orElseThrow(), held.entries(), held.checkpoint())
                    .source());
        }
        ObjectRef object = bookie.offload(
                        new Offloader.OffloadAttempt(task.taskId(), "orders", task.partition()), sources)
                .get(20, TimeUnit.SECONDS);
        log.client.commitOffload(task.taskId(), object).join();
    }
}
