package io.varve.bookie.store;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.DiskPace;
import io.varve.bookie.core.Fence;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.DiskFullException;
import io.varve.bookie.journal.Journal;
import io.varve.bookie.journal.JournalFiles;
import io.varve.bookie.journal.JournalOp;
import io.varve.bookie.journal.RecentGroups;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One data directory: its journal, its replicas, and their files.
 *
 * <p>Everything about a replica changes on the journal's thread, inside ops. {@link Housekeeping} does the rest on a thread of its own. This class starts no
 * thread: {@link LocalSegmentStore} runs it, and a simulation steps it.
 */
final class DirectoryStore implements Journal.Listener {

    private static final Logger LOG = LoggerFactory.getLogger(DirectoryStore.class);

    final SharedState shared;
    final Disk disk;
    final AckBatch acks = new AckBatch();
    private final Cookie cookie;
    private final ConcurrentSkipListMap<SegmentId, Replica> replicas = new ConcurrentSkipListMap<>();
    private final SettledFiles settledFiles;
    private final DirectoryCondition condition;
    private final BackPressure backPressure;
    private final GroupMeter meter;
    private FullFiles fullFiles;
    private DirectoryLoader loaded;
    private JournalFiles files;
    private RecentGroups recent;
    private IndexCache indexes;
    private JournalReader journalReader;
    private Journal journal;
    private volatile Consumer<JournalOp> submitter;
    private boolean damaged;
    /** Segments whose own files somebody is at work on. */
    private final Set<SegmentId> heldFiles = ConcurrentHashMap.newKeySet();
    /** Replicas whose own files are to be deleted. */
    final ConcurrentLinkedQueue<SegmentId> filesToDelete = new ConcurrentLinkedQueue<>();

    DirectoryStore(SharedState shared, Disk disk, Cookie cookie) {
        this.shared = shared;
        this.disk = disk;
        this.cookie = cookie;
        this.settledFiles = new SettledFiles(disk);
        this.condition = new DirectoryCondition(shared.options, shared.clock);
        this.backPressure = new BackPressure(() -> journal.pendingBytes(), shared.options.pendingBytesMax());
        this.meter = new GroupMeter(shared.metrics, shared.clock);
    }

    /** Lays out an empty directory. The cookie comes last: without it there is nothing that counts. */
    static void format(Disk disk, Cookie cookie) throws IOException {
        disk.createDirectory(JournalFiles.DIRECTORY);
        disk.createDirectory(SegmentFiles.DIRECTORY);
        new Snapshot(0, 0, List.of(), List.of()).write(disk, cookie.incarnation());
        cookie.write(disk);
    }

    long incarnation() {
        return cookie.incarnation();
    }

    Cookie cookie() {
        return cookie;
    }

    /** Reads what is on the disk. Of all directories, before any is {@link #start started}: the fences of all must be known. */
    void load() throws IOException {
        disk.createDirectory(JournalFiles.DIRECTORY);
        disk.createDirectory(SegmentFiles.DIRECTORY);
        loaded = new DirectoryLoader(this, disk);
        loaded.load();
        damaged = loaded.isDamaged();
        replicas.putAll(loaded.replicas());
        for (Replica replica : loaded.replicas().values()) {
            Replica other = shared.replicas.putIfAbsent(replica.id(), replica);
            if (other != null) {
                // A copy replaced this one in another directory, and this one's deletion was not yet durable.
                Replica worse = isBetter(replica, other) ? other : replica;
                LOG.info("replica=superseded segment={} directory={}", worse.id(), worse.directory.disk.name());
                shared.replicas.put(replica.id(), worse == replica ? other : replica);
                worse.directory.replicas.remove(worse.id());
                worse.directory.filesToDelete.add(worse.id());
            }
        }
    }

    private static boolean isBetter(Replica one, Replica other) {
        return one.isIntact() && (!other.isIntact() || one.state.durableEnd() > other.state.durableEnd());
    }

    /**
     * Makes the directory ready to serve: what was found is made durable in its indexed form, and a new journal file is begun.
     *
     * @return the journal, to be driven by the caller
     */
    Journal start() throws IOException {
        StoreOptions options = shared.options;
        openJournalFiles(loaded.maxNumber());
        measureSpace();
        if (damaged) {
            // Nothing is written over the evidence. What is sealed and whole can still be read.
            condition.goOutOfService();
            shared.setOutOfService(incarnation());
        } else {
            shared.setVouchedFor(incarnation());
            List<String> free = loaded.free();
            writeIndexes(loaded.unindexed());
            Snapshot snapshot = snapshot(loaded.maxNumber(), loaded.nextSequence());
            writeWithRoom(snapshot, free);
            for (String name : free) {
                files.addFree(name);
            }
            prepareFirst();
        }
        journal = new Journal(
                files,
                recent,
                options.groupBytesMax(),
                options.journalFileBytes(),
                loaded.nextSequence(),
                incarnation(),
                this::onFileFull,
                this);
        if (damaged) {
            journal.fail(new IOException("the journal is damaged"));
        }
        fullFiles.setCovered(loaded.maxNumber());
        addGauges();
        loaded = null;
        return journal;
    }

    /** Without room for them the files are read once more at the next start. */
    private void writeIndexes(List<Long> unindexed) throws IOException {
        try {
            for (long number : unindexed) {
                indexes.onWritten(JournalIndexFile.write(disk, incarnation(), number, replicas.values()));
            }
        } catch (DiskFullException full) {
            LOG.warn("journal_index=put_off directory={} why=\"{}\"", disk.name(), full.getMessage());
        }
    }

    /**
     * A disk that is full to its last byte must not keep a bookie from starting: journal files that hold nothing are given up for the snapshot.
     *
     * @param free their names; those with a number in order and last, because a number that is missing below others would be a file that was lost
     */
    private void writeWithRoom(Snapshot snapshot, List<String> free) throws IOException {
        while (true) {
            try {
                snapshot.write(disk, incarnation());
                return;
            } catch (DiskFullException full) {
                if (free.isEmpty()) {
                    throw full;
                }
                files.discard(free.remove(free.size() - 1));
            }
        }
    }

    private void prepareFirst() throws IOException {
        try {
            files.prepare();
        } catch (DiskFullException full) {
            // What is here can be read, and housekeeping tries again.
            shared.metrics.error("full");
            LOG.warn("directory=full directory={} what=start why=\"{}\"", disk.name(), full.getMessage());
        }
    }

    /** As much of {@link #start} as it takes to read. */
    void startReadOnly() throws IOException {
        openJournalFiles(loaded.maxNumber());
        condition.onNoRoom();
    }

    private void openJournalFiles(long maxNumber) throws IOException {
        StoreOptions options = shared.options;
        files = new JournalFiles(
                disk,
                options.journalFileBytes(),
                options.groupBytesMax(),
                incarnation(),
                maxNumber,
                options.directWrites());
        fullFiles = new FullFiles(files, replicas.values(), options.journalFileBytes());
        recent = Journal.recentGroups(options.groupBytesMax(), options.recentBytesMax());
        indexes = new IndexCache(this, options.indexBytesMax());
        journalReader = new JournalReader(files, recent, indexes, shared.metrics);
        for (long number : loaded.covered()) {
            files.addUsed(number);
        }
        for (long number : loaded.scanned()) {
            files.addUsed(number);
        }
    }

    /** Whether the journal lost records. */
    boolean isDamaged() {
        return damaged;
    }

    private void addGauges() {
        StoreMetrics metrics = shared.metrics;
        metrics.gauge("varve.bookie.free.bytes", disk.name(), condition::freeBytes);
        metrics.gauge("varve.bookie.pending.bytes", disk.name(), () -> journal.pendingBytes());
        metrics.gauge("varve.bookie.replicas", disk.name(), replicas::size);
        metrics.gauge("varve.bookie.index.bytes", disk.name(), () -> indexes.bytes());
        metrics.gauge("varve.bookie.disk.slow", disk.name(), () -> isSlow() ? 1 : 0);
        metrics.gauge("varve.bookie.settle.backlog.bytes", disk.name(), fullFiles::backlogBytes);
        metrics.gauge("varve.bookie.directory.in.service", disk.name(), () -> isOutOfService() ? 0 : 1);
    }

    /** How ops reach the journal from now on. */
    void attach(Consumer<JournalOp> to) {
        submitter = to;
    }

    /** Queues an op. Any thread. If the directory is out of service the op is told that it is lost, here and now. */
    void submit(JournalOp op) {
        submitter.accept(op);
    }

    JournalFiles files() {
        return files;
    }

    FullFiles fullFiles() {
        return fullFiles;
    }

    SettledFiles settledFiles() {
        return settledFiles;
    }

    IndexCache indexes() {
        return indexes;
    }

    JournalReader journalReader() {
        return journalReader;
    }

    Journal journal() {
        return journal;
    }

    ConcurrentSkipListMap<SegmentId, Replica> replicas() {
        return replicas;
    }

    // ---- on the journal's thread ----

    /** A replica is in the journal's order from here on. */
    void onCreated(Replica replica) {
        replica.phase = Replica.Phase.LIVE;
        replicas.put(replica.id(), replica);
    }

    /** A replica was refused or deleted: nobody finds it any more. */
    void forget(Replica replica) {
        replica.phase = Replica.Phase.GONE;
        shared.replicas.remove(replica.id(), replica);
    }

    /** A deletion is durable: only now may the files go, because until now a crash could have brought the replica back. */
    void onDeleted(Replica replica) {
        replicas.remove(replica.id(), replica);
        fullFiles.onReleased();
        if (replica.hasFiles()) {
            filesToDelete.add(replica.id());
        }
    }

    void onAppended(int entryBytes, long submittedNs) {
        meter.onAppended(entryBytes, submittedNs);
    }

    void onRefused(BookieStatus status) {
        shared.metrics.refused(status.name());
    }

    private JournalOp onFileFull(long number) {
        return new FileFullOp(fullFiles, snapshot(number, journal.nextSequence()));
    }

    /** As of the last record that was encoded. */
    private Snapshot snapshot(long fileNumber, long nextSequence) {
        return Snapshot.of(fileNumber, nextSequence, shared.fences(), replicas.values());
    }

    @Override
    public void onGroupDone(int ops, int bytes, long flushNs) {
        acks.releaseAll();
        if (meter.onGroupDone(ops, bytes, flushNs)) {
            boolean slow = meter.isSlow();
            LOG.warn("directory={} slow={}", disk.name(), slow);
            shared.listener.onSlowDiskChanged(incarnation(), slow);
        }
        backPressure.relieve();
    }

    @Override
    public void onFailed(IOException failure) {
        goOutOfService("write", failure);
        backPressure.relieve();
    }

    // ---- any thread ----

    /**
     * Something in the background could not be written. Without room the directory takes nothing new until there is room again, and what was to be written stays due; any
     * other failure takes it out of service (I-12).
     */
    void onTrouble(String what, IOException failure) {
        if (failure instanceof DiskFullException) {
            shared.metrics.error("full");
            LOG.warn("directory=full directory={} what={} why=\"{}\"", disk.name(), what, failure.getMessage());
            if (condition.onNoRoom()) {
                onStateChanged();
            }
        } else {
            goOutOfService(what, failure);
        }
    }

    /** A write or an fsync failed: this directory is not written again by this process (I-12). */
    void goOutOfService(String what, IOException failure) {
        if (!condition.goOutOfService()) {
            return;
        }
        journal.fail(failure);
        shared.metrics.error(what);
        LOG.error("directory=out_of_service directory={} what={} why=\"{}\"", disk.name(), what, failure.toString());
        shared.setOutOfService(incarnation());
        shared.listener.onDirectoryLost(incarnation(), what + ": " + failure);
        for (Replica replica : replicas.values()) {
            shared.listener.onReplicaDamaged(replica.id(), incarnation(), "its directory went out of service");
        }
    }

    /** A replica turned out to be damaged while it was loaded. */
    void onDamageFound(Replica replica, String why) {
        shared.metrics.error("lost");
        shared.listener.onReplicaDamaged(replica.id(), incarnation(), why);
    }

    /** A read or the scrub found damage: from now on the replica isn't vouched for (I-7). */
    void quarantine(Replica replica, String why) {
        synchronized (replica) {
            if (!replica.isIntact()) {
                return;
            }
            replica.health = ReplicaInfo.Health.QUARANTINED;
        }
        shared.metrics.error("corrupt");
        LOG.error("replica=quarantined segment={} directory={} why=\"{}\"", replica.id(), disk.name(), why);
        shared.listener.onReplicaDamaged(replica.id(), incarnation(), why);
        submit(new QuarantineOp(replica));
    }

    boolean isFull() {
        return !condition.isWritable();
    }

    /**
     * Whether it takes neither segments nor appends of a partition. When the reserve is begun, those on which the cluster itself stands are still taken, until half of it is left for
     * fences, deletions and settling: what drains a full disk needs groups and transactions to go on.
     */
    boolean refuses(PartitionId partition) {
        return !condition.isWritable() && !(condition.hasReserve() && shared.listener.isEssential(partition));
    }

    boolean isOutOfService() {
        return condition.isOutOfService();
    }

    BackPressure backPressure() {
        return backPressure;
    }

    /**
     * What this directory has to say of a segment, or {@code null} if it isn't here.
     *
     * @param accepted whether the end is the accepted one, because the answer is held back until that is durable
     */
    FenceReply describeHere(SegmentId segment, long expectedIncarnation, Fence fence, boolean accepted) {
        Replica replica = shared.replicas.get(segment);
        if (replica == null || replica.directory != this || !replica.isLive()) {
            return null;
        }
        return replica.describe(expectedIncarnation, fence, accepted);
    }

    /**
     * Whoever writes, renames or deletes a segment's own files holds them meanwhile: a copy from another bookie, the settler, a deletion. So none of them works on what
     * another has just put there.
     *
     * @return whether nobody else does; then {@link #releaseFiles} must follow
     */
    boolean holdFiles(SegmentId segment) {
        return heldFiles.add(segment);
    }

    /** Ends {@link #holdFiles}. */
    void releaseFiles(SegmentId segment) {
        heldFiles.remove(segment);
    }

    DirectoryInfo info() {
        return new DirectoryInfo(
                disk.name(),
                incarnation(),
                condition.state(),
                condition.freeBytes(),
                condition.totalBytes(),
                replicas.size(),
                isSlow());
    }

    /** By what its fsyncs took, and by the one that is under way: a disk that hangs doesn't say so. */
    private boolean isSlow() {
        return meter.isSlow() || DiskPace.isStuck(journal.flushingNs(shared.clock.nanoTime()));
    }

    DirectoryInfo.State state() {
        return condition.state();
    }

    long freeBytes() {
        return condition.freeBytes();
    }

    /** Lets go of the files and the lock, once nobody works on them any more. */
    void close() throws IOException {
        settledFiles.close();
        files.close();
        disk.close();
    }

    // ---- housekeeping thread ----

    /** Nothing is to be done at the moment. */
    void onHousekeepingIdle() throws IOException {
        if (!isOutOfService()) {
            measureSpace();
        }
    }

    /** Whether one more journal file can be made: from a free one, or because there is room for it. */
    boolean hasRoomForFile() throws IOException {
        return files.freeCount() > 0 || disk.freeBytes() > 2 * shared.options.journalFileBytes();
    }

    /** Whether the disk has so little left that nothing is kept for later use. */
    boolean isShortOfSpace() {
        return condition.isShortOfSpace();
    }

    /** Looks at the disk, and goes between writable and full. */
    void measureSpace() throws IOException {
        long spare = (files.readyCount() + files.freeCount()) * shared.options.journalFileBytes();
        if (condition.onMeasured(disk.freeBytes(), disk.totalBytes(), spare)) {
            onStateChanged();
        }
    }

    private void onStateChanged() {
        LOG.warn(
                "directory={} directory_state={} free_bytes={}", disk.name(), condition.state(), condition.freeBytes());
        if (submitter != null) {
            // Appends that wait for a journal file are refused rather than left waiting.
            journal.lookAgain();
            submit(new BarrierOp());
        }
        shared.onDirectoryState();
    }
}
