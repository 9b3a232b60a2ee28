package io.varve.bookie.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.varve.base.Clock;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.StartupException;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.JournalRecovery;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.SimDisk;
import io.varve.bookie.journal.JournalFiles;
import io.varve.sim.SimRandomness;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Disks that fail, fill up, are swapped or somebody else's; with the store's own threads. */
class DiskTroubleTest {

    private final List<SimDisk> disks = new ArrayList<>(List.of(new SimDisk("one", 1), new SimDisk("two", 2)));
    private final List<String> damaged = new CopyOnWriteArrayList<>();
    private final LinkedBlockingQueue<Boolean> readOnly = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<Long> lost = new LinkedBlockingQueue<>();
    private final List<DirectoryStore> directoriesOpen = new ArrayList<>();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final AtomicLong skewNs = new AtomicLong();
    private final AtomicBoolean essential = new AtomicBoolean();
    private LocalSegmentStore store;

    private LocalSegmentStore open() throws IOException {
        StoreListener listener = new StoreListener() {
            @Override
            public void onReplicaDamaged(SegmentId segment, long incarnation, String why) {
                damaged.add(segment.toString());
            }

            @Override
            public void onDirectoryLost(long incarnation, String why) {
                lost.add(incarnation);
            }

            @Override
            public boolean isEssential(PartitionId partition) {
                return essential.get();
            }

            @Override
            public void onReadOnlyChanged(boolean now) {
                readOnly.add(now);
            }
        };
        store = LocalSegmentStore.open(
                StoreFixture.options(Path.of("unused")),
                List.<Disk>copyOf(disks),
                new StoreEnvironment(
                        new Clock() {
                            @Override
                            public long nanoTime() {
                                return StoreFixture.CLOCK.nanoTime() + skewNs.get();
                            }

                            @Override
                            public long wallTimeMs() {
                                return StoreFixture.CLOCK.wallTimeMs();
                            }
                        },
                        new SimRandomness(5),
                        (where, fault) -> damaged.add("fault " + fault),
                        listener,
                        registry,
                        JournalRecovery::decide,
                        directory -> {
                            directoriesOpen.add(directory);
                            return new DirectoryRunner(directory, (where, fault) -> damaged.add("fault " + fault));
                        }));
        return store;
    }

    @AfterEach
    void close() {
        if (store != null) {
            store.close();
        }
        assertThat(damaged).noneMatch(what -> what.startsWith("fault"));
    }

    private BookieStatus create(long segment, int epoch) {
        CompletableFuture<BookieStatus> answer = new CompletableFuture<>();
        store.createSegment(
                StoreFixture.PARTITION,
                new SegmentId(segment),
                epoch,
                0,
                0,
                (status, end, incarnation) -> answer.complete(status));
        return StoreFixture.await(answer);
    }

    private BookieStatus append(long segment, int epoch, long offset) {
        return append(segment, epoch, offset, 500);
    }

    private BookieStatus append(long segment, int epoch, long offset, int bytes) {
        return StoreFixture.await(appendLater(segment, epoch, offset, bytes));
    }

    private CompletableFuture<BookieStatus> appendLater(long segment, int epoch, long offset, int bytes) {
        ByteBuf payload = StoreFixture.payload(segment, offset, bytes);
        CompletableFuture<BookieStatus> answer = new CompletableFuture<>();
        store.append(
                new SegmentId(segment),
                epoch,
                offset,
                offset,
                EntryChecks.checksum(offset, offset, payload),
                payload,
                0,
                (status, end) -> answer.complete(status));
        return answer;
    }

    private FenceReply fence(long segment, int epoch) {
        return StoreFixture.await(store.fence(
                        List.of(new FenceRequest(StoreFixture.PARTITION, epoch, new SegmentId(segment), 0))))
                .get(0);
    }

    private BookieStatus read(long segment, long offset) {
        ReadReply reply = StoreFixture.await(store.read(new SegmentId(segment), offset, 1000, ReadPriority.TAIL));
        reply.entries().release();
        return reply.status();
    }

    private SimDisk diskOf(long segment) {
        long incarnation = store.describe(new SegmentId(segment), 0).incarnation();
        int at = store.directories().get(0).incarnation() == incarnation ? 0 : 1;
        return disks.get(at);
    }

    /** I-12. */
    @Test
    void afterAFailedFsyncADirectoryIsOutOfServiceAndTheOthersGoOn() throws Exception {
        open();
        create(1, 5);
        create(2, 5);
        assertThat(diskOf(1)).isNotSameAs(diskOf(2));
        append(1, 5, 0);
        append(2, 5, 0);
        diskOf(1).failForces(1);
        assertThat(append(1, 5, 1)).isEqualTo(BookieStatus.UNKNOWN);
        assertThat(lost.poll(10, TimeUnit.SECONDS)).isNotNull();
        assertThat(damaged).contains("1").doesNotContain("2");
        assertThat(append(1, 5, 1)).isEqualTo(BookieStatus.UNKNOWN);
        assertThat(append(2, 5, 1)).isEqualTo(BookieStatus.OK);
        assertThat(fence(1, 6).status()).isEqualTo(BookieStatus.UNKNOWN);
        assertThat(fence(2, 6).status()).isEqualTo(BookieStatus.OK);
        assertThat(create(3, 6)).isEqualTo(BookieStatus.OK);
        assertThat(diskOf(3)).isSameAs(diskOf(2));
        store.close();
        disks.forEach(SimDisk::restart);
        open();
        assertThat(store.describe(new SegmentId(1), 0).status()).isEqualTo(BookieStatus.OK);
        assertThat(append(1, 5, 1)).isEqualTo(BookieStatus.FENCED);
    }

    /** A slow disk tells by how long it takes; one that hangs is noticed without its help. */
    @Test
    void aDiskThatDoesNotComeBackFromAnFsyncCountsAsSlow() throws Exception {
        disks.remove(1);
        open();
        create(1, 5);
        append(1, 5, 0);
        assertThat(store.directories().get(0).slow()).isFalse();
        CountDownLatch back = new CountDownLatch(1);
        disks.get(0).holdForces(back);
        CompletableFuture<BookieStatus> hanging = appendLater(1, 5, 1, 500);
        skewNs.set(20_000_000_000L);
        eventually(() -> store.directories().get(0).slow());
        assertThat(registry.get("varve.bookie.disk.slow").gauge().value()).isEqualTo(1);
        assertThat(hanging).isNotDone();
        back.countDown();
        assertThat(StoreFixture.await(hanging)).isEqualTo(BookieStatus.OK);
        eventually(() -> !store.directories().get(0).slow());
    }

    private static void eventually(BooleanSupplier what) {
        long deadlineNs = System.nanoTime() + 20_000_000_000L;
        while (!what.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(deadlineNs);
            Thread.onSpinWait();
        }
    }

    /** What holds nothing is given up for what a start must write. */
    @Test
    void aDiskThatIsFullToItsLastByteDoesNotKeepABookieFromStarting() throws Exception {
        disks.remove(1);
        open();
        create(1, 5);
        append(1, 5, 0);
        eventually(() -> directoriesOpen.get(0).files().readyCount() == 2);
        store.close();
        disks.get(0).setQuota(disks.get(0).usedBytes());
        open();
        assertThat(read(1, 0)).isEqualTo(BookieStatus.OK);
        assertThat(fence(1, 5).status()).isEqualTo(BookieStatus.OK);
        store.close();
        disks.get(0).setQuota(Long.MAX_VALUE);
        open();
        assertThat(append(1, 5, 1)).isEqualTo(BookieStatus.OK);
        assertThat(damaged).isEmpty();
    }

    /** Without room for a journal file or to settle, the directory takes nothing new for a while; it is not broken. */
    @Test
    void aDiskThatRunsFullInTheBackgroundGoesOnWhenThereIsRoom() throws Exception {
        disks.remove(1);
        disks.get(0).setQuota(9 * 1024 * 1024);
        open();
        create(1, 5);
        long end = 0;
        while (readOnly.isEmpty()) {
            assertThat(append(1, 5, end)).isIn(BookieStatus.OK, BookieStatus.READ_ONLY);
            end = store.describe(new SegmentId(1), 0).end();
        }
        assertThat(readOnly.poll()).isTrue();
        assertThat(registry.counter("varve.bookie.errors", "kind", "full").count())
                .isPositive();
        assertThat(append(1, 5, end)).isEqualTo(BookieStatus.READ_ONLY);
        assertThat(read(1, 0)).isEqualTo(BookieStatus.OK);
        disks.get(0).setQuota(Long.MAX_VALUE);
        skewNs.set(20_000_000_000L);
        assertThat(readOnly.poll(10, TimeUnit.SECONDS)).isFalse();
        assertThat(append(1, 5, end)).isEqualTo(BookieStatus.OK);
        for (long offset = 0; offset <= end; offset++) {
            assertThat(read(1, offset)).isEqualTo(BookieStatus.OK);
        }
        assertThat(lost).isEmpty();
    }

    /** I-12, off the append path. */
    @Test
    void aDiskThatFailsWhileSettlingIsOutOfService() throws Exception {
        disks.remove(1);
        open();
        create(1, 5);
        long end = 0;
        disks.get(0).failWritesTo(".segment");
        while (lost.isEmpty()) {
            BookieStatus status = append(1, 5, end);
            assertThat(status).isIn(BookieStatus.OK, BookieStatus.UNKNOWN);
            end += status == BookieStatus.OK ? 1 : 0;
        }
        assertThat(append(1, 5, end)).isEqualTo(BookieStatus.UNKNOWN);
        assertThat(store.directories().get(0).state()).isEqualTo(DirectoryInfo.State.OUT_OF_SERVICE);
        assertThat(read(1, 0)).isEqualTo(BookieStatus.OK);
    }

    /** What the disk can't give at the moment is settled later; neither replica nor directory is given up for it. */
    @Test
    void aReadThatFailsWhileSettlingPutsItOff() throws Exception {
        disks.remove(1);
        open();
        create(1, 5);
        long end = 0;
        disks.get(0).failReads(5);
        while (!disks.get(0).names().contains("segments/0000000000000000001.index")) {
            assertThat(append(1, 5, end)).isEqualTo(BookieStatus.OK);
            end++;
        }
        assertThat(lost).isEmpty();
        assertThat(damaged).isEmpty();
        assertThat(read(1, 0)).isEqualTo(BookieStatus.OK);
    }

    private void scrubOnce() {
        for (DirectoryStore directory : directoriesOpen) {
            Scrubber scrubber = new Scrubber(directory, bytes -> true);
            while (scrubber.step()) {
                // Until the round is over.
            }
        }
    }

    private void flipIn(String directory, long segment, long offset) {
        byte[] wanted = new byte[16];
        StoreFixture.payload(segment, offset, 500).readBytes(wanted).release();
        for (String name : disks.get(0).names()) {
            byte[] bytes = disks.get(0).bytes(name);
            for (int at = 0; name.startsWith(directory) && at + wanted.length <= bytes.length; at++) {
                if (java.util.Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length)) {
                    disks.get(0).flip(name, at + 3, 2);
                    return;
                }
            }
        }
        throw new AssertionError("not there");
    }

    /** What nobody reads is read by the scrub, in the journal and in settled files; whoever is damaged is quarantined, and nobody else. */
    @Test
    void theScrubFindsDamageThatNobodyElseWould() throws Exception {
        disks.remove(1);
        open();
        create(1, 5);
        create(2, 5);
        long end = 0;
        while (!disks.get(0)
                .names()
                .containsAll(List.of("segments/0000000000000000001.index", "segments/0000000000000000002.index"))) {
            append(1, 5, end);
            append(2, 5, end++);
        }
        // Two or three more full files, which the journal may keep.
        for (int more = 0; more < 300; more++) {
            append(1, 5, end);
            append(2, 5, end++);
        }
        double before = registry.counter("varve.bookie.scrubbed.bytes").count();
        scrubOnce();
        assertThat(registry.counter("varve.bookie.scrubbed.bytes").count() - before)
                .isGreaterThan(1024.0 * 1024);
        assertThat(damaged).isEmpty();
        flipIn("segments", 1, 10);
        scrubOnce();
        assertThat(damaged).containsExactly("1");
        DirectoryStore directory = directoriesOpen.get(0);
        Replica other = directory.replicas().get(new SegmentId(2));
        // What is settled nobody needs any more in the journal: so nothing of this one is from here on.
        eventually(() -> directory.holdFiles(other.id()));
        long newest = Collections.max(directory.fullFiles().numbers());
        while (other.index.run(newest) == null) {
            append(2, 5, end++);
            newest = Collections.max(directory.fullFiles().numbers());
        }
        flipIn("journal", 2, other.index.run(newest).firstOffset());
        scrubOnce();
        assertThat(damaged).containsExactly("1", "2");
        assertThat(store.describe(new SegmentId(2), 0).status()).isEqualTo(BookieStatus.UNKNOWN);
    }

    /** What an earlier life of a file has left behind its end says nothing about what it holds now. */
    @Test
    void aFileThatIsUsedAgainIsReadOnceByTheScrub() throws Exception {
        disks.remove(1);
        open();
        DirectoryStore directory = directoriesOpen.get(0);
        create(1, 5);
        for (long offset = 0; directory.fullFiles().coveredNumber() < 3; offset++) {
            append(1, 5, offset, 20_000);
        }
        StoreFixture.await(store.delete(new SegmentId(1), 0));
        create(2, 5);
        eventually(() -> directory.fullFiles().needed().unneeded().isEmpty());
        long usedAgain = directory.fullFiles().coveredNumber() + 3;
        for (long offset = 0; directory.fullFiles().coveredNumber() < usedAgain; offset++) {
            append(2, 5, offset, 10_000);
        }
        double before = registry.counter("varve.bookie.scrubbed.bytes").count();
        scrubOnce();
        double read = registry.counter("varve.bookie.scrubbed.bytes").count() - before;
        assertThat(read)
                .isGreaterThan(2.5 * 1024 * 1024)
                .isLessThan(1.4 * directory.fullFiles().backlogBytes());
        assertThat(damaged).isEmpty();
    }

    /** The index of a full journal file is there to be quick: without it, and with a damaged one, everything is found all the same. */
    @Test
    void damagedIndexesOfJournalFilesAreMadeAnew() throws Exception {
        disks.remove(1);
        open();
        create(1, 5);
        for (int offset = 0; offset < 900; offset++) {
            append(1, 5, offset);
        }
        for (String name : disks.get(0).names()) {
            if (name.startsWith("journal/") && name.endsWith(".index")) {
                disks.get(0).flip(name, 60, 3);
            }
        }
        for (long offset = 0; offset < 900; offset += 10) {
            assertThat(read(1, offset)).isEqualTo(BookieStatus.OK);
        }
        assertThat(registry.counter("varve.bookie.errors", "kind", "index").count())
                .isPositive();
        store.close();
        open();
        for (long offset = 0; offset < 900; offset += 10) {
            assertThat(read(1, offset)).isEqualTo(BookieStatus.OK);
        }
        assertThat(damaged).isEmpty();
    }

    @Test
    void aFullDiskTakesNoAppendsButFencesAndDeletions() throws Exception {
        open();
        create(1, 5);
        append(1, 5, 0);
        disks.forEach(disk -> disk.setFreeBytes(-10L * 1024 * 1024));
        assertThat(readOnly.poll(10, TimeUnit.SECONDS)).isTrue();
        assertThat(store.isReadOnly()).isTrue();
        assertThat(append(1, 5, 1)).isEqualTo(BookieStatus.READ_ONLY);
        assertThat(create(2, 5)).isEqualTo(BookieStatus.READ_ONLY);
        assertThat(read(1, 0)).isEqualTo(BookieStatus.OK);
        assertThat(fence(1, 6).status()).isEqualTo(BookieStatus.OK);
        assertThat(StoreFixture.await(store.delete(new SegmentId(1), 0))).isEqualTo(BookieStatus.OK);
        disks.forEach(disk -> disk.setFreeBytes(1L << 40));
        assertThat(readOnly.poll(10, TimeUnit.SECONDS)).isFalse();
        assertThat(create(2, 6)).isEqualTo(BookieStatus.OK);
        assertThat(append(2, 6, 0)).isEqualTo(BookieStatus.OK);
    }

    /** S25: what drains a full disk needs the topics that the cluster itself stands on; they have the first half of the reserve. */
    @Test
    void aFullDiskTakesWhatTheClusterStandsOnUntilHalfOfTheReserveIsLeft() throws Exception {
        open();
        // A simulated disk gets neither fuller nor emptier by a journal file that is made ready or begun: after what is
        // free was set, none may be. A fence is written in every directory.
        fence(1, 5);
        create(1, 5);
        append(1, 5, 0);
        directoriesOpen.forEach(directory -> eventually(() -> directory.files().readyCount() == 2));
        long reserveBytes = StoreFixture.options(Path.of("unused")).diskReserveBytes();
        essential.set(true);
        setFree(reserveBytes * 3 / 4);
        assertThat(readOnly.poll(10, TimeUnit.SECONDS)).isTrue();
        assertThat(append(1, 5, 1)).isEqualTo(BookieStatus.OK);
        assertThat(create(2, 5)).isEqualTo(BookieStatus.OK);
        assertThat(append(2, 5, 0)).isEqualTo(BookieStatus.OK);
        essential.set(false);
        assertThat(append(1, 5, 2)).as("another partition").isEqualTo(BookieStatus.READ_ONLY);
        assertThat(create(3, 5)).isEqualTo(BookieStatus.READ_ONLY);
        essential.set(true);
        setFree(reserveBytes / 4);
        awaitRefusal(2, 5, 1);
        awaitRefusalOfNew(4, 5);
        assertThat(fence(1, 6).status()).isEqualTo(BookieStatus.OK);
    }

    /** Journal files that are ready count as free: the journal has them already. */
    private void setFree(long bytes) {
        long fileBytes = StoreFixture.options(Path.of("unused")).journalFileBytes();
        for (int i = 0; i < disks.size(); i++) {
            JournalFiles files = directoriesOpen.get(i).files();
            disks.get(i).setFreeBytes(bytes - (files.readyCount() + files.freeCount()) * fileBytes);
        }
    }

    /** The disk is looked at now and then. */
    private void awaitRefusal(long segment, int epoch, long firstOffset) throws Exception {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        for (long offset = firstOffset; append(segment, epoch, offset) != BookieStatus.READ_ONLY; offset++) {
            assertThat(System.nanoTime()).as("it is never refused").isLessThan(deadlineNs);
        }
    }

    /** Each directory looks at its own disk in its own time. */
    private void awaitRefusalOfNew(long firstSegment, int epoch) throws Exception {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        for (long segment = firstSegment; create(segment, epoch) != BookieStatus.READ_ONLY; segment++) {
            assertThat(System.nanoTime()).as("it is never refused").isLessThan(deadlineNs);
        }
    }

    /** I-7: a read that fails, a copy that is damaged, and one that isn't here are three answers. */
    @Test
    void aFailedReadIsNoDamageAndDamageIsNoAbsence() throws Exception {
        open();
        create(1, 5);
        append(1, 5, 0);
        append(1, 5, 1);
        SimDisk disk = diskOf(1);
        store.close();
        open();
        disk.failReads(1);
        assertThat(read(1, 0)).isEqualTo(BookieStatus.IO_ERROR);
        assertThat(read(1, 0)).isEqualTo(BookieStatus.OK);
        String journal = disk.names().stream()
                .filter(name -> name.endsWith(".journal"))
                .findFirst()
                .orElseThrow();
        byte[] bytes = disk.bytes(journal);
        byte[] wanted = new byte[16];
        StoreFixture.payload(1, 0, 500).readBytes(wanted).release();
        disk.flip(journal, indexOf(bytes, wanted) + 3, 2);
        assertThat(read(1, 0)).isEqualTo(BookieStatus.CORRUPT);
        assertThat(damaged).containsExactly("1");
        assertThat(fence(1, 6).status()).isEqualTo(BookieStatus.UNKNOWN);
        assertThat(read(9, 0)).isEqualTo(BookieStatus.NO_SUCH_SEGMENT);
        store.close();
        open();
        assertThat(store.describe(new SegmentId(1), 0).status()).isEqualTo(BookieStatus.UNKNOWN);
    }

    private static int indexOf(byte[] in, byte[] what) {
        for (int at = 0; at + what.length <= in.length; at++) {
            if (java.util.Arrays.equals(in, at, at + what.length, what, 0, what.length)) {
                return at;
            }
        }
        throw new AssertionError("not there");
    }

    @Test
    void swappedDirectoriesAreTheSameDirectories() throws Exception {
        open();
        create(1, 5);
        append(1, 5, 0);
        store.close();
        java.util.Collections.swap(disks, 0, 1);
        open();
        assertThat(append(1, 5, 1)).isEqualTo(BookieStatus.OK);
    }

    /** I-13. */
    @Test
    void aCopyOfADirectoryOrADamagedCookieIsRefused() throws Exception {
        open();
        store.close();
        store = null;
        SimDisk twin = disks.get(0).copy(9);
        disks.set(1, twin);
        assertThatThrownBy(this::open).isInstanceOf(StartupException.class).hasMessageContaining("copy");
        twin.flip("COOKIE", 40, 1);
        assertThatThrownBy(this::open).isInstanceOf(StartupException.class).hasMessageContaining("checksum");
    }

    @Test
    void aDirectoryThatLostItsSnapshotsSaysSo() throws Exception {
        open();
        store.close();
        store = null;
        SimDisk disk = disks.get(0);
        for (String name : disk.names()) {
            if (name.startsWith("snapshot")) {
                disk.delete(name);
            }
        }
        assertThatThrownBy(this::open)
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("no readable snapshot");
    }

    /** The first entry comes whole, however little is asked for: that counts too. */
    @Test
    void readersWhoAskForLittleHoldNoMoreThanTheirBudget() throws Exception {
        open();
        create(1, 5);
        int bytes = 500_000;
        append(1, 5, 0, bytes);
        List<CompletableFuture<ReadReply>> replies = new ArrayList<>();
        for (int reader = 0; reader < 200; reader++) {
            replies.add(store.read(new SegmentId(1), 0, 1, ReadPriority.CATCH_UP));
        }
        for (CompletableFuture<ReadReply> reply : replies) {
            ReadReply got = StoreFixture.await(reply);
            assertThat(got.entries().readableBytes()).isGreaterThan(bytes);
            assertThat(store.catchUpBytesHeld()).isLessThanOrEqualTo(4 * 1024 * 1024 + 2 * 600_000);
            got.entries().release();
        }
        assertThat(store.catchUpBytesHeld()).isZero();
    }

    /** Memory is bounded by the lane's budget, not by how many ask. */
    @Test
    void slowReadersHoldNoMoreThanTheirBudget() throws Exception {
        open();
        create(1, 5);
        for (int at = 0; at < 200; at++) {
            append(1, 5, at);
        }
        List<CompletableFuture<ReadReply>> replies = new ArrayList<>();
        for (int reader = 0; reader < 200; reader++) {
            replies.add(store.read(new SegmentId(1), 0, 512 * 1024, ReadPriority.CATCH_UP));
        }
        // Eight of them fit into four MiB; the others wait until somebody lets go.
        StoreFixture.await(CompletableFuture.anyOf(replies.toArray(CompletableFuture[]::new)));
        assertThat(store.catchUpBytesHeld()).isLessThanOrEqualTo(4 * 1024 * 1024);
        assertThat(replies.stream().filter(CompletableFuture::isDone).count()).isLessThanOrEqualTo(8);
        // The tail is not disturbed.
        assertThat(read(1, 199)).isEqualTo(BookieStatus.OK);
        for (CompletableFuture<ReadReply> reply : replies) {
            ReadReply got = StoreFixture.await(reply);
            assertThat(got.status()).isEqualTo(BookieStatus.OK);
            got.entries().release();
        }
        assertThat(store.catchUpBytesHeld()).isZero();
    }
}
