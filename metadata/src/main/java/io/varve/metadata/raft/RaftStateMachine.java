package io.varve.metadata.raft;

import io.varve.base.FaultHandler;
import io.varve.metadata.core.CommandHistory;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.core.MetadataStateMachine;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.MetadataCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.MD5FileUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts our state machine under Ratis: applies entries on its updater thread, hands out images, writes snapshots beside it.
 *
 * <p>Snapshots are written on a thread of their own from an image that stands still, for applying must not wait for a disk. Ratis only knows of one that must be there when it asks, so
 * it asks when one is done: the writer's end has {@link RaftNode} send it a request, and {@link #takeSnapshot} answers with what is there.
 *
 * <p>An entry that can't be applied is a broken invariant: it goes to the fault handler, and no snapshot is written any more, for one made of a state that is wrong would
 * outlive the log that could mend it.
 */
final class RaftStateMachine extends BaseStateMachine {

    private static final Logger LOG = LoggerFactory.getLogger(RaftStateMachine.class);
    private static final long WRITER_STOP_MS_MAX = 10_000;

    private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
    private final RaftListener listener;
    private final FaultHandler faults;
    private final long snapshotEntries;
    private final Optional<Path> backup;
    private final Runnable onSnapshotWritten;
    private final ExecutorService snapshotWriter =
            Executors.newSingleThreadExecutor(task -> daemon(task, "metadata-snapshot"));
    private final AtomicBoolean writing = new AtomicBoolean();
    private volatile boolean writerAborted;
    private volatile boolean failed;
    private volatile MetadataStateMachine machine = new MetadataStateMachine(MetadataImage.EMPTY, CommandHistory.EMPTY);
    private volatile MetadataImage image = MetadataImage.EMPTY;
    private volatile SingleFileSnapshotInfo newestWritten;
    private volatile long lastStartedIndex = RaftLog.INVALID_LOG_INDEX;

    /** The newest snapshot that the log knows of. */
    private volatile TermIndex lastSnapshot = TermIndex.valueOf(0, RaftLog.INVALID_LOG_INDEX);

    /** @param backup what an empty log begins with; empty for nothing */
    RaftStateMachine(
            RaftListener listener,
            FaultHandler faults,
            long snapshotEntries,
            Optional<Path> backup,
            Runnable onSnapshotWritten) {
        this.listener = listener;
        this.faults = faults;
        this.snapshotEntries = snapshotEntries;
        this.backup = backup;
        this.onSnapshotWritten = onSnapshotWritten;
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /** The newest state. */
    MetadataImage image() {
        return image;
    }

    /** The answers given to clients. */
    CommandHistory history() {
        return machine.history();
    }

    /** The index of the newest snapshot, -1 if there is none. */
    long snapshotIndex() {
        return lastSnapshot.getIndex();
    }

    /** How long ago the newest snapshot was written; empty without one. */
    OptionalLong snapshotAgeMs(long nowMs) {
        SingleFileSnapshotInfo newest = storage.getLatestSnapshot();
        if (newest == null) {
            return OptionalLong.empty();
        }
        long writtenMs = newest.getFile().getPath().toFile().lastModified();
        return writtenMs == 0 ? OptionalLong.empty() : OptionalLong.of(Math.max(0, nowMs - writtenMs));
    }

    @Override
    public void initialize(RaftServer server, RaftGroupId group, RaftStorage raftStorage) throws IOException {
        super.initialize(server, group, raftStorage);
        getLifeCycle()
                .startAndTransition(
                        () -> {
                            storage.init(raftStorage);
                            deleteDrafts();
                            takeOverBackup();
                            restore();
                        },
                        IOException.class);
    }

    @Override
    public void pause() {
        getLifeCycle().transition(LifeCycle.State.PAUSING);
        stopWriter();
        getLifeCycle().transition(LifeCycle.State.PAUSED);
    }

    @Override
    public void reinitialize() throws IOException {
        getLifeCycle().startAndTransition(this::restore, IOException.class);
    }

    /** Makes a backup the snapshot with which this log begins. Nothing if it has one, for then it has begun. */
    private void takeOverBackup() throws IOException {
        if (backup.isPresent() && storage.loadLatestSnapshot() == null) {
            SnapshotFile.State state = SnapshotFile.read(backup.get());
            Path file = storage.getSnapshotFile(0, state.image().version()).toPath();
            Files.createDirectories(file.getParent());
            SnapshotFile.write(file, state, () -> false);
            MD5FileUtil.computeAndSaveMd5ForFile(file.toFile());
        }
    }

    private void restore() throws IOException {
        SingleFileSnapshotInfo newest = storage.loadLatestSnapshot();
        if (newest == null) {
            return;
        }
        SnapshotFile.State state = SnapshotFile.read(newest.getFile().getPath());
        machine = new MetadataStateMachine(state.image(), state.history());
        image = state.image();
        lastSnapshot = newest.getTermIndex();
        lastStartedIndex = newest.getIndex();
        setLastAppliedTermIndex(newest.getTermIndex());
        LOG.info(
                "event=snapshot_read index={} version={} file={}",
                newest.getIndex(),
                image.version(),
                newest.getFile());
        listener.onRestored(image);
    }

    @Override
    public SimpleStateMachineStorage getStateMachineStorage() {
        return storage;
    }

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
        LogEntryProto entry = transaction.getLogEntry();
        if (failed) {
            return CompletableFuture.failedFuture(new IllegalStateException("This node's state is wrong"));
        }
        try {
            MetadataImage before = machine.image();
            MetadataCommand command = MetadataCommand.parseFrom(
                    entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer());
            MetadataStateMachine.Applied applied = machine.apply(entry.getIndex(), command);
            image = machine.image();
            updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
            if (!applied.records().isEmpty()) {
                listener.onApplied(before, image, applied.records());
            }
            snapshotIfDue();
            return CompletableFuture.completedFuture(messageOf(applied.reply()));
        } catch (Throwable broken) {
            failed = true;
            faults.onFault("apply of entry " + entry.getIndex(), broken);
            return CompletableFuture.failedFuture(broken);
        }
    }

    @Override
    public CompletableFuture<Message> query(Message request) {
        // Everything committed when the question was asked has been applied when Ratis asks it.
        return CompletableFuture.completedFuture(
                messageOf(CommandReply.newBuilder().setVersion(image.version()).build()));
    }

    static Message messageOf(CommandReply reply) {
        return Message.valueOf(ByteString.copyFrom(reply.toByteArray()));
    }

    private void snapshotIfDue() {
        TermIndex applied = getLastAppliedTermIndex();
        if (applied.getIndex() - lastStartedIndex >= snapshotEntries) {
            startSnapshot();
        }
    }

    /** Begins to write a snapshot of the newest state, unless one is being written. Called on the thread that applies. */
    private void startSnapshot() {
        if (!failed && writing.compareAndSet(false, true)) {
            TermIndex at = getLastAppliedTermIndex();
            lastStartedIndex = at.getIndex();
            SnapshotFile.State state = new SnapshotFile.State(machine.image(), machine.history());
            writerAborted = false;
            snapshotWriter.execute(() -> write(at, state));
        }
    }

    private void write(TermIndex at, SnapshotFile.State state) {
        boolean written = false;
        try {
            Path file = storage.getSnapshotFile(at.getTerm(), at.getIndex()).toPath();
            written = SnapshotFile.write(file, state, () -> writerAborted);
            if (written) {
                MD5Hash digest = MD5FileUtil.computeAndSaveMd5ForFile(file.toFile());
                newestWritten = new SingleFileSnapshotInfo(new FileInfo(file, digest), at.getTerm(), at.getIndex());
                LOG.info("event=snapshot_written index={} bytes={}", at.getIndex(), Files.size(file));
            }
        } catch (IOException | RuntimeException trouble) {
            LOG.warn("event=snapshot_failed index={} reason=\"{}\"", at.getIndex(), trouble.toString());
        } finally {
            writing.set(false);
        }
        if (written) {
            onSnapshotWritten.run();
        }
    }

    @Override
    public long takeSnapshot() {
        SingleFileSnapshotInfo newest = newestWritten;
        if (newest != null && newest.getIndex() > lastSnapshot.getIndex()) {
            storage.updateLatestSnapshot(newest);
            lastSnapshot = newest.getTermIndex();
        }
        return lastSnapshot.getIndex();
    }

    private void stopWriter() {
        writerAborted = true;
        CompletableFuture<Void> idle = CompletableFuture.runAsync(() -> {}, snapshotWriter);
        try {
            idle.orTimeout(WRITER_STOP_MS_MAX, TimeUnit.MILLISECONDS).join();
        } catch (RuntimeException late) {
            LOG.warn("event=snapshot_writer_late reason=\"{}\"", late.toString());
        }
    }

    private void deleteDrafts() throws IOException {
        Path directory = storage.getSnapshotFile(0, 0).toPath().getParent();
        if (Files.isDirectory(directory)) {
            try (var drafts = Files.newDirectoryStream(directory, "*.draft")) {
                for (Path draft : drafts) {
                    Files.deleteIfExists(draft);
                }
            }
        }
    }

    @Override
    public void notifyLeaderReady() {
        listener.onLeading();
    }

    @Override
    public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
        if (!member.getPeerId().equals(leader)) {
            listener.onFollowing();
        }
    }

    @Override
    public void notifyNotLeader(java.util.Collection<TransactionContext> pending) {
        listener.onFollowing();
    }

    @Override
    public void notifyLogFailed(Throwable cause, LogEntryProto entry) {
        // A disk that failed once is not trusted again by this process (I-12).
        failed = true;
        faults.onFault("write of the metadata log", cause);
    }

    @Override
    public void close() {
        stopWriter();
        snapshotWriter.shutdown();
    }
}
