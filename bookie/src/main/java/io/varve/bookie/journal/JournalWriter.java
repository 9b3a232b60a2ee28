package io.varve.bookie.journal;

import io.netty.buffer.ByteBuf;
import io.varve.base.Invariant;
import io.varve.bookie.core.Checksummer;
import io.varve.bookie.core.GroupCommit;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import java.nio.ByteBuffer;
import java.util.function.LongFunction;

/** Puts records into the group that forms. Belongs to the journal's thread. */
public final class JournalWriter {

    /** What became of an op. */
    enum Outcome {
        /** It is in the forming group. */
        ENCODED,
        /** The forming group has to go first. */
        GROUP_FULL,
        /** The file is full and no other is ready. */
        NO_FILE
    }

    private final JournalFiles files;
    private final RecentGroups recent;
    private final GroupCommit commit;
    private final long incarnation;
    private final LongFunction<JournalOp> onFileFull;
    private final Checksummer checksummer = new Checksummer();
    private JournalFile file;
    private int fileTag;
    private int opsExpected;
    private Group forming;
    private ByteBuffer view;
    private int recordAt;
    private int recordLength;
    private RecordType recordType;

    /**
     * @param onFileFull asked with the number of a file when its last record was encoded, and none of the next; the op it returns is done when the file is
     *     durable as a whole
     */
    JournalWriter(
            JournalFiles files,
            RecentGroups recent,
            GroupCommit commit,
            long incarnation,
            LongFunction<JournalOp> onFileFull) {
        this.files = files;
        this.recent = recent;
        this.commit = commit;
        this.incarnation = incarnation;
        this.onFileFull = onFileFull;
    }

    /** The group that forms, or {@code null}. */
    Group forming() {
        return forming;
    }

    /** The forming group is out of our hands. */
    void onFormingTaken() {
        opsExpected = forming.ops.size();
        forming.slab.use(forming.slab.indexOf(forming.position) + (int) JournalFormat.blockAligned(forming.bytes()));
        forming = null;
        commit.onGroupClosed();
    }

    Outcome tryEncode(JournalOp op) {
        if (forming != null && forming.full) {
            return Outcome.GROUP_FULL;
        }
        int room = op.roomBytes();
        if (file == null && !openNextFile()) {
            return Outcome.NO_FILE;
        }
        if (forming == null) {
            beginGroup(room);
        }
        switch (commit.place(room, forming.slab.capacity() - forming.endAt)) {
            case THIS_GROUP -> {
                if (forming.slab.capacity() - forming.endAt < room) {
                    Invariant.check(forming.bytes() == 0, "only an empty group changes its memory");
                    replaceEmptyGroup(room);
                }
            }
            case NEXT_GROUP -> {
                forming.full = true;
                return Outcome.GROUP_FULL;
            }
            case NEXT_FILE -> {
                if (forming.bytes() > 0) {
                    forming.full = true;
                    return Outcome.GROUP_FULL;
                }
                if (!switchFile(room)) {
                    return Outcome.NO_FILE;
                }
            }
        }
        op.encode(this);
        forming.ops.add(op);
        forming.pendingBytes += op.pendingBytes();
        return Outcome.ENCODED;
    }

    private boolean openNextFile() {
        JournalFile next = files.takeReady();
        if (next == null) {
            return false;
        }
        file = next;
        fileTag = JournalFormat.fileTag(next.number(), incarnation);
        commit.onFileOpened();
        return true;
    }

    private boolean switchFile(int room) {
        long full = file.number();
        if (!openNextFile()) {
            return false;
        }
        replaceEmptyGroup(room);
        forming.ops.add(onFileFull.apply(full));
        return true;
    }

    private void replaceEmptyGroup(int room) {
        Group old = forming;
        beginGroup(room);
        forming.ops.addAll(old.ops);
        forming.pendingBytes = old.pendingBytes;
        old.slab.release();
    }

    private void beginGroup(int room) {
        Slab slab = recent.forGroup(file.number(), commit.groupStart(), (int) JournalFormat.blockAligned(room));
        forming = new Group(file, commit.groupStart(), slab, opsExpected);
        view = slab.memory().duplicate();
    }

    /**
     * Begins a record.
     *
     * @return where in {@link #buffer} its fixed part goes
     */
    public int begin(RecordType type, int payloadBytes) {
        recordType = type;
        recordAt = forming.endAt;
        recordLength = type.fixedBytes() + payloadBytes;
        return JournalFormat.fixedAt(recordAt);
    }

    /** For absolute writes of the fixed part. */
    public ByteBuffer buffer() {
        return forming.slab.memory();
    }

    /** Copies all readable bytes behind the fixed part; the indices of {@code from} are left alone. */
    public void putPayload(ByteBuf from) {
        int at = JournalFormat.fixedAt(recordAt) + recordType.fixedBytes();
        view.limit(at + from.readableBytes()).position(at);
        from.getBytes(from.readerIndex(), view);
    }

    /**
     * Ends the record.
     *
     * @return its position in the file
     */
    public long end() {
        int bytes = JournalFormat.RECORD_HEADER_BYTES + recordLength;
        int aligned = JournalFormat.recordAligned(bytes);
        ByteBuffer memory = forming.slab.memory();
        for (int at = recordAt + bytes; at < recordAt + aligned; at++) {
            memory.put(at, (byte) 0);
        }
        long position = commit.position();
        long sequence = commit.onRecord(aligned);
        int groupBlock = (int) (forming.position / JournalFormat.BLOCK_BYTES);
        JournalFormat.putRecordHeader(
                memory, recordAt, recordType, false, groupBlock, recordLength, fileTag, sequence, checksummer);
        forming.lastRecordAt = recordAt;
        forming.endAt = recordAt + aligned;
        return position;
    }

    long nextSequence() {
        return commit.sequence();
    }

    /** The number of the file that the record goes to. */
    public long fileNumber() {
        return file.number();
    }
}
