package io.varve.tiering.object;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * What {@link LocalObjectStore} does to names and bytes on a disk. Their order decides what is left after the machine lost its power, and nothing else shows it: so a test stands in between
 * and keeps account of what was forced. Safe for any thread.
 */
interface StoreFiles {

    /** The file system's own. */
    StoreFiles REAL = new Real();

    /** A file that is being written. */
    interface Draft extends AutoCloseable {
        /** Takes its bytes, one after the other. */
        WritableByteChannel to();

        /** Returns when what was written is on the disk. */
        void force() throws IOException;

        @Override
        void close() throws IOException;
    }

    /** Makes a file that isn't there yet. */
    Draft create(Path file) throws IOException;

    /** Gives a file another name, in the place of whatever has it: at once, or not at all. */
    void rename(Path from, Path to) throws IOException;

    /** Makes a directory in one that is there. Fails if it is there already. */
    void createDirectory(Path directory) throws IOException;

    /** @return whether there was such a file, or such an empty directory */
    boolean deleteIfExists(Path path) throws IOException;

    /** Returns when the names in a directory are on the disk. */
    void forceNames(Path directory) throws IOException;

    /** {@link #REAL} */
    final class Real implements StoreFiles {

        private record ChannelDraft(FileChannel to) implements Draft {
            @Override
            public void force() throws IOException {
                to.force(true);
            }

            @Override
            public void close() throws IOException {
                to.close();
            }
        }

        @Override
        public Draft create(Path file) throws IOException {
            return new ChannelDraft(FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
        }

        @Override
        public void rename(Path from, Path to) throws IOException {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        }

        @Override
        public void createDirectory(Path directory) throws IOException {
            Files.createDirectory(directory);
        }

        @Override
        public boolean deleteIfExists(Path path) throws IOException {
            return Files.deleteIfExists(path);
        }

        @Override
        public void forceNames(Path directory) throws IOException {
            try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }
}
