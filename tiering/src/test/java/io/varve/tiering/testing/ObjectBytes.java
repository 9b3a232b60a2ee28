package io.varve.tiering.testing;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.ByteArrayOutputStream;
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

    /** Keeps these, one after the other. */
    static ObjectBytes of(List<byte[]> parts, Optional<Path> directory) throws IOException {
        if (directory.isEmpty()) {
            ByteArrayOutputStream joined = new ByteArrayOutputStream();
            parts.forEach(joined::writeBytes);
            return new InMemory(joined.toByteArray());
        }
        InFile object = new InFile(
                Files.createTempFile(directory.get(), "object", ".bytes"),
                parts.stream().mapToLong(part -> part.length).sum());
        try (FileChannel channel = object.channel(StandardOpenOption.WRITE)) {
            Blocks.write(channel, parts);
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

        /** One after the other; what is missing of the last block is zeros. */
        private static void write(FileChannel channel, List<byte[]> parts) throws IOException {
            ByteBuffer buffer = BUFFER.get().clear();
            for (byte[] part : parts) {
                for (int done = 0; done < part.length; ) {
                    int now = Math.min(part.length - done, buffer.remaining());
                    buffer.put(part, done, now);
                    done += now;
                    if (!buffer.hasRemaining()) {
                        writeAll(channel, buffer.flip());
                        buffer.clear();
                    }
                }
            }
            while (buffer.position() % BYTES != 0) {
                buffer.put((byte) 0);
            }
            writeAll(channel, buffer.flip());
        }

        private static void writeAll(FileChannel channel, ByteBuffer buffer) throws IOException {
            while (buffer.hasRemaining()) {
                channel.write(buffer);
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
