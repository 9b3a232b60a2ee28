package io.varve.bookie.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.protocol.storage.EntryFormat;
import io.varve.sim.SimProcess;
import io.varve.sim.SimScheduler;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** That the twin keeps the rules it is used to test others against. */
class InMemoryBookiesTest {

    private static final PartitionId PARTITION = new PartitionId(new TopicId(1, 2), 0);
    private static final SegmentId SEGMENT = new SegmentId(5);

    private final SimScheduler scheduler = new SimScheduler(1);
    private final InMemoryBookies bookies = new InMemoryBookies(new SimProcess(scheduler, "all"));
    private final BookieAddress one = bookies.add(1);
    private final BookieClient client = bookies.client("owner");
    private final Heard heard = new Heard();

    @Test
    void whatIsAppendedIsDurableAndIsReadBackWithItsChecksums() {
        AppendStream stream = open(3, heard);
        append(stream, 10, 14, "abcde");
        append(stream, 15, 15, "f");
        run();
        assertThat(heard.durable).endsWith(16L);
        assertThat(stream.pendingBytes()).isZero();

        ReadReply read = now(client.read(one, SEGMENT, 12, 1_000_000, ReadPriority.TAIL, 100));
        assertThat(read.status()).isEqualTo(BookieStatus.OK);
        assertThat(read.end()).isEqualTo(16);
        assertThat(read.highWatermark()).isEqualTo(9);
        assertThat(EntriesCheck.isSound(read.entries().nioBuffer(), 12)).isTrue();
        assertThat(now(client.read(one, SEGMENT, 10, 1, ReadPriority.TAIL, 100))
                        .entries()
                        .readableBytes())
                .isEqualTo(EntryFormat.HEADER_BYTES + 5);
        assertThat(now(client.read(one, SEGMENT, 16, 1, ReadPriority.TAIL, 100)).status())
                .isEqualTo(BookieStatus.BEYOND_END);
    }

    @Test
    void aGapIsRefusedWithTheEndAndARepeatIsAnsweredWithIt() {
        AppendStream stream = open(3, heard);
        append(stream, 10, 10, "a");
        append(stream, 10, 10, "a");
        append(stream, 12, 12, "c");
        run();
        assertThat(heard.durable).containsExactly(11L);
        assertThat(heard.failed).containsExactly("GAP 11");
    }

    @Test
    void afterAFenceNoLowerEpochAppendsAndHigherFencesStand() {
        AppendStream stream = open(3, heard);
        append(stream, 10, 10, "a");
        run();
        FenceReply fenced = now(client.fence(one, List.of(new FenceRequest(PARTITION, 4, SEGMENT, 0)), 100))
                .get(0);
        assertThat(fenced).isEqualTo(new FenceReply(BookieStatus.OK, 11, 9, bookies.incarnation(1), false, 4));
        append(stream, 11, 11, "b");
        run();
        assertThat(heard.failed).containsExactly("FENCED 11");
        bookies.delete(1, SEGMENT);
        assertThat(now(client.fence(one, List.of(new FenceRequest(PARTITION, 3, SEGMENT, 0)), 100))
                        .get(0)
                        .status())
                .isEqualTo(BookieStatus.FENCED);
        open(3, heard);
        run();
        assertThat(heard.failed).containsExactly("FENCED 11", "FENCED -1");
    }

    @Test
    void aBookieThatLostItsDiskCannotVouch() {
        open(3, heard);
        run();
        long before = bookies.incarnation(1);
        assertThat(fence(9, 77, 0).status()).isEqualTo(BookieStatus.NO_SUCH_SEGMENT);
        bookies.loseDisk(1);
        assertThat(fence(9, SEGMENT.value(), before).status()).isEqualTo(BookieStatus.UNKNOWN);
        assertThat(fence(9, 77, 0).status()).isEqualTo(BookieStatus.UNKNOWN);
        assertThat(fence(9, 77, bookies.incarnation(1)).status()).isEqualTo(BookieStatus.NO_SUCH_SEGMENT);
    }

    @Test
    void aHungBookieAnswersNothingInTimeAndDoesItsWorkLate() {
        AppendStream stream = open(3, heard);
        run();
        bookies.hang(1);
        append(stream, 10, 10, "a");
        scheduler.runFor(1_000_000);
        assertThat(heard.durable).isEmpty();
        assertThat(fence(4, SEGMENT.value(), 0).status()).isEqualTo(BookieStatus.NO_ANSWER);
        bookies.resume(1);
        run();
        assertThat(heard.durable).containsExactly(11L);
        assertThat(bookies.fence(1, PARTITION)).isEqualTo(4);
    }

    @Test
    void theDeathOfABookieBreaksStreamsAndKeepsWhatWasDurable() {
        AppendStream stream = open(3, heard);
        append(stream, 10, 10, "a");
        run();
        bookies.kill(1);
        append(stream, 11, 11, "b");
        run();
        assertThat(heard.failed).containsExactly("NO_ANSWER -1");
        assertThat(fence(4, SEGMENT.value(), 0).status()).isEqualTo(BookieStatus.NO_ANSWER);
        bookies.restart(1);
        assertThat(fence(4, SEGMENT.value(), 0).end()).isEqualTo(11);
    }

    @Test
    void acrossACutNothingPassesAndSilenceEndsTheStream() {
        AppendStream stream = open(3, heard);
        run();
        bookies.cut("owner", 1);
        append(stream, 10, 10, "a");
        scheduler.runFor(6_000_000_000L);
        assertThat(heard.failed).containsExactly("NO_ANSWER -1");
        assertThat(bookies.end(1, SEGMENT)).isEqualTo(10);
    }

    @Test
    void onlyTheNewestCheckpointsAreKept() {
        AppendStream stream = open(3, heard);
        for (int i = 1; i <= 3; i++) {
            stream.checkpoint(i * 10L, Unpooled.buffer().writeInt(i));
        }
        run();
        BookieClient.CheckpointReply newest = now(client.readCheckpoint(one, SEGMENT, 29, 100));
        assertThat(newest.offset()).isEqualTo(20);
        assertThat(newest.state().readInt()).isEqualTo(2);
        assertThat(now(client.readCheckpoint(one, SEGMENT, 10, 100)).status()).isEqualTo(BookieStatus.BEYOND_END);
    }

    private FenceReply fence(int epoch, long segment, long incarnation) {
        return now(client.fence(
                        one, List.of(new FenceRequest(PARTITION, epoch, new SegmentId(segment), incarnation)), 100))
                .get(0);
    }

    private AppendStream open(int epoch, AppendListener listener) {
        return client.openAppend(one, PARTITION, SEGMENT, epoch, 10, 0, listener);
    }

    private static void append(AppendStream stream, long first, long last, String payload) {
        byte[] bytes = payload.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        stream.append(
                first,
                last,
                EntryFormat.checksum(first, last, ByteBuffer.wrap(bytes)),
                Unpooled.wrappedBuffer(bytes),
                9);
    }

    private void run() {
        scheduler.runFor(10_000_000);
    }

    private <T> T now(CompletableFuture<T> future) {
        scheduler.runUntil(future::isDone, 1_000_000_000);
        return future.join();
    }

    private static final class Heard implements AppendListener {
        final List<Long> durable = new ArrayList<>();
        final List<String> failed = new ArrayList<>();

        @Override
        public void onDurable(long durableEnd) {
            durable.add(durableEnd);
        }

        @Override
        public void onFailed(BookieStatus status, long replicaEnd) {
            failed.add(status + " " + replicaEnd);
        }
    }
}
