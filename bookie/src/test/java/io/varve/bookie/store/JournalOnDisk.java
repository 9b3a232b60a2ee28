package io.varve.bookie.store;

import io.varve.bookie.core.Checksummer;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.JournalRecovery;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.disk.DiskFile;
import io.varve.bookie.disk.ReadOnlyDisk;
import io.varve.bookie.journal.JournalFiles;
import io.varve.bookie.journal.JournalScanner;
import io.varve.protocol.storage.EntryFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A journal file that a store has left behind: its records, and ways to change its bytes that know where they are. */
final class JournalOnDisk {

    static final int BLOCK = JournalFormat.BLOCK_BYTES;

    private final Path path;
    private final long number;
    private final long incarnation;
    private final ByteBuffer bytes;
    private final List<Found> records;

    /**
     * A record.
     *
     * @param group where its group starts
     * @param segment 0 if it isn't an entry
     * @param first offset of the entry
     */
    record Found(RecordType type, long position, long group, long sequence, long segment, long first, int length) {

        boolean isEntry() {
            return type == RecordType.ENTRY;
        }

        /** Where its group ends, if it is the last one of it. */
        int end() {
            return (int) JournalFormat.blockAligned(position + JournalFormat.RECORD_HEADER_BYTES + length);
        }
    }

    private JournalOnDisk(Path path, long number, long incarnation, ByteBuffer bytes, List<Found> records) {
        this.path = path;
        this.number = number;
        this.incarnation = incarnation;
        this.bytes = bytes;
        this.records = records;
    }

    static Path path(Path directory, long number) {
        return directory.resolve(JournalFiles.name(number));
    }

    static JournalOnDisk read(Path directory, long number) throws IOException {
        Path path = path(directory, number);
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path));
        long incarnation = JournalFormat.headerIncarnation(bytes);
        List<Found> records = new ArrayList<>();
        try (DiskFile file = new ReadOnlyDisk(directory).open(JournalFiles.name(number))) {
            new JournalScanner(incarnation, -1, JournalRecovery::decide)
                    .scan(JournalScanner.Source.of(number, file, incarnation), List.of(), new Collector(records));
        }
        return new JournalOnDisk(path, number, incarnation, bytes, records);
    }

    private record Collector(List<Found> to) implements JournalScanner.Visitor {
        @Override
        public void onRecord(RecordType type, ByteBuffer record, int at, long file, long position) {
            boolean entry = type == RecordType.ENTRY;
            to.add(new Found(
                    type,
                    position,
                    (long) JournalFormat.groupBlock(record, at) * BLOCK,
                    JournalFormat.sequence(record, at),
                    entry ? record.getLong(JournalFormat.fixedAt(at)) : 0,
                    entry ? EntryFormat.firstOffset(record, at + JournalFormat.ENTRY_AT) : 0,
                    JournalFormat.length(record, at)));
        }

        @Override
        public void onSegmentDamaged(RecordType type, ByteBuffer record, int at, long file, long position) {
            throw new AssertionError("a store left a damaged record behind");
        }

        @Override
        public void onJournalDamaged(long file, long position) {
            throw new AssertionError("a store left a damaged journal behind");
        }
    }

    List<Found> records() {
        return records;
    }

    Found entry(long segment, long first) {
        return records.stream()
                .filter(record -> record.isEntry() && record.segment == segment && record.first == first)
                .findFirst()
                .orElseThrow();
    }

    Found lastEntry() {
        return records.stream()
                .filter(Found::isEntry)
                .reduce((one, later) -> later)
                .orElseThrow();
    }

    Found last() {
        return records.get(records.size() - 1);
    }

    /** As if nothing had been written from there on. */
    void eraseFrom(long position) {
        int end = (int) JournalFormat.groupsEnd(bytes.capacity());
        for (int at = (int) position; at < end; at++) {
            bytes.put(at, (byte) 0);
        }
    }

    void erase(long position, int length) {
        for (int at = (int) position; at < position + length; at++) {
            bytes.put(at, (byte) 0);
        }
    }

    void flip(long position) {
        bytes.put((int) position, (byte) (bytes.get((int) position) ^ 4));
    }

    /** In the payload of an entry, well behind its header. */
    void flipPayloadOf(Found entry) {
        flip(entry.position + JournalFormat.ENTRY_AT + EntryFormat.HEADER_BYTES + 5);
    }

    /** A record alone in its group. */
    void putMark(long position, long sequence, long ofFile) {
        JournalFormat.putRecordHeader(
                bytes,
                (int) position,
                RecordType.MARK,
                true,
                (int) (position / BLOCK),
                0,
                JournalFormat.fileTag(ofFile, incarnation),
                sequence,
                new Checksummer());
    }

    void putMark(long position, long sequence) {
        putMark(position, sequence, number);
    }

    void putInt(long position, int value) {
        bytes.putInt((int) position, value);
    }

    void save() throws IOException {
        Files.write(path, bytes.array());
    }

    /** With no room behind {@code end}: a file that is full to its last block. */
    void saveEndingAt(int end) throws IOException {
        ByteBuffer shorter = ByteBuffer.allocate(end + BLOCK);
        shorter.put(0, bytes, 0, end);
        shorter.put(0, JournalFormat.fileHeader(number, end + BLOCK, incarnation), 0, BLOCK);
        shorter.put(end, JournalFormat.reachBlock(JournalFormat.fileTag(number, incarnation), end), 0, BLOCK);
        Files.write(path, shorter.array());
    }
}
