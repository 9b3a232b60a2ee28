package io.varve.bookie.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.varve.base.BookieId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.JournalReach;
import io.varve.bookie.core.JournalRecovery;
import io.varve.bookie.disk.SimDisk;
import io.varve.bookie.journal.JournalSteps;
import io.varve.protocol.storage.EntryFormat;
import io.varve.sim.SimRandomness;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a start reads after a kill: journal files without an index, as far as they may have been written to, and no others. */
class RestartReadsTest {

    private static final int MIB = 1024 * 1024;
    private static final long FILE_BYTES = 12 * MIB;
    private static final int GROUP_BYTES = MIB / 2;
    private static final long SEGMENT = 1;
    private static final int ENTRY_BYTES = 60_000;

    private final SimDisk disk = new SimDisk("disk", 3);
    private LocalSegmentStore store;
    private DirectoryStore directory;
    private JournalSteps journal;
    private Housekeeping housekeeping;
    private long acknowledged;

    private void open(SimDisk on) throws IOException {
        StoreOptions options = new StoreOptions(
                "test-cluster",
                new BookieId(7),
                List.of(Path.of("simulated")),
                FILE_BYTES,
                true,
                GROUP_BYTES,
                64 * MIB,
                MIB,
                MIB,
                MIB,
                4 * MIB,
                4 * MIB,
                1024L * MIB,
                1,
                0,
                0,
                1);
        store = LocalSegmentStore.open(
                options,
                List.of(on),
                new StoreEnvironment(
                        StoreFixture.CLOCK,
                        new SimRandomness(9),
                        (where, fault) -> {
                            throw new AssertionError(where, fault);
                        },
                        StoreListener.NONE,
                        new SimpleMeterRegistry(),
                        JournalRecovery::decide,
                        this::drive));
    }

    private java.io.Closeable drive(DirectoryStore opened) throws IOException {
        directory = opened;
        journal = new JournalSteps(opened.start());
        opened.attach(journal::submit);
        housekeeping = new Housekeeping(opened, () -> {});
        return opened::close;
    }

    private void create() {
        store.createSegment(StoreFixture.PARTITION, new SegmentId(SEGMENT), 1, 0, 0, (status, end, where) -> {});
        runJournal();
    }

    private void append(int entries) {
        for (int at = 0; at < entries; at++) {
            long offset = acknowledged + at;
            ByteBuf payload = StoreFixture.payload(SEGMENT, offset, ENTRY_BYTES);
            int crc = EntryChecks.checksum(offset, offset, payload);
            store.append(new SegmentId(SEGMENT), 1, offset, offset, crc, payload, 0, (status, end) -> {
                assertThat(status).isEqualTo(BookieStatus.OK);
                acknowledged = end;
            });
        }
        runJournal();
    }

    private void runJournal() {
        boolean more = true;
        while (more) {
            more = journal.work();
            more |= journal.flush(0);
        }
    }

    private void keepHouse() throws IOException {
        while (housekeeping.step()) {
            // Until nothing is due.
        }
    }

    private long journalBytesReadAt(SimDisk afterKill) throws IOException {
        open(afterKill);
        assertThat(store.describe(new SegmentId(SEGMENT), 0).end()).isEqualTo(acknowledged);
        return afterKill.bytesRead(".journal");
    }

    @Test
    void aStartReadsWhatHasNoIndexAndNotTheRoomAheadOfIt() throws IOException {
        open(disk);
        create();
        while (directory.fullFiles().coveredNumber() < 3) {
            append(8);
            keepHouse();
        }
        append(100);
        long dataBytes = 108L * ENTRY_BYTES;
        assertThat(disk.usedBytes()).isGreaterThan(6 * FILE_BYTES);
        long read = journalBytesReadAt(disk.copy(1));
        long ahead = JournalReach.of(FILE_BYTES, GROUP_BYTES).stepBytes();
        // What was written, and at most twice what may have been: at the end of the file, and in the two that are
        // ready.
        assertThat(read).isLessThan(dataBytes + 2 * (ahead + 2 * GROUP_BYTES) + 8 * MIB);
        assertThat(read).isLessThan(FILE_BYTES);
    }

    /** A reach that can't be read costs time and nothing else. */
    @Test
    void withoutItsReachAFileIsReadToItsEnd() throws IOException {
        open(disk);
        create();
        append(30);
        SimDisk damaged = disk.copy(1);
        String file = "journal/0000000000000001.journal";
        assertThat(disk.names()).contains(file);
        long whole = journalBytesReadAt(disk.copy(2));
        damaged.flip(file, JournalFormat.groupsEnd(FILE_BYTES) + 9, 1);
        assertThat(journalBytesReadAt(damaged)).isGreaterThan(FILE_BYTES).isGreaterThan(whole);
    }

    /** Until a copy's record is durable a crash brings back what it is to replace: a file that is indexed just then must have it. */
    @Test
    void whatIsBeingReplacedIsStillIndexed() throws IOException {
        open(disk);
        create();
        keepHouse();
        while (directory.fullFiles().peekSnapshot() == null) {
            append(8);
        }
        long end = acknowledged;
        LocalSegmentImport copy =
                (LocalSegmentImport) store.importSegment(StoreFixture.sealed(SEGMENT, 1, 0, end + 1), 0);
        for (long offset = 0; offset <= end; offset++) {
            copy.write(entry(offset));
        }
        copy.submit();
        journal.work();
        keepHouse();
        assertThat(disk.names()).contains(Snapshot.name(1), JournalIndexFile.name(1));
        open(disk.copy(1));
        FenceReply found = store.describe(new SegmentId(SEGMENT), 0);
        assertThat(found.status()).isEqualTo(BookieStatus.OK);
        assertThat(found.end()).isEqualTo(end);
    }

    private static ByteBuffer entry(long offset) {
        ByteBuf payload = StoreFixture.payload(SEGMENT, offset, ENTRY_BYTES);
        ByteBuffer entry = ByteBuffer.allocate(EntryFormat.HEADER_BYTES + ENTRY_BYTES);
        entry.putLong(offset)
                .putLong(offset)
                .putInt(ENTRY_BYTES)
                .putInt(EntryChecks.checksum(offset, offset, payload))
                .put(payload.nioBuffer());
        payload.release();
        return entry.flip();
    }

    /** Making new files takes long; full ones get index and snapshot in between. */
    @Test
    void aFullFileDoesNotWaitForAnotherToBeMade() throws IOException {
        open(disk);
        create();
        while (!directory.files().isFilling()) {
            assertThat(housekeeping.step()).isTrue();
        }
        append((int) (FILE_BYTES / ENTRY_BYTES) - 20);
        keepHouse();
        append(30);
        directory.files().fillSome();
        runJournal();
        assertThat(directory.fullFiles().peekSnapshot()).isNotNull();
        assertThat(directory.files().isFilling()).isTrue();
        assertThat(housekeeping.step()).isTrue();
        assertThat(directory.files().isFilling()).isTrue();
        assertThat(directory.fullFiles().coveredNumber()).isEqualTo(1);
        assertThat(disk.names()).contains(Snapshot.name(1), JournalIndexFile.name(1));
    }
}
