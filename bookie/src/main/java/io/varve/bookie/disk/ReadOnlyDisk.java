package io.varve.bookie.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** A directory to look at, not locked: whatever would change it does nothing. For tools, which may look at a running bookie's. */
public final class ReadOnlyDisk implements Disk {

    private final Path root;

    /** @param root of the data directory */
    public ReadOnlyDisk(Path root) {
        this.root = root;
    }

    @Override
    public String name() {
        return root.toString();
    }

    @Override
    public void createDirectory(String directory) {}

    @Override
    public List<String> list(String directory) throws IOException {
        Path path = root.resolve(directory);
        return Files.isDirectory(path) ? FileDisk.filesIn(path) : List.of();
    }

    @Override
    public boolean exists(String file) {
        return Files.exists(root.resolve(file));
    }

    @Override
    public DiskFile open(String file) throws IOException {
        FileChannel channel = FileChannel.open(root.resolve(file), StandardOpenOption.READ);
        return new DiskFile() {
            @Override
            public void write(ByteBuffer from, long position) {
                from.position(from.limit());
            }

            @Override
            public int read(ByteBuffer to, long position) throws IOException {
                int start = to.position();
                while (to.hasRemaining() && channel.read(to, position + to.position() - start) >= 0) {
                    // Until it is full or the file ends.
                }
                return to.position() - start;
            }

            @Override
            public void force() {}

            @Override
            public long size() throws IOException {
                return channel.size();
            }

            @Override
            public void truncate(long bytes) {}

            @Override
            public void close() throws IOException {
                channel.close();
            }
        };
    }

    @Override
    public DiskFile create(String file) throws IOException {
        throw new IOException("nothing is created in " + root + ": it is only looked at");
    }

    @Override
    public void rename(String from, String to) {}

    @Override
    public void delete(String file) {}

    @Override
    public void forceDirectory(String directory) {}

    @Override
    public long freeBytes() throws IOException {
        return Files.getFileStore(root).getUsableSpace();
    }

    @Override
    public long totalBytes() throws IOException {
        return Files.getFileStore(root).getTotalSpace();
    }

    @Override
    public void close() {}
}
