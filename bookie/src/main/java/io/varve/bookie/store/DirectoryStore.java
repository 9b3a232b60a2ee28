package io.varve.bookie.store;

import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.DiskPace;
import io.varve.bookie.core.Fence;
import io.varve.bookie.core.NeededFiles;
import io.varve.bookie.core.SegmentReplica;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.DiskFullException;
import io.varve.bookie.journal.Journal;
import io.varve.bookie.journal.JournalFiles;
import io.varve.bookie.journal.JournalOp;
import io.varve.bookie.journal.RecentGroups;
import java.io.IOException;
import java.util.ArrayList;
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

    /** How long a directory that had no room takes nothing new, whatever is said to be free. */
    private static final long FULL_NS_MIN = 10_000_000_000L;

    final SharedState shared;
    final Disk disk;
    final AckBatch acks = new AckBatch();
    private final Cookie cookie;
    private final ConcurrentSkipListMap<SegmentId, Replica> replicas = new ConcurrentSkipListMap<>();
    private final ConcurrentLinkedQueue<Snapshot> snapshotsDue = new ConcurrentLinkedQueue<>();
    private final SettledFiles settledFiles;
    private final List<Runnable> whenRelieved = new ArrayList<>();
    private DirectoryLoader loaded;
    private JournalFiles files;
    private RecentGroups recent;
    private IndexCache indexes;
    private JournalReader journalReader;
    private Journal journal;
    private volatile Consumer<JournalOp> submitter;
    private volatile DirectoryInfo.State state = DirectoryInfo.State.WRITABLE;
    private volatile long freeBytes;
    private volatile long totalBytes;
    private volatile boolean shortOfSpace;
    private volatile long fullUntilNs;
    private boolean damaged;
    /** Everything in journal files up to this one, but for the entries, is in a snapshot. Housekeeping thread. */
    volatile long coveredNumber;
    /** Goes up whenever something in journal files may not be needed any more. Journal's thread. */
    private volatile long releases;
    /** Replaced by copies that aren't durable yet: until they are, a crash would bring these back. */
    private final ConcurrentLinkedQueue<Replica> retained = new ConcurrentLinkedQueue<>();
    /** Segments whose own files somebody is at work on. */
    private final Set<SegmentId> heldFiles = ConcurrentHashMap.newKeySet();
    /** Replicas whose own files are to be deleted. */
    final ConcurrentLinkedQueue<SegmentId> filesToDelete = new ConcurrentLinkedQueue<>();

    private final DiskPace pace = new DiskPace();
    private volatile boolean slow;
    private long appendedEntries;
    private long appendedBytes;
    private long firstSubmittedNs;

    DirectoryStore(SharedState shared, Disk disk, Cookie cookie) {
        this.shared = shared;
        this.disk = disk;
        this.cookie = cookie;
        this.settledFiles = new SettledFiles(disk);
        this.fullUntilNs = shared.clock.nanoTime();
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
            state = DirectoryInfo.State.OUT_OF_SERVICE;
            shared.setOutOfService(incarnation());
        } else {
            shared.setVouchedFor(incarnation());
            for (long number : loaded.unindexed()) {
                indexes.onWritten(JournalIndexFile.write(disk, incarnation(), number, replicas.values()));
            }
            snapshot(loaded.maxNumber(), loaded.nextSequence()).write(disk, incarnation());
            for (String name : loaded.free()) {
                files.addFree(name);
            }
            files.prepare();
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
        coveredNumber = loaded.maxNumber();
        addGauges();
        loaded = null;
        return journal;
    }

    /** As much of {@link #start} as it takes to read. */
    void startReadOnly() throws IOException {
        openJournalFiles(loaded.maxNumber());
        state = DirectoryInfo.State.FULL;
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
        metrics.gauge("varve.bookie.free.bytes", disk.name(), () -> freeBytes);
        metrics.gauge("varve.bookie.pending.bytes", disk.name(), () -> journal.pendingBytes());
        metrics.gauge("varve.bookie.replicas", disk.name(), replicas::size);
        metrics.gauge("varve.bookie.index.bytes", disk.name(), () -> indexes.bytes());
        metrics.gauge("varve.bookie.disk.slow", disk.name(), () -> slow ? 1 : 0);
        metrics.gauge(
                "varve.bookie.settle.backlog.bytes",
                disk.name(),
                () -> fullFiles().size() * shared.options.journalFileBytes());
        metrics.gauge(
                "varve.bookie.directory.in.service",
                disk.name(),
                () -> state == DirectoryInfo.State.OUT_OF_SERVICE ? 0 : 1);
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
        onReleased();
        if (replica.hasFiles()) {
            filesToDelete.add(replica.id());
        }
    }

    /** Something in journal files is no longer needed. */
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    void onReleased() {
        releases++;
    }

    /** A copy took a replica's place, but isn't durable yet. */
    void retain(Replica replaced) {
        retained.add(replaced);
    }

    /** The copy is durable. */
    void letGo(Replica replaced) {
        retained.remove(replaced);
        onReleased();
    }

    void onAppended(int entryBytes, long submittedNs) {
        appendedEntries++;
        appendedBytes += entryBytes;
        if (firstSubmittedNs == 0) {
            firstSubmittedNs = submittedNs;
        }
    }

    void onRefused(BookieStatus status) {
        shared.metrics.refused(status.name());
    }

    private JournalOp onFileFull(long number) {
        return new FileFullOp(snapshot(number, journal.nextSequence()));
    }

    /** As of the last record that was encoded. */
    private Snapshot snapshot(long fileNumber, long nextSequence) {
        List<Snapshot.FenceState> fences = new ArrayList<>();
        for (Fence fence : shared.fences()) {
            fences.add(new Snapshot.FenceState(fence.partition(), fence.epoch()));
        }
        List<Snapshot.ReplicaState> states = new ArrayList<>(replicas.size());
        for (Replica replica : replicas.values()) {
            if (replica.isLive()) {
                states.add(Snapshot.ReplicaState.of(replica));
            }
        }
        return new Snapshot(fileNumber, nextSequence, fences, states);
    }

    /** A journal file is full; when the op is durable, so is the whole file. */
    private final class FileFullOp extends JournalOp {
        private final Snapshot snapshot;

        FileFullOp(Snapshot snapshot) {
            this.snapshot = snapshot;
        }

        @Override
        protected int roomBytes() {
            return 0;
        }

        @Override
        protected void encode(io.varve.bookie.journal.JournalWriter to) {}

        @Override
        protected void onDurable() {
            snapshotsDue.add(snapshot);
        }

        @Override
        protected void onLost() {}
    }

    @Override
    public void onGroupDone(int ops, int bytes, long flushNs) {
        acks.releaseAll();
        StoreMetrics metrics = shared.metrics;
        if (bytes > 0) {
            metrics.fsyncLatency.record(flushNs, java.util.concurrent.TimeUnit.NANOSECONDS);
            metrics.groupOps.record(ops);
            metrics.groupBytes.record(bytes);
            if (pace.onFlush(flushNs)) {
                slow = pace.isSlow();
                LOG.warn("directory={} slow={}", disk.name(), slow);
                shared.listener.onSlowDiskChanged(incarnation(), slow);
            }
        }
        if (appendedEntries > 0) {
            metrics.appendedEntries.increment(appendedEntries);
            metrics.appendedBytes.increment(appendedBytes);
            metrics.appendLatency.record(
                    shared.clock.nanoTime() - firstSubmittedNs, java.util.concurrent.TimeUnit.NANOSECONDS);
            appendedEntries = 0;
            appendedBytes = 0;
            firstSubmittedNs = 0;
        }
        relieve();
    }

    @Override
    public void onFailed(IOException failure) {
        goOutOfService("write", failure);
        relieve();
    }

    // ---- any thread ----

    /**
     * Something in the background could not be written. Without room the directory takes nothing new until there is room again, and what was to be written stays due; any
     * other failure takes it out of service (I-12).
     */
    void onTrouble(String what, IOException failure) {
        if (failure instanceof DiskFullException) {
            shared.metrics.error("full");
            // The file system's own count of what is free doesn't know of quotas.
            fullUntilNs = shared.clock.nanoTime() + FULL_NS_MIN;
            LOG.warn("directory=full directory={} what={} why=\"{}\"", disk.name(), what, failure.getMessage());
            changeState(DirectoryInfo.State.WRITABLE, DirectoryInfo.State.FULL);
        } else {
            goOutOfService(what, failure);
        }
    }

    /** A write or an fsync failed: this directory is not written again by this process (I-12). */
    void goOutOfService(String what, IOException failure) {
        synchronized (this) {
            if (state == DirectoryInfo.State.OUT_OF_SERVICE) {
                return;
            }
            state = DirectoryInfo.State.OUT_OF_SERVICE;
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
        return state != DirectoryInfo.State.WRITABLE;
    }

    boolean isOutOfService() {
        return state == DirectoryInfo.State.OUT_OF_SERVICE;
    }

    /** Whether so much waits that callers should hold back. */
    boolean isCongested() {
        return journal.pendingBytes() > shared.options.pendingBytesMax() / 2;
    }

    boolean isOverloaded() {
        return journal.pendingBytes() > shared.options.pendingBytesMax();
    }

    /** Runs {@code action} once the directory is not congested. */
    void whenRelieved(Runnable action) {
        synchronized (whenRelieved) {
            if (isCongested()) {
                whenRelieved.add(action);
                return;
            }
        }
        action.run();
    }

    private void relieve() {
        List<Runnable> due;
        synchronized (whenRelieved) {
            if (whenRelieved.isEmpty() || isCongested()) {
                return;
            }
            due = List.copyOf(whenRelieved);
            whenRelieved.clear();
        }
        due.forEach(Runnable::run);
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
        SegmentReplica held = replica.state;
        boolean vouched = replica.isIntact()
                && !isOutOfService()
                && held.fence() == fence
                && (expectedIncarnation == 0 || expectedIncarnation == incarnation());
        if (!vouched) {
            return new FenceReply(BookieStatus.UNKNOWN, -1, -1, incarnation(), false, fence.epoch());
        }
        return new FenceReply(
                BookieStatus.OK,
                accepted ? held.acceptedEnd() : held.durableEnd(),
                held.highWatermark(),
                incarnation(),
                held.sealedEnd() != SegmentReplica.UNSEALED,
                fence.epoch());
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
        return new DirectoryInfo(disk.name(), incarnation(), state, freeBytes, totalBytes, replicas.size(), slow);
    }

    DirectoryInfo.State state() {
        return state;
    }

    long freeBytes() {
        return freeBytes;
    }

    /** Lets go of the files and the lock, once nobody works on them any more. */
    void close() throws IOException {
        settledFiles.close();
        files.close();
        disk.close();
    }

    // ---- housekeeping thread ----

    /** The next snapshot to be written, or {@code null}. */
    Snapshot peekSnapshot() {
        return snapshotsDue.peek();
    }

    /** It is durable, and so is the index of its file. */
    void onSnapshotWritten(Snapshot snapshot) {
        snapshotsDue.remove(snapshot);
        coveredNumber = snapshot.fileNumber();
    }

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

    /** The journal files that are full and indexed, oldest first. */
    List<Long> fullFiles() {
        List<Long> full = new ArrayList<>();
        for (long number : files.numbers()) {
            if (number <= coveredNumber) {
                full.add(number);
            }
        }
        return full;
    }

    /** Which of them hold something that isn't elsewhere: one pass over all replicas. Any thread. */
    NeededFiles neededFiles() {
        NeededFiles needed = new NeededFiles(fullFiles());
        retained.forEach(replica -> replica.markFiles(needed));
        for (Replica replica : replicas.values()) {
            if (needed.areAll()) {
                break;
            }
            replica.markFiles(needed);
        }
        return needed;
    }

    /** Changes when something in journal files is no longer needed. */
    long releases() {
        return releases;
    }

    /** Whether the disk has so little left that nothing is kept for later use. */
    boolean isShortOfSpace() {
        return shortOfSpace;
    }

    /** Looks at the disk, and goes between writable and full. */
    void measureSpace() throws IOException {
        long spare = (files.readyCount() + files.freeCount()) * shared.options.journalFileBytes();
        long left = disk.freeBytes();
        long free = left + spare;
        totalBytes = disk.totalBytes();
        shortOfSpace = left < shared.options.diskReserveBytes();
        freeBytes = Math.max(0, free - shared.options.diskReserveBytes());
        DirectoryInfo.State before = state;
        if (before == DirectoryInfo.State.WRITABLE && free < shared.options.diskReserveBytes()) {
            changeState(before, DirectoryInfo.State.FULL);
        } else if (before == DirectoryInfo.State.FULL
                && free >= shared.options.diskRelieveBytes()
                && shared.clock.nanoTime() - fullUntilNs >= 0) {
            changeState(before, DirectoryInfo.State.WRITABLE);
        }
    }

    private void changeState(DirectoryInfo.State from, DirectoryInfo.State to) {
        synchronized (this) {
            if (state != from) {
                return;
            }
            state = to;
        }
        LOG.warn("directory={} directory_state={} free_bytes={}", disk.name(), to, freeBytes);
        if (submitter != null) {
            // Appends that wait for a journal file are refused rather than left waiting.
            journal.lookAgain();
            submit(new BarrierOp());
        }
        shared.onDirectoryState();
    }
}
