package io.varve.bookie.store;

import static io.varve.bookie.store.StoreFixture.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.disk.ReadOnlyDisk;
import io.varve.bookie.journal.JournalFile;
import io.varve.bookie.journal.JournalFiles;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.SealedSegmentSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What moves out of the journal, and what comes from another bookie. */
class SettleAndImportTest {

    @TempDir
    Path directory;

    private static void eventually(BooleanSupplier what) {
        long deadlineNs = System.nanoTime() + 30_000_000_000L;
        while (!what.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(deadlineNs);
            Thread.onSpinWait();
        }
    }

    private long journalFiles() {
        try (var files = Files.list(directory.resolve("journal"))) {
            return files.filter(file -> file.getFileName().toString().matches("\\d+\\.journal"))
                    .count();
        } catch (IOException trouble) {
            throw new AssertionError(trouble);
        }
    }

    /** 20 MiB into a journal that may keep 4: what is too much is moved, wherever its segments stand, and everything is read as before. */
    @Test
    void whatTheJournalMayNotKeepIsSettled() {
        try (StoreFixture it = StoreFixture.open(directory)) {
            it.create(1, 5, 0);
            it.create(2, 5, 100);
            it.store.checkpoint(new SegmentId(1), 5, 0, Unpooled.wrappedBuffer(new byte[] {42}));
            for (int round = 0; round < 20; round++) {
                it.appendMany(1, 5, round * 10, 10, 50_000).forEach(StoreFixture::await);
                it.appendMany(2, 5, 100 + round * 100, 100, 5_000).forEach(StoreFixture::await);
            }
            eventually(() -> journalFiles() <= 4 + 1 + 2 + 1);
            assertThat(directory.resolve("segments/0000000000000000001.segment"))
                    .exists();
            assertThat(it.readAll(1, 0, 300_000)).isEqualTo(200);
            assertThat(it.readAll(2, 100, 7_000)).isEqualTo(2100);
            assertThat(it.readAll(2, 1234, 1)).isEqualTo(2100);
            assertThat(it.append(1, 5, 200, 1, 10).status()).isEqualTo(BookieStatus.OK);
        }
        try (StoreFixture it = StoreFixture.open(directory)) {
            assertThat(it.readAll(1, 0, 300_000)).isEqualTo(201);
            assertThat(it.readAll(2, 777, 20_000)).isEqualTo(2100);
            CheckpointReply checkpoint = await(it.store.readCheckpoint(new SegmentId(1), 10));
            assertThat(checkpoint.status()).isEqualTo(BookieStatus.OK);
            assertThat(checkpoint.state().getByte(checkpoint.state().readerIndex()))
                    .isEqualTo((byte) 42);
            checkpoint.state().release();
            assertThat(it.events).isEmpty();
        }
    }

    /** The scrub reads a file for half a minute: those after it are used again meanwhile, instead of ever new ones. */
    @Test
    void aFileThatSomebodyReadsHoldsUpNoOther() {
        try (StoreFixture it = StoreFixture.open(directory)) {
            it.create(1, 5, 0);
            it.appendMany(1, 5, 0, 60, 50_000).forEach(StoreFixture::await);
            JournalFile read = it.store.directories.get(0).files().get(1);
            assertThat(read.pin()).isTrue();
            it.store.delete(new SegmentId(1), 0).join();
            for (long segment = 2; segment < 8; segment++) {
                it.create(segment, 5, 0);
                it.appendMany(segment, 5, 0, 60, 50_000).forEach(StoreFixture::await);
                it.store.delete(new SegmentId(segment), 0).join();
            }
            // The one that is read, the one that is written, and two ready.
            eventually(() -> journalFiles() <= 4);
            assertThat(directory.resolve(JournalFiles.name(1))).exists();
            read.unpin();
            eventually(() -> Files.notExists(directory.resolve(JournalFiles.name(1))));
        }
    }

    /** From one bookie to another: interrupted, gone on with after a restart, and then as good as the first. */
    @Test
    void aCopyIsGoneOnWithAndBecomesVisibleWhenItIsWhole() throws IOException {
        Path other = directory.resolve("other");
        SegmentDescriptor segment = StoreFixture.sealed(1, 5, 10, 60);
        try (StoreFixture from = StoreFixture.open(directory.resolve("one"))) {
            from.create(1, 5, 10);
            from.appendMany(1, 5, 10, 55, 3000).forEach(StoreFixture::await);
            try (StoreFixture to = StoreFixture.open(other);
                    SealedSegmentSource source = from.store.openSealed(segment);
                    SegmentImport copy = to.store.importSegment(segment, 0)) {
                copy.write(source.next(40_000).orElseThrow());
                assertThat(copy.nextOffset()).isBetween(11L, 59L);
                assertThatThrownBy(copy::complete).isInstanceOf(IOException.class);
                assertThat(to.readStatus(1, 10)).isEqualTo(BookieStatus.NO_SUCH_SEGMENT);
            }
            try (StoreFixture to = StoreFixture.open(other);
                    SealedSegmentSource source = from.store.openSealed(segment);
                    SegmentImport copy = to.store.importSegment(segment, 0)) {
                assertThat(copy.nextOffset()).isGreaterThan(10);
                for (Optional<ByteBuffer> entries = source.next(9_000);
                        entries.isPresent();
                        entries = source.next(9_000)) {
                    if (firstOffset(entries.get()) >= copy.nextOffset()) {
                        copy.write(entries.get());
                    } else {
                        copy.write(from(entries.get(), copy.nextOffset()));
                    }
                }
                copy.checkpoint(60, ByteBuffer.wrap(new byte[] {1, 2, 3}));
                copy.complete();
                assertThat(to.readAll(1, 10, 10_000)).isEqualTo(60);
                assertThat(checkpointBytes(to)).isEqualTo(3);
                assertThatThrownBy(() -> to.store.importSegment(segment, 0)).hasMessageContaining("already");
            }
            try (StoreFixture to = StoreFixture.open(other)) {
                assertThat(to.readAll(1, 10, 10_000)).isEqualTo(60);
                assertThat(checkpointBytes(to)).isEqualTo(3);
                assertThat(to.append(1, 5, 60, 1, 10).status()).isEqualTo(BookieStatus.SEALED);
                assertThat(to.events).isEmpty();
            }
        }
    }

    private static int checkpointBytes(StoreFixture of) {
        CheckpointReply reply = await(of.store.readCheckpoint(new SegmentId(1), 60));
        assertThat(reply.status()).isEqualTo(BookieStatus.OK);
        assertThat(reply.offset()).isEqualTo(60);
        int bytes = reply.state().readableBytes();
        reply.state().release();
        return bytes;
    }

    private static long firstOffset(ByteBuffer entries) {
        return entries.getLong(entries.position());
    }

    private static ByteBuffer from(ByteBuffer entries, long offset) {
        ByteBuffer rest = entries.slice();
        while (rest.hasRemaining() && rest.getLong(0) < offset) {
            rest.position(24 + rest.getInt(16));
            rest = rest.slice();
        }
        return rest;
    }

    /** Whatever happens to it, a segment's checkpoints stay as few as are kept. */
    @Test
    void copiesThatReplaceEachOtherDoNotPileUpCheckpoints() throws IOException {
        Path other = directory.resolve("two");
        SegmentDescriptor segment = StoreFixture.sealed(1, 5, 0, 20);
        try (StoreFixture from = StoreFixture.open(directory.resolve("one"));
                StoreFixture to = StoreFixture.open(other)) {
            from.create(1, 5, 0);
            from.appendMany(1, 5, 0, 20, 3000).forEach(StoreFixture::await);
            for (int copies = 1; copies <= 6; copies++) {
                try (SealedSegmentSource source = from.store.openSealed(segment);
                        SegmentImport copy = to.store.importSegment(segment, 0)) {
                    copy.write(source.next(1_000_000).orElseThrow());
                    copy.checkpoint(copies, ByteBuffer.wrap(new byte[] {1, 2, 3}));
                    copy.complete();
                }
                assertThat(CheckpointFile.read(new ReadOnlyDisk(other), segment.id()))
                        .hasSizeBetween(1, CheckpointRef.KEPT + 1)
                        .containsKey((long) copies);
                assertThat(checkpointOffset(to)).isEqualTo(copies);
                damageFileOf(segment, other);
                assertThat(to.readStatus(1, 0)).isEqualTo(BookieStatus.CORRUPT);
            }
        }
    }

    private static long checkpointOffset(StoreFixture of) {
        CheckpointReply reply = await(of.store.readCheckpoint(new SegmentId(1), 60));
        reply.state().release();
        return reply.offset();
    }

    private static void damageFileOf(SegmentDescriptor segment, Path in) throws IOException {
        try (FileChannel file =
                FileChannel.open(in.resolve(SegmentFiles.data(segment.id())), StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}), 200);
        }
    }

    /** A replica that ends too early is replaced by a whole one, and stays what it is until then. */
    @Test
    void aCopyTakesThePlaceOfAReplicaThatLacksTheEnd() throws IOException {
        SegmentDescriptor segment = StoreFixture.sealed(1, 5, 0, 20);
        try (StoreFixture from = StoreFixture.open(directory.resolve("one"));
                StoreFixture to = StoreFixture.open(directory.resolve("two"))) {
            from.create(1, 5, 0);
            from.appendMany(1, 5, 0, 20, 3000).forEach(StoreFixture::await);
            to.create(1, 5, 0);
            to.appendMany(1, 5, 0, 7, 3000).forEach(StoreFixture::await);
            try (SealedSegmentSource source = from.store.openSealed(segment);
                    SegmentImport copy = to.store.importSegment(segment, 0)) {
                copy.write(source.next(1_000_000).orElseThrow());
                assertThat(to.readAll(1, 0, 10_000)).isEqualTo(7);
                copy.complete();
            }
            assertThat(to.readAll(1, 0, 10_000)).isEqualTo(20);
        }
        try (StoreFixture to = StoreFixture.open(directory.resolve("two"))) {
            assertThat(to.readAll(1, 0, 10_000)).isEqualTo(20);
        }
    }
}
