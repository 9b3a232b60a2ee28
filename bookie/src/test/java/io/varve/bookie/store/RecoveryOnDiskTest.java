package io.varve.bookie.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.StartupException;
import io.varve.base.TopicId;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.DirectoryRecovery;
import io.varve.bookie.core.DirectoryRecovery.DirectoryCase;
import io.varve.bookie.core.DirectoryRecovery.FileCase;
import io.varve.bookie.core.DirectoryRecovery.ReplicaCase;
import io.varve.bookie.core.JournalRecovery;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.core.RecoveryRule;
import io.varve.bookie.store.JournalOnDisk.Found;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.SealedSegmentSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * For every label of the recovery tables a data directory that shows it: real files, which a store has written and which were then changed as a crash, a disk or a
 * person changes them; and what the next start answers (I-5, I-7, I-18). The switches have no default: a label without a disk doesn't compile.
 */
class RecoveryOnDiskTest {

    private static final int FILE_BYTES = 64 * 1024;
    /** What a bookie that can't vouch for a segment says instead of its end. */
    private static final long UNKNOWN = -1;

    private static final int FENCED_AT = 9;
    private static final String CLUSTER = "test-cluster";

    @TempDir
    Path root;

    private final Set<JournalRecovery.Case> placesMet = EnumSet.noneOf(JournalRecovery.Case.class);
    private final Set<DirectoryCase> directoriesMet = EnumSet.noneOf(DirectoryCase.class);
    private final Set<FileCase> filesMet = EnumSet.noneOf(FileCase.class);
    private final Set<ReplicaCase> replicasMet = EnumSet.noneOf(ReplicaCase.class);

    /** Decides as ever, and remembers what was met. */
    private final class Listening implements RecoveryRule {
        @Override
        public JournalRecovery.Decision decide(
                JournalRecovery.Head head,
                JournalRecovery.Order order,
                JournalRecovery.Payload payload,
                JournalRecovery.Place place,
                JournalRecovery.Later later) {
            JournalRecovery.Case is = JournalRecovery.caseOf(head, order, payload, place, later);
            placesMet.add(is);
            return is.decision();
        }

        @Override
        public DirectoryCase directoryCase(
                DirectoryRecovery.Cookie cookie,
                DirectoryRecovery.Content content,
                DirectoryRecovery.Twin twin,
                DirectoryRecovery.Siblings siblings,
                DirectoryRecovery.Snapshots snapshots) {
            DirectoryCase is = RecoveryRule.super.directoryCase(cookie, content, twin, siblings, snapshots);
            directoriesMet.add(is);
            return is;
        }

        @Override
        public FileCase fileCase(
                DirectoryRecovery.Covered covered, DirectoryRecovery.File file, DirectoryRecovery.Index index) {
            FileCase is = RecoveryRule.super.fileCase(covered, file, index);
            filesMet.add(is);
            return is;
        }

        @Override
        public ReplicaCase replicaCase(
                DirectoryRecovery.Entries entries, DirectoryRecovery.Journal journal, DirectoryRecovery.End end) {
            ReplicaCase is = RecoveryRule.super.replicaCase(entries, journal, end);
            replicasMet.add(is);
            return is;
        }
    }

    private Path one() {
        return root.resolve("one");
    }

    private Path two() {
        return root.resolve("two");
    }

    private static StoreOptions options(Path... directories) {
        return StoreFixture.options(directories).withJournalFileBytes(FILE_BYTES);
    }

    private static StoreFixture writer(Path... directories) {
        return new StoreFixture(options(directories));
    }

    private StoreFixture start(Path... directories) throws IOException {
        return new StoreFixture(options(directories), new Listening());
    }

    /** Two open segments with three entries each, turn by turn, all in the first journal file; and a mark behind them. */
    private JournalOnDisk twoSegments() throws IOException {
        try (StoreFixture it = writer(one())) {
            it.create(1, 1, 0);
            it.create(2, 1, 0);
            for (int offset = 0; offset < 3; offset++) {
                assertThat(it.append(1, 1, offset, 1, 700).status()).isEqualTo(BookieStatus.OK);
                assertThat(it.append(2, 1, offset, 1, 700).status()).isEqualTo(BookieStatus.OK);
            }
        }
        return JournalOnDisk.read(one(), 1);
    }

    /** A segment all in the first file, and another that goes on through two more. */
    private void threeFiles() throws IOException {
        try (StoreFixture it = writer(one())) {
            Files.copy(one().resolve(Snapshot.name(0)), root.resolve("first-snapshot"));
            it.create(1, 1, 0);
            it.append(1, 1, 0, 1, 700);
            it.create(2, 1, 0);
            for (int offset = 0; offset < 30; offset++) {
                assertThat(it.append(2, 1, offset, 1, 4000).status()).isEqualTo(BookieStatus.OK);
            }
        }
    }

    private static final long IN_THREE_FILES = 30;

    /** As if the process had died before it could write any but the first. */
    private void forgetSnapshots() throws IOException {
        delete(one(), name -> name.startsWith("snapshot-"));
        delete(one().resolve("journal"), name -> name.endsWith(".index"));
        Files.copy(root.resolve("first-snapshot"), one().resolve(Snapshot.name(0)));
    }

    private static void delete(Path directory, java.util.function.Predicate<String> which) throws IOException {
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) {
                if (which.test(file.getFileName().toString())) {
                    Files.delete(file);
                }
            }
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (var files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file)));
            }
        }
    }

    private static long end(StoreFixture it, long segment) {
        FenceReply said = it.store.describe(new SegmentId(segment), 0);
        if (said.status() == BookieStatus.UNKNOWN) {
            return UNKNOWN;
        }
        assertThat(said.status()).isEqualTo(BookieStatus.OK);
        assertThat(it.readAll(segment, 0, 10_000)).isEqualTo(said.end());
        return said.end();
    }

    /** Starts twice, because what was decided once must stay decided. */
    private void startAndFind(long endOfOne, long endOfTwo) throws IOException {
        for (int time = 0; time < 2; time++) {
            try (StoreFixture it = start(one())) {
                assertThat(end(it, 1)).isEqualTo(endOfOne);
                assertThat(end(it, 2)).isEqualTo(endOfTwo);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyPlaceInAJournal(JournalRecovery.Case is) throws IOException {
        switch (is) {
            case RECORD, UNWRITTEN -> {
                twoSegments();
                startAndFind(3, 3);
            }
            case PAYLOAD_TORN -> {
                JournalOnDisk journal = twoSegments();
                Found last = journal.lastEntry();
                journal.flipPayloadOf(last);
                journal.eraseFrom(last.end());
                journal.save();
                startAndFind(3, 2);
            }
            case PAYLOAD_DAMAGED -> {
                JournalOnDisk journal = twoSegments();
                journal.flipPayloadOf(journal.entry(1, 1));
                journal.save();
                startAndFind(UNKNOWN, 3);
            }
            case NUMBER_TWICE -> {
                JournalOnDisk journal = twoSegments();
                Found last = journal.lastEntry();
                journal.flipPayloadOf(last);
                journal.eraseFrom(last.end());
                journal.save();
                JournalOnDisk next = JournalOnDisk.read(one(), 2);
                next.putMark(JournalOnDisk.BLOCK, last.sequence());
                next.save();
                startAndFind(UNKNOWN, UNKNOWN);
            }
            case OUT_OF_ORDER -> {
                JournalOnDisk journal = twoSegments();
                journal.putMark(journal.last().end(), journal.last().sequence() + 5);
                journal.save();
                startAndFind(UNKNOWN, UNKNOWN);
            }
            case EARLIER_LIFE -> {
                JournalOnDisk journal = twoSegments();
                journal.putMark(journal.last().end(), journal.last().sequence() + 1, 77);
                journal.save();
                startAndFind(3, 3);
            }
            case GROUP_HEAD_TORN -> {
                JournalOnDisk journal = twoSegments();
                int at = journal.last().end();
                journal.putMark(at, journal.last().sequence() + 1);
                // A length that is impossible, in a head that was never whole.
                journal.putInt(at + 8, Integer.MAX_VALUE);
                journal.save();
                startAndFind(3, 3);
            }
            case LAST_BYTE -> {
                JournalOnDisk journal = twoSegments();
                journal.saveEndingAt(journal.last().end());
                startAndFind(3, 3);
            }
            case NEXT_FILE -> {
                threeFiles();
                forgetSnapshots();
                startAndFind(1, IN_THREE_FILES);
            }
            case GROUP_MISSING -> {
                JournalOnDisk journal = twoSegments();
                Found lost = journal.entry(1, 1);
                journal.erase(lost.group(), (int) (lost.end() - lost.group()));
                journal.save();
                startAndFind(UNKNOWN, UNKNOWN);
            }
            case FILE_MISSING -> {
                threeFiles();
                forgetSnapshots();
                JournalOnDisk first = JournalOnDisk.read(one(), 1);
                first.saveEndingAt(first.last().end());
                Files.delete(JournalOnDisk.path(one(), 2));
                startAndFind(UNKNOWN, UNKNOWN);
            }
            case GROUP_TORN -> {
                groupWithDamage(true);
                startAndFind(3, 3);
                try (StoreFixture it = start(one())) {
                    assertThat(isFenced(it, 10)).as("before the tear").isTrue();
                    assertThat(isFenced(it, 11)).as("torn").isFalse();
                    assertThat(isFenced(it, 12)).as("behind the tear").isFalse();
                }
            }
            case GROUP_DAMAGED -> {
                groupWithDamage(false);
                startAndFind(UNKNOWN, UNKNOWN);
            }
        }
        assertThat(placesMet).contains(is);
    }

    /** Damages the second of three records that were made durable together; and has their group be the last one, or not. */
    private void groupWithDamage(boolean last) throws IOException {
        twoSegments();
        try (StoreFixture it = writer(one())) {
            List<FenceRequest> requests = new ArrayList<>();
            for (int partition = 10; partition < 13; partition++) {
                requests.add(new FenceRequest(
                        new PartitionId(new TopicId(1, 2), partition), FENCED_AT, new SegmentId(99), 0));
            }
            StoreFixture.await(it.store.fence(requests));
        }
        JournalOnDisk journal = lastWritten(RecordType.FENCE);
        List<Found> fences = journal.records().stream()
                .filter(found -> found.type() == RecordType.FENCE)
                .toList();
        assertThat(fences).hasSize(3);
        assertThat(fences.get(2).group()).isEqualTo(fences.get(0).group());
        journal.flip(fences.get(1).position() + 13);
        if (last) {
            journal.eraseFrom(fences.get(2).end());
        }
        journal.save();
    }

    /** Whether such a fence stands: an append at an epoch below it is refused. */
    private static boolean isFenced(StoreFixture it, int partition) {
        FenceRequest lower =
                new FenceRequest(new PartitionId(new TopicId(1, 2), partition), FENCED_AT - 1, new SegmentId(99), 0);
        return StoreFixture.await(it.store.fence(List.of(lower))).get(0).status() == BookieStatus.FENCED;
    }

    @ParameterizedTest
    @EnumSource
    void everyJournalFile(FileCase is) throws IOException {
        switch (is) {
            case INDEXED -> {
                coveredFiles();
                startAndFind(1, IN_THREE_FILES);
            }
            case INDEX_MISSING -> {
                coveredFiles();
                Files.delete(one().resolve(JournalIndexFile.name(1)));
                Path damaged = one().resolve(JournalIndexFile.name(2));
                byte[] bytes = Files.readAllBytes(damaged);
                bytes[bytes.length / 2] ^= 1;
                Files.write(damaged, bytes);
                startAndFind(1, IN_THREE_FILES);
            }
            case GONE -> {
                coveredFiles();
                Files.delete(JournalOnDisk.path(one(), 2));
                startAndFind(1, UNKNOWN);
            }
            case TO_BE_SCANNED -> {
                threeFiles();
                forgetSnapshots();
                startAndFind(1, IN_THREE_FILES);
            }
            case LOST -> {
                threeFiles();
                forgetSnapshots();
                JournalOnDisk second = JournalOnDisk.read(one(), 2);
                second.flip(9);
                second.save();
                startAndFind(UNKNOWN, UNKNOWN);
            }
        }
        assertThat(filesMet).contains(is);
    }

    /** Indexes aren't forced to the disk: what a crash leaves of them is made anew from their journal files, byte for byte. */
    @Test
    void indexesThatACrashTookAwayAreMadeAnewFromTheirJournalFiles() throws IOException {
        coveredFiles();
        List<Path> indexes = List.of(one().resolve(JournalIndexFile.name(1)), one().resolve(JournalIndexFile.name(2)));
        byte[] first = Files.readAllBytes(indexes.get(0));
        byte[] second = Files.readAllBytes(indexes.get(1));
        Files.delete(indexes.get(0));
        Files.write(indexes.get(1), new byte[0]);
        startAndFind(1, IN_THREE_FILES);
        assertThat(indexes.get(0)).hasBinaryContent(first);
        assertThat(indexes.get(1)).hasBinaryContent(second);
    }

    /** As {@link #threeFiles}, and a start that has made a snapshot and all indexes. */
    private void coveredFiles() throws IOException {
        threeFiles();
        writer(one()).close();
    }

    @ParameterizedTest
    @EnumSource
    void everyDirectory(DirectoryCase is) throws IOException {
        switch (is) {
            case NEW -> {
                try (StoreFixture it = start(one())) {
                    assertThat(it.store.inventory()).isEmpty();
                    assertThat(it.create(1, 1, 0).status()).isEqualTo(BookieStatus.OK);
                }
                assertThat(one().resolve(Cookie.NAME)).exists();
            }
            case OURS -> {
                twoDirectories();
                // Swapped: which is mounted where says nothing (I-13).
                Files.move(one(), root.resolve("other"));
                Files.move(two(), one());
                Files.move(root.resolve("other"), two());
                try (StoreFixture it = start(one(), two())) {
                    assertThat(end(it, 1)).isEqualTo(1);
                    assertThat(end(it, 2)).isEqualTo(1);
                    assertThat(it.append(1, 1, 1, 1, 10).status()).isEqualTo(BookieStatus.OK);
                    assertThat(it.append(2, 1, 1, 1, 10).status()).isEqualTo(BookieStatus.OK);
                }
                assertThat(directoriesMet).containsExactly(DirectoryCase.OURS);
            }
            case SIBLING_LOST -> {
                twoDirectories();
                try (StoreFixture it = start(one())) {
                    long here = it.store.inventory().get(0).segment().value();
                    assertThat(end(it, here)).isEqualTo(1);
                    assertThat(end(it, 3 - here)).isEqualTo(UNKNOWN);
                    assertThat(end(it, 9)).isEqualTo(UNKNOWN);
                    assertThat(it.fence(3 - here, 2).status()).isEqualTo(BookieStatus.UNKNOWN);
                }
            }
            case SNAPSHOT_LOST -> {
                twoSegments();
                delete(one(), name -> name.startsWith("snapshot-"));
                refuses("no readable snapshot", options(one()));
            }
            case COOKIE_MISSING -> {
                twoSegments();
                Files.delete(one().resolve(Cookie.NAME));
                refuses("no cookie", options(one()));
            }
            case COOKIE_UNREADABLE -> {
                twoSegments();
                byte[] cookie = Files.readAllBytes(one().resolve(Cookie.NAME));
                for (int at = 0; at < cookie.length; at++) {
                    byte[] flipped = cookie.clone();
                    flipped[at] ^= 2;
                    Files.write(one().resolve(Cookie.NAME), flipped);
                    refuses("not usable here", options(one()));
                }
            }
            case CLUSTER_DIFFERS -> {
                twoSegments();
                refuses("belongs to cluster " + CLUSTER, of("another-cluster", 7, one()));
            }
            case BOOKIE_DIFFERS -> {
                twoSegments();
                refuses("belongs to bookie 7", of(CLUSTER, 8, one()));
            }
            case COPY -> {
                twoSegments();
                copy(one(), two());
                refuses("copy of another", options(one(), two()));
            }
        }
        assertThat(directoriesMet).contains(is);
    }

    /** One segment with one entry in each of two directories. */
    private void twoDirectories() {
        try (StoreFixture it = writer(one(), two())) {
            for (long segment = 1; segment <= 2; segment++) {
                it.create(segment, 1, 0);
                it.append(segment, 1, 0, 1, 700);
            }
            long first = it.store.inventory().get(0).incarnation();
            assertThat(it.store.inventory().get(1).incarnation()).isNotEqualTo(first);
        }
    }

    private static StoreOptions of(String cluster, int bookie, Path directory) {
        StoreOptions defaults = StoreOptions.defaults(cluster, new BookieId(bookie), List.of(directory));
        return defaults.withJournalFileBytes(FILE_BYTES);
    }

    /** And changes nothing: nobody knows whose it is. */
    private void refuses(String why, StoreOptions options) throws IOException {
        List<String> before = listing();
        assertThatThrownBy(() -> new StoreFixture(options, new Listening()))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining(why);
        assertThat(listing()).isEqualTo(before);
    }

    private List<String> listing() throws IOException {
        try (var files = Files.walk(root)) {
            return files.filter(Files::isRegularFile)
                    .map(file -> root.relativize(file) + " " + file.toFile().length())
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyReplica(ReplicaCase is) throws IOException {
        switch (is) {
            case INTACT -> {
                settledSegment();
                startAndFind(20, 3);
            }
            case SETTLED_FILE_LOST -> {
                settledSegment();
                Path file = one().resolve(SegmentFiles.data(new SegmentId(1)));
                byte[] whole = Files.readAllBytes(file);
                Files.write(file, java.util.Arrays.copyOf(whole, whole.length - 1));
                startAndFind(UNKNOWN, 3);
                Files.delete(file);
                startAndFind(UNKNOWN, 3);
            }
            case ENTRIES_LOST -> {
                coveredFiles();
                Files.delete(JournalOnDisk.path(one(), 2));
                startAndFind(1, UNKNOWN);
            }
            case END_IN_DOUBT -> {
                settledSegment();
                JournalOnDisk journal = JournalOnDisk.read(one(), 1);
                journal.putMark(journal.last().end(), journal.last().sequence() + 5);
                journal.save();
                startAndFind(UNKNOWN, UNKNOWN);
                // The sealed one ends where it ends, whatever is missing: nobody appends to it, and it can be read.
                assertThat(replicasMet).contains(ReplicaCase.INTACT);
                try (StoreFixture it = start(one())) {
                    assertThat(it.readStatus(1, 0)).isEqualTo(BookieStatus.OK);
                }
            }
        }
        assertThat(replicasMet).contains(is);
    }

    /** The last journal file that holds such a record. */
    private JournalOnDisk lastWritten(RecordType type) throws IOException {
        JournalOnDisk last = null;
        for (long number = 1; number < 10; number++) {
            if (Files.exists(JournalOnDisk.path(one(), number))) {
                JournalOnDisk next = JournalOnDisk.read(one(), number);
                last = next.records().stream().anyMatch(found -> found.type() == type) ? next : last;
            }
        }
        return last;
    }

    /** A sealed segment that came from another bookie into a file of its own, and an open one in the journal. */
    private void settledSegment() throws IOException {
        SegmentDescriptor sealed = StoreFixture.sealed(1, 1, 0, 20);
        try (StoreFixture from = writer(two());
                StoreFixture it = writer(one())) {
            from.create(1, 1, 0);
            from.appendMany(1, 1, 0, 20, 500).forEach(StoreFixture::await);
            try (SealedSegmentSource source = from.store.openSealed(sealed);
                    SegmentImport copy = it.store.importSegment(sealed, 0)) {
                for (Optional<ByteBuffer> entries = source.next(100_000);
                        entries.isPresent();
                        entries = source.next(100_000)) {
                    copy.write(entries.get());
                }
                copy.complete();
            }
            it.create(2, 1, 0);
            for (int offset = 0; offset < 3; offset++) {
                it.append(2, 1, offset, 1, 700);
            }
        }
    }
}
