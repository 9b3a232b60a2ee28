package io.varve.metadata.core;

import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.MetadataRecord;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** Commands, and for each a checksum of what was decided: of the records, and of how it was answered but for the wording. Gzip around the command's length, the command and the checksum, for each. */
final class DecidedLog {

    private DecidedLog() {}

    /** @param decided a checksum of what the command came to */
    record Entry(MetadataCommand command, int decided) {

        static Entry of(MetadataCommand command, MetadataStateMachine.Applied applied) {
            CRC32C crc = new CRC32C();
            for (MetadataRecord record : applied.records()) {
                crc.update(record.toByteArray());
            }
            CommandReply.Builder reply = applied.reply().toBuilder();
            if (reply.hasRejection()) {
                reply.getRejectionBuilder().clearMessage();
            }
            crc.update(reply.build().toByteArray());
            return new Entry(command, (int) crc.getValue());
        }
    }

    static void write(OutputStream file, List<Entry> entries) throws IOException {
        try (DataOutputStream to = new DataOutputStream(new GZIPOutputStream(file))) {
            for (Entry entry : entries) {
                byte[] command = entry.command().toByteArray();
                to.writeInt(command.length);
                to.write(command);
                to.writeInt(entry.decided());
            }
        }
    }

    static List<Entry> read(InputStream file) throws IOException {
        List<Entry> entries = new ArrayList<>();
        try (DataInputStream from = new DataInputStream(new GZIPInputStream(file))) {
            while (true) {
                byte[] command = from.readNBytes(from.readInt());
                entries.add(new Entry(MetadataCommand.parseFrom(command), from.readInt()));
            }
        } catch (EOFException end) {
            return entries;
        }
    }
}
