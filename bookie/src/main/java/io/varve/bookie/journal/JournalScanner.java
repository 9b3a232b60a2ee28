package io.varve.bookie.journal;

import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.JournalRecovery.Decision;
import io.varve.bookie.core.JournalRecovery.Head;
import io.varve.bookie.core.JournalRecovery.Later;
import io.varve.bookie.core.JournalRecovery.Order;
import io.varve.bookie.core.JournalRecovery.Payload;
import io.varve.bookie.core.JournalRecovery.Place;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.core.RecoveryRule;
import io.varve.bookie.disk.DiskFile;
import io.varve.protocol.storage.EntryFormat;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Reads the journal files that have no index yet, in order, gathers the evidence for {@link JournalRecovery}, and carries out what it decides. Used by one
 * thread, at the start; and by the tools.
 */
public final class JournalScanner {

    private static final int WINDOW_BYTES = 4 * 1024 * 1024;

    /** Takes what is found. */
    public interface Visitor {
        /**
         * A record counts.
         *
         * @param record holds it at {@code at}, until the call returns
         * @param position in the file
         */
        void onRecord(RecordType type, ByteBuffer record, int at, long file, long position);

        /** A record's payload is damaged; its fixed part is intact. */
        void onSegmentDamaged(RecordType type, ByteBuffer record, int at, long file, long position);

        /** Records are missing before the ones that follow. */
        void onJournalDamaged(long file, long position);
    }

    /**
     * A file to be read.
     *
     * @param bytes its length
     * @param groupsEnd where the room for groups ends
     * @param reach beyond which no group of the file's present life stands
     */
    public record Source(long number, DiskFile file, long bytes, long groupsEnd, long reach) {

        /** Finds out the length and the reach of a file of that directory. */
        public static Source of(long number, DiskFile file, long incarnation) throws IOException {
            long bytes = file.size();
            long last = JournalFormat.groupsEnd(bytes);
            ByteBuffer block = ByteBuffer.allocate(JournalFormat.BLOCK_BYTES);
            if (last >= JournalFormat.BLOCK_BYTES) {
                file.read(block, last);
            }
            long reach = JournalFormat.reach(block.flip(), JournalFormat.fileTag(number, incarnation));
            return reach < 0
                    ? new Source(number, file, bytes, bytes, bytes)
                    : new Source(number, file, bytes, last, Math.min(last, reach));
        }
    }

    /**
     * How a file ended.
     *
     * @param how why reading stopped there
     * @param end where, block-aligned: behind the last group of which something counts
     * @param lastGroupStart where the last group of which something counts starts, or {@code end} if there is none
     * @param records how many counted
     */
    public record FileEnd(long number, Decision how, long end, long lastGroupStart, long records) {}

    private final long incarnation;
    private final RecoveryRule rule;
    private ByteBuffer window = ByteBuffer.allocateDirect(0);
    private Source source;
    private long windowStart;
    private long expected;

    /**
     * @param incarnation of the directory
     * @param sequence of the first record to come, or -1 if it isn't known: then the first valid one counts
     * @param rule what decides
     */
    public JournalScanner(long incarnation, long sequence, RecoveryRule rule) {
        this.incarnation = incarnation;
        this.expected = sequence;
        this.rule = rule;
    }

    /** The sequence number behind the last record that was found. */
    public long nextSequence() {
        return Math.max(0, expected);
    }

    /**
     * Reads one file.
     *
     * @param laterFiles all files after it, in order
     */
    public FileEnd scan(Source from, java.util.List<Source> laterFiles, Visitor visitor) throws IOException {
        open(from);
        int tag = JournalFormat.fileTag(from.number(), incarnation);
        long position = JournalFormat.BLOCK_BYTES;
        long groupStart = position;
        long lastGroupStart = -1;
        long records = 0;
        Place place = Place.GROUP_START;
        while (true) {
            Head head = headAt(position, tag);
            Order order = Order.OTHER;
            Payload payload = Payload.INTACT;
            int at = (int) (position - windowStart);
            if (head == Head.VALID) {
                order = orderAt(at, groupStart);
                payload = payloadAt(position);
                at = (int) (position - windowStart);
            }
            boolean plain = head == Head.VALID && order == Order.NEXT && payload == Payload.INTACT;
            Later later = plain ? Later.NOTHING : laterThan(position, groupStart, tag, laterFiles);
            Decision decision = rule.decide(head, order, payload, place, later);
            switch (decision) {
                case TAKE, SEGMENT_DAMAGED -> {
                    ensure(position, headBytes(position));
                    at = (int) (position - windowStart);
                    RecordType type = JournalFormat.type(window, at);
                    int length = JournalFormat.length(window, at);
                    boolean last = JournalFormat.isLast(window, at);
                    expected = JournalFormat.sequence(window, at) + 1;
                    if (decision == Decision.TAKE) {
                        ensure(position, JournalFormat.RECORD_HEADER_BYTES + length);
                        at = (int) (position - windowStart);
                        visitor.onRecord(type, window, at, from.number(), position);
                    } else {
                        visitor.onSegmentDamaged(type, window, at, from.number(), position);
                    }
                    records++;
                    lastGroupStart = groupStart;
                    position += JournalFormat.recordAligned(JournalFormat.RECORD_HEADER_BYTES + length);
                    place = Place.WITHIN_GROUP;
                    if (last) {
                        position = JournalFormat.blockAligned(position);
                        groupStart = position;
                        place = Place.GROUP_START;
                    }
                }
                case JOURNAL_DAMAGED -> {
                    visitor.onJournalDamaged(from.number(), position);
                    long resume = nextGroup(Math.max(position, groupStart), groupStart, tag);
                    if (resume < 0) {
                        return end(from, decision, position, lastGroupStart, records);
                    }
                    ensure(resume, JournalFormat.RECORD_HEADER_BYTES);
                    expected = JournalFormat.sequence(window, (int) (resume - windowStart));
                    position = resume;
                    groupStart = resume;
                    place = Place.GROUP_START;
                }
                case END_CLEAN, END_TORN, END_OF_FILE -> {
                    return end(from, decision, position, lastGroupStart, records);
                }
            }
        }
    }

    private FileEnd end(Source from, Decision how, long position, long lastGroupStart, long records) {
        long end = JournalFormat.blockAligned(position);
        return new FileEnd(from.number(), how, end, lastGroupStart < 0 ? end : lastGroupStart, records);
    }

    private void open(Source from) {
        source = from;
        windowStart = 0;
        int bytes = (int) Math.min(WINDOW_BYTES, from.groupsEnd());
        if (window.capacity() < bytes) {
            window = ByteBuffer.allocateDirect(bytes);
        }
        window.limit(0);
    }

    private Order orderAt(int at, long groupStart) {
        boolean group = (long) JournalFormat.groupBlock(window, at) * JournalFormat.BLOCK_BYTES == groupStart;
        boolean sequence = expected < 0 || JournalFormat.sequence(window, at) == expected;
        return group && sequence ? Order.NEXT : Order.OTHER;
    }

    /** What stands at a position; if it is valid, the window holds its head. */
    private Head headAt(long position, int tag) throws IOException {
        if (position + JournalFormat.RECORD_HEADER_BYTES > source.groupsEnd()
                || !ensure(position, JournalFormat.RECORD_HEADER_BYTES)) {
            return Head.BEYOND;
        }
        int at = (int) (position - windowStart);
        if (window.getLong(at) == 0 && window.getLong(at + 8) == 0 && window.getLong(at + 16) == 0) {
            return Head.ZEROS;
        }
        RecordType type = JournalFormat.type(window, at);
        int length = JournalFormat.length(window, at);
        if (type == null || !isPossible(type, length) || !ensure(position, headBytes(type))) {
            return Head.BAD;
        }
        at = (int) (position - windowStart);
        if (JournalFormat.claimedChecksum(window, at) != JournalFormat.headChecksum(window, at, type)) {
            return Head.BAD;
        }
        if (JournalFormat.fileTag(window, at) != tag) {
            return Head.STALE;
        }
        return position + JournalFormat.RECORD_HEADER_BYTES + length <= source.groupsEnd() ? Head.VALID : Head.BAD;
    }

    private static boolean isPossible(RecordType type, int length) {
        return type.hasPayload()
                ? length >= type.fixedBytes() && length <= JournalFormat.RECORD_BYTES_MAX
                : length == type.fixedBytes();
    }

    private int headBytes(long position) {
        return headBytes(JournalFormat.type(window, (int) (position - windowStart)));
    }

    private static int headBytes(RecordType type) {
        return JournalFormat.RECORD_HEADER_BYTES + type.fixedBytes();
    }

    private Payload payloadAt(long position) throws IOException {
        int at = (int) (position - windowStart);
        int length = JournalFormat.length(window, at);
        RecordType type = JournalFormat.type(window, at);
        if (!type.hasPayload()) {
            return Payload.INTACT;
        }
        if (!ensure(position, JournalFormat.RECORD_HEADER_BYTES + length)) {
            return Payload.BAD;
        }
        return isPayloadIntact(window, (int) (position - windowStart)) ? Payload.INTACT : Payload.BAD;
    }

    /** Whether the payload of a whole record with an intact head is intact. */
    public static boolean isPayloadIntact(ByteBuffer in, int at) {
        RecordType type = JournalFormat.type(in, at);
        int length = JournalFormat.length(in, at);
        int payload = JournalFormat.fixedAt(at) + type.fixedBytes();
        return switch (type) {
            case ENTRY -> {
                int entry = at + JournalFormat.ENTRY_AT;
                yield EntryFormat.payloadLength(in, entry) == length - type.fixedBytes()
                        && EntryFormat.isIntact(in, entry);
            }
            case CHECKPOINT ->
                JournalFormat.checksum(in, payload, length - type.fixedBytes())
                        == in.getInt(JournalFormat.fixedAt(at) + 16);
            default -> true;
        };
    }

    /** What stands behind, starting with the block after {@code position}. Moves the window. */
    private Later laterThan(long position, long groupStart, int tag, java.util.List<Source> laterFiles)
            throws IOException {
        if (nextGroup(position, groupStart, tag) >= 0) {
            return Later.LATER_GROUP;
        }
        Source here = source;
        try {
            for (Source later : laterFiles) {
                open(later);
                int laterTag = JournalFormat.fileTag(later.number(), incarnation);
                long first = nextGroup(0, 0, laterTag);
                if (first >= 0) {
                    boolean continues = later.number() == here.number() + 1
                            && first == JournalFormat.BLOCK_BYTES
                            && JournalFormat.sequence(window, (int) (first - windowStart)) == expected;
                    return continues ? Later.NEXT_FILE_CONTINUES : Later.LATER_GROUP;
                }
            }
            return Later.NOTHING;
        } finally {
            open(here);
        }
    }

    /** The first block behind {@code position} at which a valid record starts a group after the one at {@code groupStart}, or -1. */
    private long nextGroup(long position, long groupStart, int tag) throws IOException {
        long block = JournalFormat.blockAligned(position + 1);
        for (; block + JournalFormat.BLOCK_BYTES <= source.reach(); block += JournalFormat.BLOCK_BYTES) {
            if (headAt(block, tag) == Head.VALID) {
                int at = (int) (block - windowStart);
                long group = (long) JournalFormat.groupBlock(window, at) * JournalFormat.BLOCK_BYTES;
                if (group == block && group > groupStart) {
                    return block;
                }
            }
        }
        return -1;
    }

    /** Has the window hold that stretch. */
    private boolean ensure(long position, int bytes) throws IOException {
        if (position + bytes > source.groupsEnd()) {
            return false;
        }
        if (position >= windowStart && position + bytes <= windowStart + window.limit()) {
            return true;
        }
        if (bytes > window.capacity()) {
            window = ByteBuffer.allocateDirect((int) JournalFormat.blockAligned(bytes));
        }
        windowStart = position;
        // Nothing that counts stands beyond the reach.
        long useful = Math.max(bytes, source.reach() - position);
        window.clear().limit((int) Math.min(window.capacity(), useful));
        int read = source.file().read(window, position);
        window.flip();
        return read >= bytes;
    }
}
