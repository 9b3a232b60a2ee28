package io.varve.itest.tier;

import io.varve.itest.cluster.SystemCommand;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** File systems of a given size, each in a file, for tests that fill disks. Needs root on Linux. Used by one thread. */
final class SmallDisks implements AutoCloseable {

    private final Deque<Path> mounted = new ArrayDeque<>();

    /** Whether this machine lets this process make one. */
    static boolean areThere(Path scratch) {
        try (SmallDisks probe = new SmallDisks()) {
            probe.mount(scratch.resolve("probe"), 16L << 20);
            return true;
        } catch (IOException notAllowed) {
            return false;
        }
    }

    /** Puts an empty file system at a directory, which is made. */
    void mount(Path at, long bytes) throws IOException {
        Files.createDirectories(at);
        Path image = at.resolveSibling(at.getFileName() + ".image");
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength(bytes);
        }
        SystemCommand.run("mkfs.ext4", "-q", "-F", "-m", "0", image.toString());
        SystemCommand.run("mount", "-o", "loop", image.toString(), at.toString());
        mounted.push(at);
        Files.delete(at.resolve("lost+found"));
    }

    /** Takes them away again; nothing may use them any more. */
    @Override
    public void close() throws IOException {
        List<String> failed = new ArrayList<>();
        while (!mounted.isEmpty()) {
            Path at = mounted.pop();
            try {
                SystemCommand.run("umount", at.toString());
                Files.delete(at.resolveSibling(at.getFileName() + ".image"));
            } catch (IOException e) {
                failed.add(e.getMessage());
            }
        }
        if (!failed.isEmpty()) {
            throw new IOException(String.join("; ", failed));
        }
    }
}
