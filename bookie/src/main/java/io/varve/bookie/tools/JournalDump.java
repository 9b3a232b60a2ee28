package io.varve.bookie.tools;

import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.JournalRecovery;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.disk.DiskFile;
import io.varve.bookie.disk.ReadOnlyDisk;
import io.varve.bookie.journal.JournalScanner;
import io.varve.protocol.storage.EntryFormat;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** Prints a journal file's records. */
final class JournalDump implements JournalScanner.Visitor {

    private final PrintStream out;
    private boolean damaged;

    private JournalDump(PrintStream out) {
        this.out = out;
    }

    static int print(Path path, PrintStream out) throws IOException {
        Path parent = path.toAbsolutePath().getParent();
        try (DiskFile file = new ReadOnlyDisk(parent).open(path.getFileName().toString())) {
            ByteBuffer header = ByteBuffer.allocate(JournalFormat.BLOCK_BYTES);
            file.read(header, 0);
            header.flip();
            if (!JournalFormat.isAnyFileHeader(header)) {
                out.println("this is no journal file, or its header is damaged");
                return 1;
            }
            long number = JournalFormat.headerFileNumber(header);
            long incarnation = JournalFormat.headerIncarnation(header);
            JournalScanner.Source source = JournalScanner.Source.of(number, file, incarnation);
            out.printf(
                    "journal file %d of directory %016x, %d bytes, reach %d%n",
                    number, incarnation, source.bytes(), source.reach());
            JournalDump dump = new JournalDump(out);
            JournalScanner.FileEnd end =
                    new JournalScanner(incarnation, -1, JournalRecovery::decide).scan(source, List.of(), dump);
            out.printf("%d records, end at %d, %s%n", end.records(), end.end(), end.how());
            return dump.damaged ? 1 : 0;
        }
    }

    @Override
    public void onRecord(RecordType type, ByteBuffer record, int at, long file, long position) {
        line(type, record, at, position, "");
    }

    @Override
    public void onSegmentDamaged(RecordType type, ByteBuffer record, int at, long file, long position) {
        damaged = true;
        line(type, record, at, position, "  PAYLOAD DAMAGED");
    }

    @Override
    public void onJournalDamaged(long file, long position) {
        damaged = true;
        out.printf("%12d  RECORDS MISSING OR DAMAGED%n", position);
    }

    private void line(RecordType type, ByteBuffer record, int at, long position, String remark) {
        out.printf(
                "%12d  #%d %s%s %s%s%n",
                position,
                JournalFormat.sequence(record, at),
                type,
                JournalFormat.isLast(record, at) ? " (last of its group)" : "",
                detail(type, record, JournalFormat.fixedAt(at)),
                remark);
    }

    private static String detail(RecordType type, ByteBuffer record, int fixed) {
        return switch (type) {
            case ENTRY ->
                "segment %d offsets %d to %d, %d bytes, high watermark %d"
                        .formatted(
                                record.getLong(fixed),
                                EntryFormat.firstOffset(record, fixed + 16),
                                EntryFormat.lastOffset(record, fixed + 16),
                                EntryFormat.payloadLength(record, fixed + 16),
                                record.getLong(fixed + 8));
            case CREATE ->
                "segment %d partition %s epoch %d start %d"
                        .formatted(
                                record.getLong(fixed),
                                partition(record, fixed + 8),
                                record.getInt(fixed + 28),
                                record.getLong(fixed + 32));
            case FENCE -> "partition %s epoch %d".formatted(partition(record, fixed), record.getInt(fixed + 20));
            case SEAL ->
                "segment %d end %d epoch %d"
                        .formatted(record.getLong(fixed), record.getLong(fixed + 8), record.getInt(fixed + 16));
            case DELETE, QUARANTINE -> "segment %d".formatted(record.getLong(fixed));
            case CHECKPOINT -> "segment %d offset %d".formatted(record.getLong(fixed), record.getLong(fixed + 8));
            case SETTLED ->
                "segment %d up to offset %d, %d bytes"
                        .formatted(record.getLong(fixed), record.getLong(fixed + 8), record.getLong(fixed + 16));
            case IMPORT ->
                "segment %d partition %s epoch %d offsets %d to %d, %d bytes"
                        .formatted(
                                record.getLong(fixed),
                                partition(record, fixed + 8),
                                record.getInt(fixed + 28),
                                record.getLong(fixed + 32),
                                record.getLong(fixed + 40) - 1,
                                record.getLong(fixed + 48));
            case MARK -> "";
        };
    }

    private static String partition(ByteBuffer record, int at) {
        return "%016x%016x-%d".formatted(record.getLong(at), record.getLong(at + 8), record.getInt(at + 16));
    }
}
