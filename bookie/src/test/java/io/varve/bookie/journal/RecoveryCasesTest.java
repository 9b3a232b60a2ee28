package io.varve.bookie.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.bookie.core.Checksummer;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.JournalRecovery;
import io.varve.bookie.core.JournalRecovery.Case;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.disk.DiskFile;
import io.varve.bookie.disk.SimDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** For each case of the recovery table a disk on which a start meets it, made byte by byte, and what comes of it. */
class RecoveryCasesTest {

    private static final long INCARNATION = 0x1234_5678_9abcL;
    private static final int BLOCK = JournalFormat.BLOCK_BYTES;
    private static final int PAYLOAD_BYTES = 100;
    private static final int PAYLOAD_AT = JournalFormat.RECORD_HEADER_BYTES + RecordType.CHECKPOINT.fixedBytes();
    /** Sequence number and block behind {@link #threeGroups}. */
    private static final int NEXT = 4;

    private final TreeMap<Long, ByteBuffer> files = new TreeMap<>();
    private final Set<Case> met = EnumSet.noneOf(Case.class);
    private final List<String> events = new ArrayList<>();

    /** What a whole journal looks like: four records in three groups, in blocks 1 to 3 of file 1. */
    private ByteBuffer threeGroups(int blocks) {
        ByteBuffer file = file(1, blocks);
        mark(file, 1, BLOCK, 1, 0, true);
        int behind = checkpoint(file, 2 * BLOCK, 2, 1, false);
        mark(file, 1, behind, 2, 2, true);
        mark(file, 1, 3 * BLOCK, 3, 3, true);
        return file;
    }

    private ByteBuffer file(long number, int blocks) {
        ByteBuffer file = ByteBuffer.allocate(blocks * BLOCK);
        file.put(0, JournalFormat.fileHeader(number, (long) blocks * BLOCK, INCARNATION), 0, BLOCK);
        files.put(number, file);
        return file;
    }

    private static void mark(ByteBuffer file, long number, int at, int group, long sequence, boolean last) {
        int tag = JournalFormat.fileTag(number, INCARNATION);
        JournalFormat.putRecordHeader(file, at, RecordType.MARK, last, group, 0, tag, sequence, new Checksummer());
    }

    /** A record with a payload in file 1; answers where the next one goes. */
    private static int checkpoint(ByteBuffer file, int at, int group, long sequence, boolean last) {
        for (int payload = 0; payload < PAYLOAD_BYTES; payload++) {
            file.put(at + PAYLOAD_AT + payload, (byte) (payload * 7));
        }
        file.putInt(JournalFormat.fixedAt(at) + 16, JournalFormat.checksum(file, at + PAYLOAD_AT, PAYLOAD_BYTES));
        JournalFormat.putRecordHeader(
                file,
                at,
                RecordType.CHECKPOINT,
                last,
                group,
                RecordType.CHECKPOINT.fixedBytes() + PAYLOAD_BYTES,
                JournalFormat.fileTag(1, INCARNATION),
                sequence,
                new Checksummer());
        return at + JournalFormat.recordBytes(RecordType.CHECKPOINT, PAYLOAD_BYTES);
    }

    private static void garbage(ByteBuffer file, int at) {
        for (int byteAt = 0; byteAt < JournalFormat.RECORD_HEADER_BYTES; byteAt++) {
            file.put(at + byteAt, (byte) (0x55 + byteAt));
        }
    }

    private void scan() throws IOException {
        SimDisk disk = new SimDisk("cases", 1);
        List<JournalScanner.Source> sources = new ArrayList<>();
        for (var entry : files.entrySet()) {
            DiskFile file = disk.create("file-" + entry.getKey());
            file.write(entry.getValue().duplicate(), 0);
            sources.add(JournalScanner.Source.of(entry.getKey(), file, INCARNATION));
        }
        JournalScanner scanner = new JournalScanner(INCARNATION, 0, (head, order, payload, place, later) -> {
            Case is = JournalRecovery.caseOf(head, order, payload, place, later);
            met.add(is);
            return is.decision();
        });
        JournalScanner.FileEnd end = scanner.scan(sources.get(0), sources.subList(1, sources.size()), new Noted());
        events.add(end.how().name());
    }

    private final class Noted implements JournalScanner.Visitor {
        @Override
        public void onRecord(RecordType type, ByteBuffer record, int at, long file, long position) {
            events.add(Long.toString(JournalFormat.sequence(record, at)));
        }

        @Override
        public void onSegmentDamaged(RecordType type, ByteBuffer record, int at, long file, long position) {
            events.add("payload of " + JournalFormat.sequence(record, at));
        }

        @Override
        public void onJournalDamaged(long file, long position) {
            events.add("damage in block " + position / BLOCK);
        }
    }

    private void expect(Case expected, String... expectedEvents) throws IOException {
        scan();
        assertThat(met).contains(expected);
        assertThat(events).containsExactly(expectedEvents);
    }

    @Test
    void recordAndUnwritten() throws IOException {
        threeGroups(8);
        expect(Case.UNWRITTEN, "0", "1", "2", "3", "END_CLEAN");
        assertThat(met).contains(Case.RECORD);
    }

    @Test
    void payloadTorn() throws IOException {
        ByteBuffer file = threeGroups(8);
        checkpoint(file, NEXT * BLOCK, NEXT, NEXT, true);
        file.put(NEXT * BLOCK + PAYLOAD_AT + 9, (byte) 0);
        expect(Case.PAYLOAD_TORN, "0", "1", "2", "3", "END_TORN");
    }

    @Test
    void payloadDamaged() throws IOException {
        ByteBuffer file = threeGroups(8);
        file.put(2 * BLOCK + PAYLOAD_AT + 9, (byte) 0);
        expect(Case.PAYLOAD_DAMAGED, "0", "payload of 1", "2", "3", "END_CLEAN");
    }

    @Test
    void numberTwice() throws IOException {
        ByteBuffer file = threeGroups(8);
        checkpoint(file, NEXT * BLOCK, NEXT, NEXT, true);
        file.put(NEXT * BLOCK + PAYLOAD_AT + 9, (byte) 0);
        mark(file(2, 8), 2, BLOCK, 1, NEXT, true);
        expect(Case.NUMBER_TWICE, "0", "1", "2", "3", "damage in block 4", "JOURNAL_DAMAGED");
    }

    @Test
    void outOfOrder() throws IOException {
        ByteBuffer file = threeGroups(8);
        mark(file, 1, NEXT * BLOCK, NEXT, NEXT + 5, true);
        expect(Case.OUT_OF_ORDER, "0", "1", "2", "3", "damage in block 4", "JOURNAL_DAMAGED");
    }

    @Test
    void earlierLife() throws IOException {
        ByteBuffer file = threeGroups(8);
        mark(file, 77, NEXT * BLOCK, NEXT, NEXT, true);
        expect(Case.EARLIER_LIFE, "0", "1", "2", "3", "END_CLEAN");
    }

    @Test
    void groupHeadTorn() throws IOException {
        garbage(threeGroups(8), NEXT * BLOCK);
        expect(Case.GROUP_HEAD_TORN, "0", "1", "2", "3", "END_TORN");
    }

    @Test
    void lengthImpossible() throws IOException {
        ByteBuffer file = threeGroups(8);
        mark(file, 1, NEXT * BLOCK, NEXT, NEXT, true);
        file.putInt(NEXT * BLOCK + 8, Integer.MAX_VALUE);
        expect(Case.GROUP_HEAD_TORN, "0", "1", "2", "3", "END_TORN");
    }

    @Test
    void lastByte() throws IOException {
        threeGroups(NEXT);
        expect(Case.LAST_BYTE, "0", "1", "2", "3", "END_CLEAN");
    }

    @Test
    void nextFile() throws IOException {
        threeGroups(8);
        mark(file(2, 8), 2, BLOCK, 1, NEXT, true);
        expect(Case.NEXT_FILE, "0", "1", "2", "3", "END_OF_FILE");
    }

    @Test
    void groupMissing() throws IOException {
        ByteBuffer file = threeGroups(8);
        for (int at = 2 * BLOCK; at < 3 * BLOCK; at++) {
            file.put(at, (byte) 0);
        }
        expect(Case.GROUP_MISSING, "0", "damage in block 2", "3", "END_CLEAN");
    }

    @Test
    void fileMissing() throws IOException {
        threeGroups(NEXT);
        mark(file(3, 8), 3, BLOCK, 1, NEXT + 5, true);
        expect(Case.FILE_MISSING, "0", "1", "2", "3", "damage in block 4", "JOURNAL_DAMAGED");
    }

    @Test
    void groupTorn() throws IOException {
        checkpoint(threeGroups(8), NEXT * BLOCK, NEXT, NEXT, false);
        expect(Case.GROUP_TORN, "0", "1", "2", "3", "4", "END_TORN");
    }

    @Test
    void groupDamaged() throws IOException {
        ByteBuffer file = threeGroups(8);
        garbage(file, 2 * BLOCK + JournalFormat.recordBytes(RecordType.CHECKPOINT, PAYLOAD_BYTES));
        expect(Case.GROUP_DAMAGED, "0", "1", "damage in block 2", "3", "END_CLEAN");
    }

    /** A case without a disk that shows it is a case that nobody has thought through. */
    @Test
    void everyCaseHasATestOfItsName() {
        List<String> tests = new ArrayList<>();
        for (var method : RecoveryCasesTest.class.getDeclaredMethods()) {
            if (method.isAnnotationPresent(Test.class)) {
                tests.add(method.getName().toLowerCase(java.util.Locale.ROOT));
            }
        }
        for (Case is : Case.values()) {
            String name = is.name().replace("_", "").toLowerCase(java.util.Locale.ROOT);
            assertThat(tests).anyMatch(test -> test.contains(name));
        }
    }
}
