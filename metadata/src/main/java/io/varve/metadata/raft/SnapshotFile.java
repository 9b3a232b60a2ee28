package io.varve.metadata.raft;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import io.varve.metadata.core.CommandHistory;
import io.varve.metadata.core.ImageRecords;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.core.SnapshotReplay;
import io.varve.protocol.meta.CommandReply;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.SnapshotBlock;
import io.varve.protocol.meta.SnapshotClient;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32C;
import org.pcollections.TreePMap;

/**
 * The state at one index of the log in a file: also the form of a backup. All numbers big-endian.
 *
 * <pre>
 * header   magic "VARVMETA" (8) | major (2) | minor (2) | version (8) | digest (8) | crc32c of the header so far (4)
 * block*   length (4, positive) | crc32c of the bytes (4) | bytes: a SnapshotBlock message
 * end      length 0 (4) | number of blocks (4) | crc32c of all blocks' crcs in order (4)
 * </pre>
 *
 * <p>A later minor version adds fields or kinds of records that an older program may leave out; a later major one is refused. Whatever does not read back whole is refused:
 * there is no such thing as half a snapshot.
 */
public final class SnapshotFile {

    static final int MAJOR = 1;
    static final int MINOR = 0;

    private static final long MAGIC = 0x564152564d455441L;
    private static final int HEADER_BYTES = 32;
    private static final int BLOCK_BYTES_TARGET = 1 << 20;
    private static final int BLOCK_BYTES_MAX = 64 << 20;

    /** What a file holds. */
    public record State(MetadataImage image, CommandHistory history) {}

    private SnapshotFile() {}

    /**
     * Writes a file, whole and durable, or not at all.
     *
     * @param aborted asked now and then; once true, nothing is left behind
     * @return whether it was written
     */
    public static boolean write(Path file, State state, BooleanSupplier aborted) throws IOException {
        Path draft = file.resolveSibling(file.getFileName() + ".draft");
        try {
            try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(draft), 1 << 16)) {
                write(out, state, aborted);
            } catch (Aborted stopped) {
                return false;
            }
            force(draft);
            Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            force(file.toAbsolutePath().getParent());
            return true;
        } finally {
            Files.deleteIfExists(draft);
        }
    }

    /** Writes the same bytes to a stream, which stays open. */
    public static void write(OutputStream out, State state) throws IOException {
        write(out, state, () -> false);
    }

    private static void write(OutputStream out, State state, BooleanSupplier aborted) throws IOException {
        DataOutputStream fields = new DataOutputStream(out);
        Writer writer = new Writer(fields, aborted);
        try {
            writer.header(state.image());
            ImageRecords.stream(state.image()).forEach(writer::add);
            for (Map.Entry<Long, CommandHistory.Client> client :
                    state.history().clients().entrySet()) {
                writer.add(client.getKey(), client.getValue());
            }
            writer.end();
            fields.flush();
        } catch (UncheckedWrite failed) {
            throw failed.cause;
        }
    }

    /**
     * Reads a file.
     *
     * @throws IOException if it isn't whole, or of a later major version; in a line that names it
     */
    public static State read(Path file) throws IOException {
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
            return read(new DataInputStream(in));
        } catch (EOFException | InvalidProtocolBufferException | RuntimeException damaged) {
            throw new IOException("The snapshot " + file + " is damaged: " + damaged.getMessage(), damaged);
        } catch (IOException other) {
            throw new IOException("The snapshot " + file + " can't be read: " + other.getMessage(), other);
        }
    }

    private static State read(DataInputStream in) throws IOException {
        byte[] header = in.readNBytes(HEADER_BYTES);
        require(header.length == HEADER_BYTES, "it ends in its header");
        DataInputStream fields = new DataInputStream(new ByteArrayInputStream(header));
        require(fields.readLong() == MAGIC, "it is no snapshot");
        int major = fields.readUnsignedShort();
        require(major == MAJOR, "it has format version " + major + ", and this program reads version " + MAJOR);
        fields.readUnsignedShort();
        long version = fields.readLong();
        long digest = fields.readLong();
        require(fields.readInt() == crc(header, HEADER_BYTES - 4), "its header doesn't have its checksum");

        SnapshotReplay replay = new SnapshotReplay();
        CommandHistory history = CommandHistory.EMPTY;
        CRC32C all = new CRC32C();
        int blocks = 0;
        for (int length = in.readInt(); length != 0; length = in.readInt()) {
            require(length > 0 && length <= BLOCK_BYTES_MAX, "it has a block of " + length + " bytes");
            int crc = in.readInt();
            byte[] bytes = in.readNBytes(length);
            require(bytes.length == length, "it ends in a block");
            require(crc(bytes, length) == crc, "a block doesn't have its checksum");
            fold(all, crc);
            blocks++;
            SnapshotBlock block = SnapshotBlock.parseFrom(CodedInputStream.newInstance(bytes));
            for (MetadataRecord record : block.getRecordsList()) {
                replay.add(record);
            }
            for (SnapshotClient client : block.getClientsList()) {
                history = history.with(client.getId(), client(client));
            }
        }
        require(in.readInt() == blocks, "blocks are missing");
        require(in.readInt() == (int) all.getValue(), "blocks were exchanged");
        return new State(replay.finish(version, digest), history);
    }

    private static CommandHistory.Client client(SnapshotClient client) {
        TreePMap<Long, CommandReply> answers = TreePMap.empty();
        for (int i = 0; i < client.getSequencesCount(); i++) {
            answers = answers.plus(client.getSequences(i), client.getAnswers(i));
        }
        return new CommandHistory.Client(client.getAnsweredBelow(), client.getLastMs(), answers);
    }

    private static void require(boolean holds, String otherwise) throws IOException {
        if (!holds) {
            throw new IOException(otherwise);
        }
    }

    private static int crc(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    private static void fold(CRC32C all, int crc) {
        all.update(crc >>> 24);
        all.update(crc >>> 16);
        all.update(crc >>> 8);
        all.update(crc);
    }

    private static void force(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Collects records into blocks. */
    private static final class Writer {
        private final DataOutputStream out;
        private final BooleanSupplier aborted;
        private final CRC32C all = new CRC32C();
        private SnapshotBlock.Builder block = SnapshotBlock.newBuilder();
        private int blockBytes;
        private int blocks;

        Writer(DataOutputStream out, BooleanSupplier aborted) {
            this.out = out;
            this.aborted = aborted;
        }

        void header(MetadataImage image) throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream(HEADER_BYTES);
            DataOutputStream fields = new DataOutputStream(bytes);
            fields.writeLong(MAGIC);
            fields.writeShort(MAJOR);
            fields.writeShort(MINOR);
            fields.writeLong(image.version());
            fields.writeLong(image.digest());
            fields.writeInt(crc(bytes.toByteArray(), HEADER_BYTES - 4));
            out.write(bytes.toByteArray());
        }

        void add(MetadataRecord record) {
            block.addRecords(record);
            blockBytes += record.getSerializedSize();
            flushIfFull();
        }

        void add(long id, CommandHistory.Client client) {
            SnapshotClient.Builder proto = SnapshotClient.newBuilder()
                    .setId(id)
                    .setAnsweredBelow(client.answeredBelow())
                    .setLastMs(client.lastMs());
            client.answers()
                    .forEach((sequence, answer) -> proto.addSequences(sequence).addAnswers(answer));
            block.addClients(proto);
            blockBytes += proto.build().getSerializedSize();
            flushIfFull();
        }

        private void flushIfFull() {
            if (blockBytes >= BLOCK_BYTES_TARGET) {
                try {
                    flush();
                } catch (IOException failed) {
                    throw new UncheckedWrite(failed);
                }
            }
        }

        private void flush() throws IOException {
            if (aborted.getAsBoolean()) {
                throw new Aborted();
            }
            byte[] bytes = block.build().toByteArray();
            int crc = crc(bytes, bytes.length);
            out.writeInt(bytes.length);
            out.writeInt(crc);
            out.write(bytes);
            fold(all, crc);
            blocks++;
            block = SnapshotBlock.newBuilder();
            blockBytes = 0;
        }

        void end() throws IOException {
            if (blockBytes > 0) {
                flush();
            }
            out.writeInt(0);
            out.writeInt(blocks);
            out.writeInt((int) all.getValue());
        }
    }

    /** The state machine is about to be replaced: nobody needs this file any longer. */
    private static final class Aborted extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Aborted() {
            super(null, null, false, false);
        }
    }

    private static final class UncheckedWrite extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final transient IOException cause;

        UncheckedWrite(IOException cause) {
            super(cause);
            this.cause = cause;
        }
    }
}
