package io.varve.bookie.tools;

import io.varve.bookie.disk.DiskFile;
import io.varve.bookie.disk.ReadOnlyDisk;
import io.varve.bookie.store.SettledFormat;
import io.varve.protocol.storage.EntryFormat;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Prints a settled segment file's entries. */
final class SegmentDump {

    private SegmentDump() {}

    static int print(Path path, PrintStream out) throws IOException {
        Path parent = path.toAbsolutePath().getParent();
        try (DiskFile file = new ReadOnlyDisk(parent).open(path.getFileName().toString())) {
            ByteBuffer header = ByteBuffer.allocate(SettledFormat.HEADER_BYTES);
            file.read(header, 0);
            header.flip();
            if (!SettledFormat.isHeader(header)) {
                out.println("this is no segment file, or its header is damaged");
                return 1;
            }
            out.printf(
                    "segment %d epoch %d from offset %d%n",
                    SettledFormat.segment(header), SettledFormat.epoch(header), SettledFormat.startOffset(header));
            return printEntries(file, out);
        }
    }

    private static int printEntries(DiskFile file, PrintStream out) throws IOException {
        long position = SettledFormat.HEADER_BYTES;
        long size = file.size();
        ByteBuffer head = ByteBuffer.allocate(EntryFormat.HEADER_BYTES);
        while (position < size) {
            head.clear();
            file.read(head, position);
            head.flip();
            int length = head.limit() < EntryFormat.HEADER_BYTES ? -1 : EntryFormat.payloadLength(head, 0);
            if (length < 0 || length > EntryFormat.PAYLOAD_BYTES_MAX || position + head.limit() + length > size) {
                out.printf("%12d  NO ENTRY%n", position);
                return 1;
            }
            ByteBuffer entry = ByteBuffer.allocate(EntryFormat.HEADER_BYTES + length);
            file.read(entry, position);
            entry.flip();
            boolean intact = EntryFormat.isIntact(entry, 0);
            out.printf(
                    "%12d  offsets %d to %d, %d bytes%s%n",
                    position,
                    EntryFormat.firstOffset(entry, 0),
                    EntryFormat.lastOffset(entry, 0),
                    length,
                    intact ? "" : "  DAMAGED");
            if (!intact) {
                return 1;
            }
            position += EntryFormat.HEADER_BYTES + length;
        }
        return 0;
    }
}
