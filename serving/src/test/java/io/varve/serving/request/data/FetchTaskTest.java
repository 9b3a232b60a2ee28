package io.varve.serving.request.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.serving.core.fetchsession.Wanted;
import io.varve.serving.kafka.wire.FetchedRecords;
import io.varve.serving.log.InMemoryPartitionLog;
import io.varve.serving.log.InMemoryPartitionLogs;
import io.varve.serving.log.PartitionLog.AppendOptions;
import io.varve.serving.log.PartitionLog.Batch;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLogs;
import io.varve.serving.request.Deadlines;
import io.varve.serving.request.PartitionFinder.TopicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.FetchResponseData.PartitionData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** P18, P20 and S13 of the user reports, step by step: time is a timer that the test lets run out. */
final class FetchTaskTest {

    private static final TopicId TOPIC = new TopicId(1, 1);
    private static final int PARTITION_BYTES_MAX = 1 << 20;
    private static final int WAIT_MS = 500;

    private final InMemoryPartitionLogs logs = new InMemoryPartitionLogs();
    private final ManualTimer timer = new ManualTimer();
    private final Deadlines deadlines = new Deadlines(timer);
    private final FetchMemory memory = new FetchMemory(64 << 20);
    private final List<FetchTask> tasks = new ArrayList<>();

    @AfterEach
    void givesBackAllMemory() {
        for (FetchTask task : tasks) {
            task.parts().forEach(FetchPart::release);
            memory.give(task.reserved());
        }
        assertThat(memory.used()).isZero();
    }

    @Test
    void whatIsThereIsGivenAtOnce() {
        append(0, 100);
        append(1, 100);
        CompletableFuture<FetchTask> done = fetch(1, 2 * PARTITION_BYTES_MAX, part(0, 0), part(1, 0));
        assertThat(bytesOf(done)).containsExactly(sizeOf(100), sizeOf(100));
        assertThat(timer.pending()).as("its deadline is let go").isZero();
    }

    @Test
    void theFirstBatchComesHoweverLargeAndNoOtherThatDoesNotFit() {
        append(0, 5_000);
        append(1, 100);
        CompletableFuture<FetchTask> done = fetch(1, 1_000, part(0, 0), part(1, 0));
        assertThat(bytesOf(done)).containsExactly(sizeOf(5_000), 0);
    }

    @Test
    void newsOfAnyPartitionEndTheWait() {
        log(0);
        log(1);
        CompletableFuture<FetchTask> done = fetch(1, 1 << 20, part(0, 0), part(1, 0));
        assertThat(done).isNotDone();
        append(1, 100);
        assertThat(bytesOf(done)).containsExactly(0, sizeOf(100));
    }

    @Test
    void bytesAddUpFromWakeToWakeUntilThereAreEnough() {
        log(0);
        CompletableFuture<FetchTask> done = fetch(2 * sizeOf(100), 1 << 20, part(0, 0));
        append(0, 100);
        assertThat(done).isNotDone();
        append(0, 100);
        assertThat(bytesOf(done)).containsExactly(2 * sizeOf(100));
    }

    @Test
    void whenTheTimeIsOverThereIsWhatThereIs() {
        append(0, 100);
        CompletableFuture<FetchTask> done = fetch(1 << 20, 1 << 20, part(0, 0));
        assertThat(done).isNotDone();
        timer.runOut();
        assertThat(bytesOf(done)).containsExactly(sizeOf(100));
    }

    @Test
    void aReadThatOutlastsTheTimeIsStillWaitedForAndAtLastIsNot() {
        append(0, 100);
        logs.log(partition(0)).holdReads();
        CompletableFuture<FetchTask> patient = fetch(1, 1 << 20, part(0, 0));
        timer.runOut();
        assertThat(patient).as("the read's own grace").isNotDone();
        logs.log(partition(0)).releaseReads();
        assertThat(bytesOf(patient)).containsExactly(sizeOf(100));

        logs.log(partition(0)).holdReads();
        CompletableFuture<FetchTask> given = fetch(1, 1 << 20, part(0, 0));
        timer.runOut();
        timer.runOut();
        assertThat(bytesOf(given)).containsExactly(0);
        logs.log(partition(0)).releaseReads();
    }

    @Test
    void anErrorEndsTheWaitAndTakesNothingFromTheOthers() {
        append(0, 100);
        log(1);
        CompletableFuture<FetchTask> done = fetch(1 << 20, 1 << 20, part(0, 0), part(1, 99));
        assertThat(bytesOf(done)).containsExactly(sizeOf(100), 0);
        assertThat(done.join().parts().get(1).error()).isEqualTo(Errors.OFFSET_OUT_OF_RANGE);
    }

    /** P8, I-15: a reader that has read on at the next owner comes back to one that doesn't know yet that it was replaced. */
    @Test
    void anOffsetBeyondTheEndIsOutOfRangeOnlyIfTheLogSaysSo() {
        append(0, 100);
        FetchPart part = part(0, 99);
        logs.lose(partition(0));
        CompletableFuture<FetchTask> done = fetch(1, 1 << 20, part);
        assertThat(done).isDone();
        assertThat(done.join().parts().get(0).error()).isEqualTo(Errors.NOT_LEADER_OR_FOLLOWER);
    }

    @Test
    void whoIsSentElsewhereIsToldAtOnce() {
        append(0, 100);
        FetchPart part = part(0, 0);
        part.prefer(7);
        CompletableFuture<FetchTask> done = fetch(1, 1 << 20, part);
        PartitionData answer = done.join().parts().get(0).answer(Isolation.READ_UNCOMMITTED);
        assertThat(answer.preferredReadReplica()).isEqualTo(7);
        assertThat(FetchedRecords.bytes(answer)).isZero();
    }

    private CompletableFuture<FetchTask> fetch(int minBytes, int maxBytes, FetchPart... parts) {
        FetchTask task =
                new FetchTask(List.of(parts), Isolation.READ_UNCOMMITTED, minBytes, maxBytes, memory, deadlines);
        tasks.add(task);
        return task.start(WAIT_MS);
    }

    private FetchPart part(int index, long offset) {
        FetchPart part = new FetchPart(
                new FetchPart.Key(TopicKey.of("t"), index), new Wanted(offset, PARTITION_BYTES_MAX, -1, -1));
        part.open(log(index));
        return part;
    }

    private static List<Integer> bytesOf(CompletableFuture<FetchTask> done) {
        assertThat(done).isDone();
        return done.join().parts().stream().map(FetchPart::bytes).toList();
    }

    private static PartitionId partition(int index) {
        return new PartitionId(TOPIC, index);
    }

    private InMemoryPartitionLog log(int index) {
        return logs.find(partition(index)) instanceof PartitionLogs.Lookup.Served
                ? logs.log(partition(index))
                : logs.serve(partition(index));
    }

    private void append(int index, int valueBytes) {
        ByteBuf payload = Unpooled.copiedBuffer(recordsOf(valueBytes).buffer());
        log(index)
                .append(List.of(new Batch(payload, 1, 0, -1, (short) -1, -1, false)), AppendOptions.CLIENT)
                .join();
    }

    private static int sizeOf(int valueBytes) {
        return recordsOf(valueBytes).sizeInBytes();
    }

    private static MemoryRecords recordsOf(int valueBytes) {
        return MemoryRecords.withRecords(Compression.NONE, new SimpleRecord(0, null, new byte[valueBytes]));
    }
}
