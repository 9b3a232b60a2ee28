package io.varve.bookie.disk;

import com.sun.nio.file.ExtendedOpenOption;
import io.varve.base.StartupException;
import io.varve.base.StartupException.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * A directory of the file system, locked for this process.
 *
 * <p>Interrupting a thread inside would close the channel under everybody else: threads that use it are never interrupted.
 */
public final class FileDisk implements Disk {

    /** The file that carries the lock. It stays, empty, when the lock is gone. */
    public static final String LOCK = "LOCK";

    private final Path root;
    private final FileStore fileStore;
    private final FileChannel lockChannel;

    private FileDisk(Path root, FileStore fileStore, FileChannel lockChannel) {
        this.root = root;
        this.fileStore = fileStore;
        this.lockChannel = lockChannel;
    }

    /**
     * Opens a directory, makes it if it is missing, and locks it.
     *
     * @throws StartupException DIRECTORY_LOCKED if another store has it; DISK if it can't be used
     */
    public static FileDisk open(Path root) {
        FileChannel channel = null;
        try {
            Files.createDirectories(root);
            channel = FileChannel.open(root.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = tryLock(channel);
            if (lock == null) {
                channel.close();
                throw new StartupException(
                        Reason.DIRECTORY_LOCKED, "Another process uses the data directory " + root + ".");
            }
            return new FileDisk(root, Files.getFileStore(root), channel);
        } catch (IOException trouble) {
            closeQuietly(channel, trouble);
            throw new StartupException(
                    Reason.DISK, "The data directory " + root + " can't be used: " + trouble + ".", trouble);
        }
    }

    private static FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException held) {
            return null;
        }
    }

    private static void closeQuietly(FileChannel channel, IOException trouble) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException more) {
                trouble.addSuppressed(more);
            }
        }
    }

    @Override
    public String name() {
        return root.toString();
    }

    @Override
    public void createDirectory(String directory) throws IOException {
        Path path = root.resolve(directory);
        if (!Files.isDirectory(path)) {
            Files.createDirectories(path);
            forceDirectory("");
        }
    }

    @Override
    public List<String> list(String directory) throws IOException {
        return filesIn(root.resolve(directory));
    }

    /** The names of the files in a directory, in order. */
    static List<String> filesIn(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(Files::isRegularFile)
                    .map(file -> file.getFileName().toString())
                    .sorted()
                    .toList();
        }
    }

    @Override
    public boolean exists(String file) {
        return Files.exists(root.resolve(file));
    }

    @Override
    public DiskFile open(String file) throws IOException {
        return new ChannelFile(FileChannel.open(root.resolve(file), StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    @Override
    public DiskFile openForBlocks(String file, int blockBytes) throws IOException {
        DiskFile buffered = open(file);
        if (blockBytes % fileStore.getBlockSize() != 0) {
            return buffered;
        }
        try {
            FileChannel direct =
                    FileChannel.open(root.resolve(file), StandardOpenOption.WRITE, ExtendedOpenOption.DIRECT);
            return new BlockFile(buffered, new ChannelFile(direct));
        } catch (IOException | UnsupportedOperationException unable) {
            return buffered;
        }
    }

    @Override
    public DiskFile create(String file) throws IOException {
        try {
            return new ChannelFile(FileChannel.open(
                    root.resolve(file),
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING));
        } catch (IOException trouble) {
            throw translated(trouble);
        }
    }

    @Override
    public void rename(String from, String to) throws IOException {
        try {
            Files.move(
                    root.resolve(from),
                    root.resolve(to),
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException trouble) {
            throw translated(trouble);
        }
    }

    @Override
    public void delete(String file) throws IOException {
        Files.deleteIfExists(root.resolve(file));
    }

    @Override
    public void forceDirectory(String directory) throws IOException {
        try (FileChannel channel = FileChannel.open(root.resolve(directory), StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** The JDK has no type for it, only the system's message. */
    private static IOException translated(IOException trouble) {
        String message = trouble.getMessage();
        boolean full = message != null
                && (message.contains("No space left on device") || message.contains("Disk quota exceeded"));
        return full ? new DiskFullException(message, trouble) : trouble;
    }

    @Override
    public long freeBytes() throws IOException {
        return fileStore.getUsableSpace();
    }

    @Override
    public long totalBytes() throws IOException {
        return fileStore.getTotalSpace();
    }

    @Override
    public void close() throws IOException {
        lockChannel.close();
    }

    /** Written past the page cache, and read through it. */
    private record BlockFile(DiskFile buffered, DiskFile direct) implements DiskFile {
        @Override
        public void write(ByteBuffer from, long position) throws IOException {
            direct.write(from, position);
        }

        @Override
        public int read(ByteBuffer to, long position) throws IOException {
            return buffered.read(to, position);
        }

        @Override
        public void force() throws IOException {
            direct.force();
        }

        @Override
        public long size() throws IOException {
            return buffered.size();
        }

        @Override
        public void truncate(long bytes) throws IOException {
            buffered.truncate(bytes);
        }

        @Override
        public void close() throws IOException {
            try (direct) {
                buffered.close();
            }
        }
    }

    private static final class ChannelFile implements DiskFile {

        private final FileChannel channel;

        ChannelFile(FileChannel channel) {
            this.channel = channel;
        }

        @Override
        public void write(ByteBuffer from, long position) throws IOException {
            long at = position;
            try {
                while (from.hasRemaining()) {
                    at += channel.write(from, at);
                }
            } catch (IOException trouble) {
                throw translated(trouble);
            }
        }

        @Override
        public int read(ByteBuffer to, long position) throws IOException {
            int start = to.position();
            while (to.hasRemaining()) {
                int bytes = channel.read(to, position + to.position() - start);
                if (bytes < 0) {
                    break;
                }
            }
            return to.position() - start;
        }

        @Override
        public void force() throws IOException {
            // No translation: where room is found only when dirty pages are written, some of them are lost (I-12).
            channel.force(false);
        }

        @Override
        public long size() throws IOException {
            return channel.size();
        }

        @Override
        public void truncate(long bytes) throws IOException {
            channel.truncate(bytes);
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
