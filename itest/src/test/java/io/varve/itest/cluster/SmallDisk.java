package io.varve.itest.cluster;

import static io.varve.itest.cluster.SystemCommand.run;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** A disk of a few megabytes that a test can fill: a file system in memory. Needs root on Linux. */
final class SmallDisk implements AutoCloseable {

    private final Path mountPoint;

    /** Mounts it on a directory, which is created. */
    SmallDisk(Path mountPoint, int megabytes) throws IOException {
        this.mountPoint = mountPoint;
        Files.createDirectories(mountPoint);
        run("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", "varve-test", mountPoint.toString());
    }

    /** Whether this process may mount one. */
    static boolean isThere(Path scratch) {
        try (SmallDisk disk = new SmallDisk(scratch, 1)) {
            return Files.getFileStore(disk.mountPoint).getTotalSpace() <= 1 << 20;
        } catch (IOException notAllowed) {
            return false;
        }
    }

    /** Fills it to the last byte. */
    void fill() throws IOException {
        byte[] page = new byte[4096];
        try (OutputStream filler = Files.newOutputStream(mountPoint.resolve("filler"))) {
            while (true) {
                filler.write(page);
            }
        } catch (IOException full) {
            if (mountPoint.toFile().getUsableSpace() > page.length) {
                throw full;
            }
        }
    }

    /** Takes away what {@link #fill} put there. */
    void free() throws IOException {
        Files.deleteIfExists(mountPoint.resolve("filler"));
    }

    @Override
    public void close() throws IOException {
        run("umount", "-l", mountPoint.toString());
    }
}
