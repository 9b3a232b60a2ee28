package io.varve.bookie.store;

import io.varve.base.Invariant;
import io.varve.base.SegmentId;
import io.varve.base.StartupException;
import io.varve.base.StartupException.Reason;
import io.varve.bookie.core.DirectoryRecovery;
import io.varve.bookie.core.DirectoryRecovery.Content;
import io.varve.bookie.core.DirectoryRecovery.Covered;
import io.varve.bookie.core.DirectoryRecovery.End;
import io.varve.bookie.core.DirectoryRecovery.Entries;
import io.varve.bookie.core.DirectoryRecovery.File;
import io.varve.bookie.core.DirectoryRecovery.FileCase;
import io.varve.bookie.core.DirectoryRecovery.Index;
import io.varve.bookie.core.DirectoryRecovery.Journal;
import io.varve.bookie.core.DirectoryRecovery.ReplicaCase;
import io.varve.bookie.core.DirectoryRecovery.Siblings;
import io.varve.bookie.core.DirectoryRecovery.Snapshots;
import io.varve.bookie.core.DirectoryRecovery.Twin;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.core.RecoveryRule;
import io.varve.bookie.core.SegmentReplica;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.DiskFile;
import io.varve.bookie.journal.JournalFiles;
import io.varve.bookie.journal.JournalScanner;
import io.varve.protocol.storage.EntryFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a directory back: the newest snapshot, the indexes of the journal files that it covers, and then the records of the files after it, one by one. Used
 * once, by one thread, before the directory serves.
 */
final class DirectoryLoader {

    private static final Logger LOG = LoggerFactory.getLogger(DirectoryLoader.class);

    private final DirectoryStore directory;
    private final Disk disk;
    private final RecoveryRule rule;
    private final SortedMap<SegmentId, Replica> replicas = new TreeMap<>();
    private final List<Long> scanned = new ArrayList<>();
    private final List<Long> covered = new ArrayList<>();
    private final List<Long> unindexed = new ArrayList<>();
    private final List<String> free = new ArrayList<>();
    private final JournalReplay replay;

    private long maxNumber;
    private long nextSequence;
    private JournalScanner.FileEnd lastEnd;

    DirectoryLoader(DirectoryStore directory, Disk disk) {
        this.directory = directory;
        this.disk = disk;
        this.replay = new JournalReplay(directory, replicas);
        this.rule = directory.shared.recoveryRule;
    }

    /** What was found. */
    SortedMap<SegmentId, Replica> replicas() {
        return replicas;
    }

    /** The files that were scanned and hold something, in order. */
    List<Long> scanned() {
        return scanned;
    }

    /** The files that the snapshot covers. */
    List<Long> covered() {
        return covered;
    }

    /** The files that have no intact index and hold something. */
    List<Long> unindexed() {
        return unindexed;
    }

    /** Files that hold nothing that counts, by name. */
    List<String> free() {
        return free;
    }

    /** The highest number a file ever had. */
    long maxNumber() {
        return maxNumber;
    }

    /** Of the next record. */
    long nextSequence() {
        return nextSequence;
    }

    /** Whether records that were durable are missing, nobody knows whose. */
    boolean isDamaged() {
        return replay.isDamaged();
    }

    void load() throws IOException {
        Snapshot snapshot = Snapshot.readNewest(disk, directory.incarnation());
        if (snapshot == null) {
            checkRefused(Snapshots.NONE);
            throw new StartupException(
                    Reason.DISK,
                    "The data directory " + disk.name()
                            + " has a cookie but no readable snapshot: what it held is lost. Empty it to start it anew.");
        }
        applySnapshot(snapshot);
        List<Long> toScan = new ArrayList<>();
        maxNumber = snapshot.fileNumber();
        for (String name : disk.list(JournalFiles.DIRECTORY)) {
            long number = JournalFiles.numberOf(name);
            if (number > 0) {
                (number <= snapshot.fileNumber() ? covered : toScan).add(number);
                maxNumber = Math.max(maxNumber, number);
            } else if (JournalFiles.isFree(name)) {
                free.add(name);
            }
        }
        loadIndexes(snapshot);
        scan(snapshot, toScan);
        repointCheckpoints();
        checkWhole();
        if (replay.lost() > 0) {
            LOG.error(
                    "replicas=lost directory={} count={} journal_damaged={}",
                    disk.name(),
                    replay.lost(),
                    replay.isDamaged());
        }
        deleteOrphans();
    }

    private void checkRefused(Snapshots snapshots) {
        DirectoryRecovery.DirectoryCase is = rule.directoryCase(
                DirectoryRecovery.Cookie.OURS, Content.FILES, Twin.NONE, Siblings.COMPLETE, snapshots);
        Invariant.check(is.decision() == DirectoryRecovery.Decision.REFUSE, "without a snapshot nothing is opened");
    }

    private void repointCheckpoints() {
        for (Replica replica : replay.settledAnew()) {
            findCheckpoints(replica, here -> CheckpointFile.repoint(replica.acceptedCheckpoints, here.keySet()));
        }
        for (Replica replica : replay.imported()) {
            findCheckpoints(replica, CheckpointFile::references);
        }
    }

    private void findCheckpoints(
            Replica replica, Function<SortedMap<Long, ByteBuffer>, List<CheckpointRef>> referencesTo) {
        if (replicas.get(replica.id()) == replica) {
            try {
                replica.acceptedCheckpoints = referencesTo.apply(CheckpointFile.read(disk, replica.id()));
                replica.checkpoints = replica.acceptedCheckpoints;
            } catch (IOException unreadable) {
                LOG.warn("checkpoints=unreadable segment={} why=\"{}\"", replica.id(), unreadable.toString());
            }
        }
    }

    /** Files of segments that are not, or no longer, here. An import that has not come to its end is left for the next one. */
    private void deleteOrphans() throws IOException {
        if (replay.isDamaged()) {
            return;
        }
        for (String name : disk.list(SegmentFiles.DIRECTORY)) {
            long segment = SegmentFiles.segmentOf(name);
            if (segment > 0 && !name.endsWith(".import") && !replicas.containsKey(new SegmentId(segment))) {
                disk.delete(SegmentFiles.DIRECTORY + "/" + name);
            }
        }
    }

    private void applySnapshot(Snapshot snapshot) {
        for (Snapshot.FenceState fence : snapshot.fences()) {
            directory.shared.fence(fence.partition()).raise(fence.epoch());
        }
        for (Snapshot.ReplicaState saved : snapshot.replicas()) {
            Replica replica = new Replica(
                    new SegmentReplica(
                            saved.segment(),
                            directory.shared.fence(saved.partition()),
                            saved.epoch(),
                            saved.startOffset(),
                            saved.end(),
                            saved.highWatermark(),
                            saved.sealedEnd(),
                            saved.sealEpoch()),
                    directory,
                    Replica.Phase.LIVE);
            replica.settle(saved.settled());
            replica.health = saved.health();
            replica.bytes = saved.bytes();
            replica.checkpoints = saved.checkpoints();
            replica.acceptedCheckpoints = saved.checkpoints();
            replicas.put(saved.segment(), replica);
        }
        nextSequence = snapshot.nextSequence();
    }

    private void loadIndexes(Snapshot snapshot) throws IOException {
        long expected = covered.isEmpty() ? snapshot.fileNumber() + 1 : covered.get(0);
        for (long number : covered) {
            if (number != expected) {
                checkGone();
            }
            loadIndex(number);
            expected = number + 1;
        }
        if (expected <= snapshot.fileNumber()) {
            checkGone();
        }
    }

    /** Most of what is gone was needed no more; who has entries in it is found out when all is read. */
    private void checkGone() {
        FileCase is = rule.fileCase(Covered.YES, File.MISSING, Index.NONE);
        Invariant.check(is == FileCase.GONE, "a full file that isn't there is no damage by itself");
    }

    private void loadIndex(long number) throws IOException {
        boolean read = JournalIndexFile.read(
                disk,
                directory.incarnation(),
                number,
                (segment, first, end, rowsAt, rows) -> addRun(segment, number, first, end, rowsAt, rows));
        FileCase is = rule.fileCase(Covered.YES, File.INTACT, read ? Index.INTACT : Index.NONE);
        if (is == FileCase.INDEX_MISSING) {
            unindexed.add(number);
            LOG.warn("journal_index=missing directory={} file={} action=read_journal", disk.name(), number);
            try (DiskFile file = disk.open(JournalFiles.name(number))) {
                new JournalScanner(directory.incarnation(), -1, rule)
                        .scan(source(number, file), List.of(), new EntriesOnly());
            }
        }
    }

    private void addRun(SegmentId segment, long file, long first, long end, long rowsAt, int rows) {
        Replica replica = replicas.get(segment);
        if (replica != null && end > replica.settled.end() && end <= replica.state.acceptedEnd()) {
            if (!replica.index.addSaved(file, first, end, rowsAt, rows)) {
                replica.index.clear();
                replica.index.addSaved(file, first, end, rowsAt, rows);
            }
        }
    }

    private void scan(Snapshot snapshot, List<Long> toScan) throws IOException {
        JournalScanner scanner = new JournalScanner(directory.incarnation(), nextSequence, rule);
        List<JournalScanner.Source> sources = new ArrayList<>();
        try {
            for (long number : toScan) {
                sources.add(source(number, disk.open(JournalFiles.name(number))));
            }
            checkHeaders(snapshot, sources);
            boolean ended = false;
            for (int at = 0; at < sources.size(); at++) {
                JournalScanner.Source file = sources.get(at);
                List<JournalScanner.Source> later = sources.subList(at + 1, sources.size());
                JournalScanner.FileEnd end = scanner.scan(file, later, replay);
                if (end.records() == 0) {
                    free.add(JournalFiles.name(file.number()).substring(JournalFiles.DIRECTORY.length() + 1));
                    continue;
                }
                if (ended) {
                    replay.setDamaged();
                }
                ended = end.how() != io.varve.bookie.core.JournalRecovery.Decision.END_OF_FILE;
                scanned.add(file.number());
                unindexed.add(file.number());
                lastEnd = end;
                makeDurableAgain(file, end);
                LOG.info(
                        "journal=recovered directory={} file={} records={} end={} how={}",
                        disk.name(),
                        end.number(),
                        end.records(),
                        end.end(),
                        end.how());
            }
            nextSequence = scanner.nextSequence();
        } finally {
            for (JournalScanner.Source opened : sources) {
                opened.file().close();
            }
        }
    }

    private void checkHeaders(Snapshot snapshot, List<JournalScanner.Source> sources) throws IOException {
        ByteBuffer header = ByteBuffer.allocateDirect(JournalFormat.BLOCK_BYTES);
        long expected = snapshot.fileNumber() + 1;
        for (JournalScanner.Source source : sources) {
            header.clear();
            source.file().read(header, 0);
            header.flip();
            File file = File.MISSING;
            if (source.number() == expected) {
                boolean intact =
                        JournalFormat.isFileHeader(header, source.number(), source.bytes(), directory.incarnation());
                file = intact ? File.INTACT : File.HEADER_WRONG;
            }
            if (rule.fileCase(Covered.NO, file, Index.NONE) == FileCase.LOST) {
                LOG.error(
                        "journal=damaged directory={} file={} expected={} why={}",
                        disk.name(),
                        source.number(),
                        expected,
                        file);
                replay.setDamaged();
            }
            expected = source.number() + 1;
        }
    }

    /**
     * What was found may only be in the page cache, if the process died between write and fsync, or after an fsync that failed: the last group is written
     * again, so that it is dirty, and everything is fsynced, before anybody is told of it.
     */
    private static void makeDurableAgain(JournalScanner.Source file, JournalScanner.FileEnd end) throws IOException {
        long at = end.lastGroupStart();
        ByteBuffer bytes = ByteBuffer.allocateDirect((int) Math.min(1024 * 1024, end.end() - at));
        while (at < end.end()) {
            bytes.clear().limit((int) Math.min(bytes.capacity(), end.end() - at));
            file.file().read(bytes, at);
            bytes.flip();
            int length = bytes.remaining();
            if (length == 0) {
                break;
            }
            file.file().write(bytes, at);
            at += length;
        }
        file.file().force();
    }

    private JournalScanner.Source source(long number, DiskFile file) throws IOException {
        return JournalScanner.Source.of(number, file, directory.incarnation());
    }

    private void checkWhole() throws IOException {
        for (Replica replica : replicas.values()) {
            SegmentReplica state = replica.state;
            ReplicaCase is = rule.replicaCase(
                    entriesOf(replica),
                    replay.isDamaged() ? Journal.DAMAGED : Journal.WHOLE,
                    state.sealedEnd() == state.acceptedEnd() ? End.SEALED : End.OPEN);
            switch (is) {
                case INTACT -> {}
                case SETTLED_FILE_LOST -> replay.lose(replica, "its settled file is missing or too short");
                case ENTRIES_LOST -> replay.lose(replica, "a journal file with its entries is missing");
                case END_IN_DOUBT ->
                    replay.lose(replica, "the journal lost records, which may have been this segment's");
            }
        }
    }

    private Entries entriesOf(Replica replica) throws IOException {
        Replica.Settled settled = replica.settled;
        if (settled.bytes() > 0 && !SettledFile.mayHold(disk, replica.id(), settled.bytes())) {
            return Entries.SETTLED_FILE_SHORT;
        }
        long end = replica.state.acceptedEnd();
        boolean covered = settled.end() == end
                || (replica.index.firstOffset() <= settled.end() && replica.index.endOffset() == end);
        return covered ? Entries.COMPLETE : Entries.JOURNAL_FILE_GONE;
    }

    /** For files whose control records the snapshot has. */
    private final class EntriesOnly implements JournalScanner.Visitor {
        @Override
        public void onRecord(RecordType type, ByteBuffer record, int at, long file, long position) {
            if (type == RecordType.ENTRY) {
                int entry = at + JournalFormat.ENTRY_AT;
                replay.addToIndex(
                        Records.segment(record, JournalFormat.fixedAt(at)),
                        file,
                        position,
                        EntryFormat.firstOffset(record, entry),
                        EntryFormat.lastOffset(record, entry) + 1,
                        EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(record, entry));
            }
        }

        @Override
        public void onSegmentDamaged(RecordType type, ByteBuffer record, int at, long file, long position) {
            replay.onSegmentDamaged(type, record, at, file, position);
        }

        @Override
        public void onJournalDamaged(long file, long position) {
            LOG.warn("journal_file=damaged directory={} file={} position={}", disk.name(), file, position);
        }
    }
}
