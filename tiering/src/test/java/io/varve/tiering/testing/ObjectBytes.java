package io.varve.tiering.testing;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
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
        Path file = Files.createTempFile(directory.get(), "object", ".bytes");
        long length = 0;
        try (OutputStream out = Files.newOutputStream(file)) {
            for (byte[] part : parts) {
                out.write(part);
                length += part.length;
            }
        }
        return new InFile(file, length);
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
     * In a file, read past the system's cache where the file system can. A store is on other disks than a cluster, and one that stands
     * in for it on the same disk shouldn't fill the disk's queue: what the system reads ahead, megabytes at a time, is in front of every
     * flush of a journal.
     */
    record InFile(Path file, long length) implements ObjectBytes {

        private static final int BLOCK_BYTES = 4096;

        @Override
        public Reader open() throws IOException {
            return new FileReader(channel());
        }

        private FileChannel channel() throws IOException {
            if (BLOCK_BYTES % Files.getFileStore(file).getBlockSize() == 0) {
                try {
                    return FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT);
                } catch (IOException | UnsupportedOperationException unable) {
                    // As in some file systems that are in memory: the other way, then.
                }
            }
            return FileChannel.open(file, StandardOpenOption.READ);
        }

        @Override
        public void drop() throws IOException {
            Files.deleteIfExists(file);
        }
    }

    /** Reads whole blocks, into memory that its thread keeps. */
    record FileReader(FileChannel channel) implements Reader {

        private static final int BUFFER_BYTES = 128 * 1024;
        private static final ThreadLocal<ByteBuffer> BUFFER =
                ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(BUFFER_BYTES + InFile.BLOCK_BYTES)
                        .alignedSlice(InFile.BLOCK_BYTES)
                        .slice(0, BUFFER_BYTES));

        @Override
        public void read(long from, byte[] into, int count) throws IOException {
            ByteBuffer buffer = BUFFER.get();
            for (int done = 0; done < count; ) {
                long at = from + done;
                int intoBlock = (int) (at % InFile.BLOCK_BYTES);
                int wanted = intoBlock + count - done;
                int blocks = (wanted + InFile.BLOCK_BYTES - 1) / InFile.BLOCK_BYTES;
                buffer.clear().limit(Math.min(BUFFER_BYTES, blocks * InFile.BLOCK_BYTES));
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
