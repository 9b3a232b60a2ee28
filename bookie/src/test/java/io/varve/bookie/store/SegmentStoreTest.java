package io.varve.bookie.store;

import static io.varve.bookie.store.StoreFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.store.StoreFixture.Answer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the store answers, on real files. */
class SegmentStoreTest {

    @TempDir
    Path directory;

    @Test
    void whatWasAppendedIsReadBack() {
        try (StoreFixture it = StoreFixture.open(directory)) {
            assertThat(it.create(1, 5, 100)).isEqualTo(new Answer(BookieStatus.OK, 100));
            assertThat(it.append(1, 5, 100, 10, 1000)).isEqualTo(new Answer(BookieStatus.OK, 110));
            assertThat(it.append(1, 5, 110, 1, 0)).isEqualTo(new Answer(BookieStatus.OK, 111));
            assertThat(it.append(1, 5, 111, 5, 3000)).isEqualTo(new Answer(BookieStatus.OK, 116));
            assertThat(it.readAll(1, 100, 1)).isEqualTo(116);
            assertThat(it.readAll(1, 111, 10_000)).isEqualTo(116);
            assertThat(it.readStatus(1, 116)).isEqualTo(BookieStatus.BEYOND_END);
            assertThat(it.readStatus(2, 0)).isEqualTo(BookieStatus.NO_SUCH_SEGMENT);
        }
    }

    @Test
    void everyReasonToRefuseAnAppendHasItsOwnAnswer() {
        try (StoreFixture it = StoreFixture.open(directory)) {
            it.create(1, 5, 0);
            it.append(1, 5, 0, 10, 100);
            assertThat(it.append(2, 5, 0, 1, 100).status()).isEqualTo(BookieStatus.NO_SUCH_SEGMENT);
            assertThat(it.append(1, 5, 11, 1, 100)).isEqualTo(new Answer(BookieStatus.GAP, 10));
            assertThat(it.append(1, 5, 0, 10, 100)).isEqualTo(new Answer(BookieStatus.OK, 10));
            assertThat(it.append(1, 5, 5, 10, 100).status()).isEqualTo(BookieStatus.INVALID);
            assertThat(it.append(1, 4, 10, 1, 100).status()).isEqualTo(BookieStatus.FENCED);
            assertThat(it.append(1, 6, 10, 1, 100).status()).isEqualTo(BookieStatus.INVALID);
            assertThat(it.append(1, 5, 10, 1, 600_000).status()).isEqualTo(BookieStatus.TOO_LARGE);
            CompletableFuture<BookieStatus> damaged = new CompletableFuture<>();
            ByteBuf payload = Unpooled.wrappedBuffer(new byte[50]);
            it.store.append(new SegmentId(1), 5, 10, 10, 12345, payload, 0, (status, end) -> damaged.complete(status));
            assertThat(await(damaged)).isEqualTo(BookieStatus.BAD_CHECKSUM);
            assertThat(payload.refCnt()).isZero();
            assertThat(await(it.store.seal(new SegmentId(1), 5, 10))).isEqualTo(BookieStatus.OK);
            assertThat(it.append(1, 5, 10, 1, 100).status()).isEqualTo(BookieStatus.SEALED);
            assertThat(it.readAll(1, 0, 1000)).isEqualTo(10);
        }
    }

    @Test
    void nothingAcknowledgedIsMissingAfterARestart() {
        try (StoreFixture it = StoreFixture.open(directory)) {
            it.create(1, 5, 0);
            it.create(2, 5, 1000);
            List<CompletableFuture<Answer>> answers = it.appendMany(1, 5, 0, 3000, 1000);
            answers.addAll(it.appendMany(2, 5, 1000, 20, 200_000));
            answers.forEach(answer -> assertThat(await(answer).status()).isEqualTo(BookieStatus.OK));
        }
        try (StoreFixture it = StoreFixture.open(directory)) {
            assertThat(it.readAll(1, 0, 100_000)).isEqualTo(3000);
            assertThat(it.readAll(2, 1000, 1)).isEqualTo(1020);
            assertThat(it.append(1, 5, 3000, 1, 10)).isEqualTo(new Answer(BookieStatus.OK, 3001));
        }
        try (StoreFixture it = StoreFixture.open(directory)) {
            assertThat(it.readAll(1, 0, 100_000)).isEqualTo(3001);
            assertThat(it.events).isEmpty();
        }
    }

    /** I-4. */
    @Test
    void aFenceOutlivesRestartsAndTheSegment() {
        try (StoreFixture it = StoreFixture.open(directory)) {
            it.create(1, 5, 0);
            it.append(1, 5, 0, 4, 100);
            FenceReply reply = it.fence(1, 7);
            assertThat(reply.status()).isEqualTo(BookieStatus.OK);
            assertThat(reply.end()).isEqualTo(4);
            assertThat(it.append(1, 5, 4, 1, 100).status()).isEqualTo(BookieStatus.FENCED);
            assertThat(it.fence(1, 6)).isEqualTo(new FenceReply(BookieStatus.FENCED, -1, -1, 0, false, 7));
            assertThat(await(it.store.delete(new SegmentId(1), 0))).isEqualTo(BookieStatus.OK);
        }
        try (StoreFixture it = StoreFixture.open(directory)) {
            assertThat(it.readStatus(1, 0)).isEqualTo(BookieStatus.NO_SUCH_SEGMENT);
            assertThat(it.create(2, 6, 0).status()).isEqualTo(BookieStatus.FENCED);
            assertThat(it.create(3, 7, 0).status()).isEqualTo(BookieStatus.OK);
            assertThat(it.fence(9, 8).status()).isEqualTo(BookieStatus.NO_SUCH_SEGMENT);
        }
    }

    @Test
    void theNewestTwoCheckpointsAreKept() {
        try (StoreFixture it = StoreFixture.open(directory)) {
            it.create(1, 5, 0);
            for (int at = 0; at < 3; at++) {
                it.append(1, 5, at, 1, 100);
                it.store.checkpoint(new SegmentId(1), 5, at, Unpooled.wrappedBuffer(new byte[] {(byte) at}));
            }
            it.append(1, 5, 3, 1, 100);
        }
        try (StoreFixture it = StoreFixture.open(directory)) {
            assertThat(checkpoint(it, 100)).isEqualTo(2);
            assertThat(checkpoint(it, 1)).isEqualTo(1);
            assertThat(checkpoint(it, 0)).isEqualTo(-1);
        }
    }

    private static int checkpoint(StoreFixture it, long atMost) {
        CheckpointReply reply = await(it.store.readCheckpoint(new SegmentId(1), atMost));
        int found = reply.status() == BookieStatus.OK
                ? reply.state().getByte(reply.state().readerIndex())
                : -1;
        reply.state().release();
        return found;
    }

    @Test
    void journalFilesAreUsedAgainWhenNothingInThemIsNeeded() throws Exception {
        try (StoreFixture it = StoreFixture.open(directory)) {
            for (int segment = 1; segment <= 20; segment++) {
                it.create(segment, 5, 0);
                it.appendMany(segment, 5, 0, 10, 100_000).forEach(StoreFixture::await);
                await(it.store.delete(new SegmentId(segment), 0));
            }
            it.create(100, 5, 0);
            it.appendMany(100, 5, 0, 100, 10_000).forEach(StoreFixture::await);
            long deadline = System.nanoTime() + 20_000_000_000L;
            while (journalFiles() > 6 && System.nanoTime() < deadline) {
                Thread.onSpinWait();
            }
            assertThat(journalFiles()).isLessThanOrEqualTo(6);
            assertThat(it.readAll(100, 0, 50_000)).isEqualTo(100);
        }
        try (StoreFixture it = StoreFixture.open(directory)) {
            assertThat(it.readAll(100, 0, 50_000)).isEqualTo(100);
        }
    }

    private long journalFiles() throws java.io.IOException {
        try (var files = java.nio.file.Files.list(directory.resolve("journal"))) {
            return files.filter(file -> file.getFileName().toString().matches("\\d+\\.journal"))
                    .count();
        }
    }

    @Test
    void aSecondDirectoryThatWasEmptiedMakesWhatIsNotThereUnknown() throws Exception {
        Path one = directory.resolve("one");
        Path two = directory.resolve("two");
        try (StoreFixture it = StoreFixture.open(one, two)) {
            it.create(1, 5, 0);
            it.create(2, 5, 0);
            assertThat(it.store.inventory().stream()
                            .map(ReplicaInfo::incarnation)
                            .distinct())
                    .hasSize(2);
            it.fence(1, 6);
        }
        try (var files = java.nio.file.Files.walk(two)) {
            files.sorted(java.util.Comparator.reverseOrder()).map(Path::toFile).forEach(java.io.File::delete);
        }
        try (StoreFixture it = StoreFixture.open(one, two)) {
            long left = it.store.inventory().get(0).segment().value();
            assertThat(it.fence(left, 7).status()).isEqualTo(BookieStatus.OK);
            assertThat(it.fence(3 - left, 7).status()).isEqualTo(BookieStatus.UNKNOWN);
            assertThat(it.create(9, 5, 0).status()).isEqualTo(BookieStatus.FENCED);
        }
    }
}
