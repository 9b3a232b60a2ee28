package io.varve.bookie.store;

import io.micrometer.core.instrument.MeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.PartitionId;
import io.varve.base.Randomness;
import io.varve.base.SegmentId;
import io.varve.base.StartupException;
import io.varve.base.StartupException.Reason;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.JournalRecovery;
import io.varve.bookie.core.SegmentReplica;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.FileDisk;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.storage.EntryFormat;
import io.varve.tiering.api.SealedSegmentSource;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The store on this machine's disks: routes what is asked to the directory that holds the segment, and runs the directories' threads: per directory one for the
 * journal's order, one that writes and fsyncs, one for housekeeping; and for all of them two for reads near the tail and two for the rest.
 */
public final class LocalSegmentStore implements SegmentStore {

    private static final Logger LOG = LoggerFactory.getLogger(LocalSegmentStore.class);

    /** Fence requests that go into the journal as one. */
    private static final int FENCES_PER_OP = 1024;

    private final SharedState shared;
    final List<DirectoryStore> directories;
    private final List<Closeable> drivers;
    private final DirectoryChoice choice;
    private final ReadDesk reads;
    private final SegmentReader reader = new SegmentReader(ByteBufAllocator.DEFAULT);
    private volatile boolean readOnly;

    private LocalSegmentStore(SharedState shared, List<DirectoryStore> directories, List<Closeable> drivers) {
        this.shared = shared;
        this.directories = directories;
        this.drivers = drivers;
        this.choice = new DirectoryChoice(directories);
        this.reads = new ReadDesk(reader, shared);
        this.readOnly = noneIsWritable();
    }

    /**
     * Opens the store: checks the cookies, locks the directories, recovers what they hold, and starts to serve.
     *
     * @param randomness for the incarnations of directories that are new
     * @throws StartupException DIRECTORY_LOCKED, DIRECTORY_FOREIGN or DISK, with one line that says what is wrong where
     */
    public static LocalSegmentStore open(
            StoreOptions options,
            Clock clock,
            Randomness randomness,
            FaultHandler faults,
            StoreListener listener,
            MeterRegistry registry) {
        List<Disk> disks = new ArrayList<>();
        try {
            for (Path path : options.directories()) {
                disks.add(FileDisk.open(path));
            }
            return open(
                    options,
                    disks,
                    new StoreEnvironment(
                            clock,
                            randomness,
                            faults,
                            listener,
                            registry,
                            JournalRecovery::decide,
                            store -> new DirectoryRunner(store, faults)));
        } catch (IOException | RuntimeException trouble) {
            for (Disk disk : disks) {
                closeQuietly(disk, trouble);
            }
            throw trouble instanceof StartupException startup
                    ? startup
                    : new StartupException(
                            Reason.DISK, "The data directories can't be opened: " + trouble + ".", trouble);
        }
    }

    static LocalSegmentStore open(StoreOptions options, List<Disk> disks, StoreEnvironment environment)
            throws IOException {
        Clock clock = environment.clock();
        long startNs = clock.nanoTime();
        SharedState shared = new SharedState(options, environment);
        List<DirectoryStore> stores = new ArrayList<>();
        for (Cookies.Found found : Cookies.check(
                disks, options.clusterId(), options.bookieId(), environment.randomness(), environment.recoveryRule())) {
            stores.add(new DirectoryStore(shared, found.disk(), found.cookie()));
            if (!found.lost().isEmpty()) {
                shared.onSomethingLost();
            }
        }
        for (DirectoryStore store : stores) {
            store.load();
        }
        List<Closeable> drivers = new ArrayList<>();
        for (DirectoryStore store : stores) {
            drivers.add(environment.driver().drive(store));
        }
        LocalSegmentStore opened = new LocalSegmentStore(shared, List.copyOf(stores), List.copyOf(drivers));
        shared.whenDirectoryStateChanges(opened::onDirectoryState);
        LOG.info(
                "store=open bookie={} directories={} replicas={} took_ms={}",
                options.bookieId(),
                disks.size(),
                shared.replicas.size(),
                (clock.nanoTime() - startNs) / 1_000_000);
        return opened;
    }

    private static void closeQuietly(Disk disk, Exception trouble) {
        try {
            disk.close();
        } catch (IOException more) {
            trouble.addSuppressed(more);
        }
    }

    @Override
    public void createSegment(
            PartitionId partition,
            SegmentId segment,
            int epoch,
            long startOffset,
            long incarnation,
            CreateCallback callback) {
        if (startOffset < 0 || epoch < 0) {
            callback.onCreated(BookieStatus.INVALID, -1, 0);
            return;
        }
        Replica replica = shared.replicas.get(segment);
        if (replica == null) {
            if (incarnation != 0 && !shared.isVouchedFor(incarnation)) {
                callback.onCreated(BookieStatus.UNKNOWN, -1, 0);
                return;
            }
            DirectoryStore directory = choice.forNew(incarnation, partition);
            if (directory == null) {
                callback.onCreated(BookieStatus.READ_ONLY, -1, 0);
                return;
            }
            replica = shared.replicas.computeIfAbsent(
                    segment,
                    id -> new Replica(
                            new SegmentReplica(id, shared.fence(partition), epoch, startOffset),
                            directory,
                            Replica.Phase.PENDING));
        }
        if ((incarnation != 0 && replica.directory.incarnation() != incarnation)
                || replica.directory.isOutOfService()) {
            callback.onCreated(BookieStatus.UNKNOWN, -1, 0);
            return;
        }
        replica.directory.submit(new CreateOp(replica, partition, epoch, startOffset, callback));
    }

    @Override
    public void append(
            SegmentId segment,
            int epoch,
            long firstOffset,
            long lastOffset,
            int crc,
            ByteBuf payload,
            long highWatermark,
            AppendCallback callback) {
        Replica replica = shared.replicas.get(segment);
        if (replica == null || replica.directory.isOutOfService()) {
            payload.release();
            callback.onAppended(absence(segment), -1);
            return;
        }
        DirectoryStore directory = replica.directory;
        BookieStatus refused = null;
        if (payload.readableBytes() > shared.options.entryBytesMax()) {
            refused = BookieStatus.TOO_LARGE;
        } else if (!EntryFormat.isPlausible(firstOffset, lastOffset, payload.readableBytes())) {
            refused = BookieStatus.INVALID;
        } else if (EntryChecks.checksum(firstOffset, lastOffset, payload) != crc) {
            refused = BookieStatus.BAD_CHECKSUM;
        } else if (directory.backPressure().isOverloaded()) {
            refused = BookieStatus.OVERLOADED;
        }
        directory.submit(new AppendOp(
                replica,
                epoch,
                firstOffset,
                lastOffset,
                crc,
                payload,
                highWatermark,
                callback,
                refused,
                shared.clock.nanoTime()));
    }

    private BookieStatus absence(SegmentId segment) {
        return shared.vouchesForAbsence(segment, 0) ? BookieStatus.NO_SUCH_SEGMENT : BookieStatus.UNKNOWN;
    }

    @Override
    public void checkpoint(SegmentId segment, int epoch, long offset, ByteBuf state) {
        Replica replica = shared.replicas.get(segment);
        if (replica == null
                || replica.directory.isOutOfService()
                || replica.directory.backPressure().isOverloaded()
                || state.readableBytes() > shared.options.entryBytesMax()) {
            state.release();
            return;
        }
        replica.directory.submit(new CheckpointOp(replica, epoch, offset, state));
    }

    @Override
    public CompletableFuture<List<FenceReply>> fence(List<FenceRequest> requests) {
        if (requests.size() <= FENCES_PER_OP) {
            return fenceTogether(requests);
        }
        CompletableFuture<List<FenceReply>> first = fenceTogether(requests.subList(0, FENCES_PER_OP));
        CompletableFuture<List<FenceReply>> rest = fence(requests.subList(FENCES_PER_OP, requests.size()));
        return first.thenCombine(rest, (some, more) -> {
            List<FenceReply> all = new ArrayList<>(some);
            all.addAll(more);
            return all;
        });
    }

    private CompletableFuture<List<FenceReply>> fenceTogether(List<FenceRequest> requests) {
        List<FenceRequest> copy = List.copyOf(requests);
        List<DirectoryStore> inService = new ArrayList<>();
        for (DirectoryStore store : directories) {
            if (!store.isOutOfService()) {
                inService.add(store);
            }
        }
        FenceRound round = new FenceRound(shared, copy, inService.size());
        for (DirectoryStore store : inService) {
            store.submit(new FenceOp(store, copy, round));
        }
        if (inService.isEmpty()) {
            round.completeWithoutDirectories();
        }
        return round.answer();
    }

    @Override
    public CompletableFuture<BookieStatus> seal(SegmentId segment, int epoch, long endOffset) {
        Replica replica = shared.replicas.get(segment);
        if (replica == null || replica.directory.isOutOfService()) {
            return CompletableFuture.completedFuture(absence(segment));
        }
        return submit(new SealOp(replica, epoch, endOffset));
    }

    @Override
    public CompletableFuture<BookieStatus> delete(SegmentId segment, long incarnation) {
        Replica replica = shared.replicas.get(segment);
        if (replica == null) {
            return awaitDeletionsBefore(incarnation);
        }
        if (incarnation != 0 && replica.directory.incarnation() != incarnation) {
            return CompletableFuture.completedFuture(BookieStatus.OK);
        }
        CompletableFuture<BookieStatus> deleted = submit(new DeleteOp(replica));
        for (DirectoryStore store : directories) {
            // A copy took its place, and it is not deleted yet; or it can't be, because its directory is out of
            // service.
            Replica replaced = incarnation == 0 ? store.replicas().get(segment) : null;
            if (replaced != null && replaced != replica) {
                deleted = deleted.thenCombine(submit(new DeleteOp(replaced)), LocalSegmentStore::worse);
            }
        }
        return deleted;
    }

    private static BookieStatus worse(BookieStatus one, BookieStatus other) {
        return one == BookieStatus.OK ? other : one;
    }

    /** The segment is not here; but if that is because of a deletion that isn't durable yet, it could be back after a crash. */
    private CompletableFuture<BookieStatus> awaitDeletionsBefore(long incarnation) {
        CompletableFuture<BookieStatus> all = CompletableFuture.completedFuture(BookieStatus.OK);
        for (DirectoryStore store : directories) {
            if (incarnation == 0 || store.incarnation() == incarnation) {
                BarrierOp barrier = new BarrierOp();
                store.submit(barrier);
                all = all.thenCombine(barrier.answer, LocalSegmentStore::worse);
            }
        }
        return all;
    }

    private static CompletableFuture<BookieStatus> submit(ReplicaOp op) {
        op.replica.directory.submit(op);
        return op.answer;
    }

    @Override
    public CompletableFuture<ReadReply> read(SegmentId segment, long fromOffset, int maxBytes, ReadPriority priority) {
        Replica replica = shared.replicas.get(segment);
        return replica == null || !replica.isLive()
                ? CompletableFuture.completedFuture(new ReadReply(absence(segment), Unpooled.EMPTY_BUFFER, -1, -1))
                : reads.read(replica, fromOffset, maxBytes, priority);
    }

    @Override
    public CompletableFuture<CheckpointReply> readCheckpoint(SegmentId segment, long atMostOffset) {
        Replica replica = shared.replicas.get(segment);
        return replica == null || !replica.isLive()
                ? CompletableFuture.completedFuture(new CheckpointReply(absence(segment), -1, Unpooled.EMPTY_BUFFER))
                : reads.readCheckpoint(replica, atMostOffset);
    }

    @Override
    public FenceReply describe(SegmentId segment, long incarnation) {
        Replica replica = shared.replicas.get(segment);
        FenceReply here = replica == null
                ? null
                : replica.directory.describeHere(segment, incarnation, replica.state.fence(), false);
        if (here != null) {
            return here;
        }
        BookieStatus status =
                shared.vouchesForAbsence(segment, incarnation) ? BookieStatus.NO_SUCH_SEGMENT : BookieStatus.UNKNOWN;
        return new FenceReply(status, -1, -1, 0, false, 0);
    }

    @Override
    public SealedSegmentSource openSealed(SegmentDescriptor segment) throws IOException {
        Replica replica = shared.replicas.get(segment.id());
        if (replica == null
                || !replica.isLive()
                || replica.state.startOffset() != segment.startOffset()
                || replica.state.durableEnd() < segment.endOffset()) {
            throw new IOException("segment " + segment.id() + " is not here whole");
        }
        return new ReplicaSource(segment, replica, reader);
    }

    @Override
    public SegmentImport importSegment(SegmentDescriptor segment, long incarnation) throws IOException {
        Replica here = shared.replicas.get(segment.id());
        if (here != null && here.isWhole(segment.startOffset(), segment.endOffset())) {
            throw new IOException("segment " + segment.id() + " is here already");
        }
        DirectoryStore directory = incarnation == 0 ? choice.whereImportWasBegun(segment.id()) : null;
        if (directory == null) {
            directory = choice.forNew(incarnation, segment.partition());
        }
        if (directory == null || directory.isFull()) {
            throw new IOException("no data directory takes new segments");
        }
        if (directory.filesToDelete.contains(segment.id())) {
            throw new IOException("an older copy of segment " + segment.id() + " is still being deleted");
        }
        if (!directory.holdFiles(segment.id())) {
            throw new IOException("the files of segment " + segment.id() + " are being worked on");
        }
        boolean begun = false;
        try {
            SegmentImport copy = new LocalSegmentImport(segment, directory);
            begun = true;
            return copy;
        } finally {
            if (!begun) {
                directory.releaseFiles(segment.id());
            }
        }
    }

    @Override
    public List<ReplicaInfo> inventory() {
        List<ReplicaInfo> all = new ArrayList<>();
        for (DirectoryStore store : directories) {
            for (Replica replica : store.replicas().values()) {
                if (replica.isLive()) {
                    ReplicaInfo info = replica.info();
                    boolean lost = store.isOutOfService() && replica.isIntact();
                    all.add(lost ? info.withHealth(ReplicaInfo.Health.LOST) : info);
                }
            }
        }
        all.sort(java.util.Comparator.comparing(ReplicaInfo::segment));
        return all;
    }

    @Override
    public List<DirectoryInfo> directories() {
        return directories.stream().map(DirectoryStore::info).toList();
    }

    @Override
    public boolean isReadOnly() {
        return readOnly;
    }

    private boolean noneIsWritable() {
        return directories.stream().allMatch(DirectoryStore::isFull);
    }

    private void onDirectoryState() {
        boolean changed;
        boolean now = noneIsWritable();
        synchronized (this) {
            changed = readOnly != now;
            readOnly = now;
        }
        if (changed) {
            shared.listener.onReadOnlyChanged(now);
        }
    }

    /** Fsyncs of groups so far. */
    long groupsWritten() {
        return shared.metrics.fsyncLatency.count();
    }

    /** Bytes that reads at CATCH_UP hold at the moment. */
    long catchUpBytesHeld() {
        return reads.catchUpBytesHeld();
    }

    @Override
    public boolean isCongested() {
        for (DirectoryStore store : directories) {
            if (store.backPressure().isCongested()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void whenRelieved(Runnable action) {
        for (DirectoryStore store : directories) {
            if (store.backPressure().isCongested()) {
                store.backPressure().whenRelieved(() -> whenRelieved(action));
                return;
            }
        }
        action.run();
    }

    @Override
    public void close() {
        for (Closeable driver : drivers) {
            try {
                driver.close();
            } catch (IOException trouble) {
                LOG.warn("close=failed why=\"{}\"", trouble.toString());
            }
        }
        reads.close();
    }
}
