package io.varve.tiering.testing;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;

/** What a {@link PlainS3Server} keeps of an object: its bytes, in memory or in a file. They never change; safe for any thread. */
sealed interface ObjectBytes {

    /** In bytes. */
    long length();

    /** To be closed by whoever opens it, and for one thread. What was opened before the object is dropped can be read to its end. */
    Reader open() throws IOException;

    /** Gives up what it takes. Not to be opened after it. */
    void drop() throws IOException;

    /** Keeps these. */
    static ObjectBytes of(byte[] bytes, Optional<Path> directory) throws IOException {
        if (directory.isEmpty()) {
            return new InMemory(bytes);
        }
        InFile object = new InFile(Files.createTempFile(directory.get(), "object", ".bytes"), bytes.length);
        try (FileChannel channel = object.channel(StandardOpenOption.WRITE)) {
            Blocks.write(channel, bytes);
        }
        return object;
    }

    /** Copies an object's bytes. */
    interface Reader extends Closeable {

        /** Copies as many as asked for, all of which are there, to the beginning of an array. */
        void read(long from, byte[] into, int count) throws IOException;
    }

    /** In memory. */
    record InMemory(byte[] bytes) implements ObjectBytes {

        @Override
        public long length() {
            return bytes.length;
        }

        @Override
        public Reader open() {
            return new Reader() {
                @Override
                public void read(long from, byte[] into, int count) {
                    System.arraycopy(bytes, (int) from, into, 0, count);
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public void drop() {}
    }

    /**
     * In a file, written and read past the system's cache where the file system can. A store is on other disks than a cluster and has
     * a memory of its own, and one that stands in for it on the same machine shouldn't fill the disk's queue with what the system reads
     * ahead, megabytes at a time and in front of every flush of a journal, nor the machine's memory with what was uploaded.
     */
    record InFile(Path file, long length) implements ObjectBytes {

        @Override
        public Reader open() throws IOException {
            return new FileReader(channel(StandardOpenOption.READ));
        }

        private FileChannel channel(StandardOpenOption how) throws IOException {
            if (Blocks.BYTES % Files.getFileStore(file).getBlockSize() == 0) {
                try {
                    return FileChannel.open(file, how, ExtendedOpenOption.DIRECT);
                } catch (IOException | UnsupportedOperationException unable) {
                    // As in some file systems that are in memory: the other way, then.
                }
            }
            return FileChannel.open(file, how);
        }

        @Override
        public void drop() throws IOException {
            Files.deleteIfExists(file);
        }
    }

    /** What goes past the system's cache goes in whole blocks, into and out of memory that its thread keeps. */
    final class Blocks {

        private static final int BYTES = 4096;
        private static final int BUFFER_BYTES = 128 * 1024;
        private static final ThreadLocal<ByteBuffer> BUFFER =
                ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(BUFFER_BYTES + BYTES)
                        .alignedSlice(BYTES)
                        .slice(0, BUFFER_BYTES));

        private Blocks() {}

        /** What is missing of the last block is zeros. */
        private static void write(FileChannel channel, byte[] bytes) throws IOException {
            ByteBuffer buffer = BUFFER.get();
            for (int done = 0; done < bytes.length; ) {
                int now = Math.min(bytes.length - done, BUFFER_BYTES);
                buffer.clear().put(bytes, done, now);
                while (buffer.position() % BYTES != 0) {
                    buffer.put((byte) 0);
                }
                writeAll(channel, buffer.flip());
                done += now;
            }
        }

        private static void writeAll(FileChannel channel, ByteBuffer buffer) throws IOException {
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        }
    }

    /** Others, one after the other. */
    record Joined(List<ObjectBytes> parts) implements ObjectBytes {

        public Joined {
            parts = List.copyOf(parts);
        }

        @Override
        public long length() {
            return parts.stream().mapToLong(ObjectBytes::length).sum();
        }

        @Override
        public Reader open() {
            return new JoinedReader(parts);
        }

        @Override
        public void drop() throws IOException {
            for (ObjectBytes part : parts) {
                part.drop();
            }
        }
    }

    /** Reads one part after the other, and has one open at a time. */
    final class JoinedReader implements Reader {

        private final List<ObjectBytes> parts;
        private ObjectBytes part;
        private Reader reader;

        private JoinedReader(List<ObjectBytes> parts) {
            this.parts = parts;
        }

        @Override
        public void read(long from, byte[] into, int count) throws IOException {
            byte[] piece = into;
            int done = 0;
            long partStart = 0;
            for (ObjectBytes next : parts) {
                long at = from + done - partStart;
                if (done < count && at < next.length()) {
                    int now = (int) Math.min(count - done, next.length() - at);
                    piece = done == 0 ? into : new byte[now];
                    use(next).read(at, piece, now);
                    if (done > 0) {
                        System.arraycopy(piece, 0, into, done, now);
                    }
                    done += now;
                }
                partStart += next.length();
            }
        }

        private Reader use(ObjectBytes next) throws IOException {
            if (part != next) {
                close();
                reader = next.open();
                part = next;
            }
            return reader;
        }

        @Override
        public void close() throws IOException {
            if (reader != null) {
                reader.close();
            }
        }
    }

    /** Reads a file that holds an object. */
    record FileReader(FileChannel channel) implements Reader {

        @Override
        public void read(long from, byte[] into, int count) throws IOException {
            ByteBuffer buffer = Blocks.BUFFER.get();
            for (int done = 0; done < count; ) {
                long at = from + done;
                int intoBlock = (int) (at % Blocks.BYTES);
                int wanted = intoBlock + count - done;
                int blocks = (wanted + Blocks.BYTES - 1) / Blocks.BYTES;
                buffer.clear().limit(Math.min(Blocks.BUFFER_BYTES, blocks * Blocks.BYTES));
                if (channel.read(buffer, at - intoBlock) <= intoBlock) {
                    throw new EOFException("an object's file ends at or before " + at);
                }
                buffer.flip().position(intoBlock);
                int now = Math.min(count - done, buffer.remaining());
                buffer.get(into, done, now);
                done += now;
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
