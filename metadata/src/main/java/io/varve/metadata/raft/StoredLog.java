package io.varve.metadata.raft;

import com.google.protobuf.InvalidProtocolBufferException;
import io.varve.metadata.core.CommandHistory;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.core.MetadataStateMachine;
import io.varve.protocol.meta.MetadataCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.RaftServerConfigKeys.Log.CorruptionPolicy;
import org.apache.ratis.server.raftlog.segmented.LogSegment;
import org.apache.ratis.server.raftlog.segmented.LogSegmentPath;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.util.SizeInBytes;

/** Looks into a log's directory, as in {@link RaftSettings#directory}, while nothing uses it. A torn tail is what an fsync never covered: what comes before it counts. */
public final class StoredLog {

    private static final SizeInBytes ENTRY_BYTES_MAX = SizeInBytes.valueOf(RaftNode.COMMAND_BYTES_MAX + (1 << 20));

    private final SortedMap<Long, Path> snapshots = new TreeMap<>();
    private final SortedMap<Path, LogSegmentPath> segments = new TreeMap<>();

    private StoredLog(Path directory) throws IOException {
        if (Files.isDirectory(directory)) {
            try (Stream<Path> all = Files.walk(directory)) {
                all.filter(Files::isRegularFile).forEach(this::add);
            }
        }
    }

    private void add(Path file) {
        if (SimpleStateMachineStorage.SNAPSHOT_REGEX
                .matcher(file.getFileName().toString())
                .matches()) {
            snapshots.put(
                    SimpleStateMachineStorage.getTermIndexFromSnapshotFile(file.toFile())
                            .getIndex(),
                    file);
        }
        LogSegmentPath segment = LogSegmentPath.matchLogSegment(file);
        if (segment != null) {
            segments.put(file, segment);
        }
    }

    /** The index of the last entry that the directory holds, in a file of the log or in a snapshot; -1 if it holds none. */
    public static long lastIndex(Path directory) throws IOException {
        StoredLog log = new StoredLog(directory);
        long[] last = {log.snapshots.isEmpty() ? -1 : log.snapshots.lastKey()};
        log.forEachEntry(entry -> last[0] = Math.max(last[0], entry.getIndex()));
        return last[0];
    }

    /**
     * The state after the last entry that the directory holds, committed or not.
     *
     * @throws IOException if there is none, or something before its end is missing or damaged
     */
    public static SnapshotFile.State lastState(Path directory) throws IOException {
        StoredLog log = new StoredLog(directory);
        if (log.snapshots.isEmpty() && log.segments.isEmpty()) {
            throw new IOException("There is no log in " + directory);
        }
        long start = log.snapshots.isEmpty() ? -1 : log.snapshots.lastKey();
        SnapshotFile.State saved = log.snapshots.isEmpty()
                ? new SnapshotFile.State(MetadataImage.EMPTY, CommandHistory.EMPTY)
                : SnapshotFile.read(log.snapshots.get(start));
        SortedMap<Long, LogEntryProto> later = new TreeMap<>();
        log.forEachEntry(entry -> {
            if (entry.getIndex() > start) {
                later.put(entry.getIndex(), entry);
            }
        });
        MetadataStateMachine machine = new MetadataStateMachine(saved.image(), saved.history());
        long expected = start + 1;
        for (LogEntryProto entry : later.values()) {
            if (entry.getIndex() != expected++) {
                throw new IOException("Entry " + (expected - 1) + " of the log in " + directory + " is missing");
            }
            apply(machine, entry);
        }
        return new SnapshotFile.State(machine.image(), machine.history());
    }

    private static void apply(MetadataStateMachine machine, LogEntryProto entry) throws IOException {
        if (!entry.hasStateMachineLogEntry()) {
            return;
        }
        try {
            machine.apply(
                    entry.getIndex(),
                    MetadataCommand.parseFrom(
                            entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer()));
        } catch (InvalidProtocolBufferException damaged) {
            throw new IOException("Entry " + entry.getIndex() + " of the log is damaged: " + damaged.getMessage());
        }
    }

    private void forEachEntry(Consumer<LogEntryProto> consumer) throws IOException {
        for (LogSegmentPath segment : segments.values()) {
            LogSegment.readSegmentFile(
                    segment.getPath().toFile(),
                    segment.getStartEnd(),
                    ENTRY_BYTES_MAX,
                    CorruptionPolicy.WARN_AND_RETURN,
                    null,
                    consumer);
        }
    }
}
