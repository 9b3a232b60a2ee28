package io.varve.protocol.runtime;

import io.varve.base.StartupException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Keeps a data directory to one process: a lock of the operating system on the file {@code .lock} in it, which ends with the process. */
public final class DirectoryLock implements AutoCloseable {

    private static final String FILE = ".lock";

    private final FileChannel channel;
    private final FileLock lock;

    private DirectoryLock(FileChannel channel, FileLock lock) {
        this.channel = channel;
        this.lock = lock;
    }

    /**
     * Locks a directory, which is created if it isn't there.
     *
     * @throws StartupException DIRECTORY_LOCKED if another process, or another part of this one, has it; DISK if it can't be made or written
     */
    public static DirectoryLock acquire(Path directory) {
        FileChannel channel = null;
        try {
            Files.createDirectories(directory);
            channel = FileChannel.open(directory.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = channel.tryLock();
            if (lock == null) {
                channel.close();
                throw locked(directory);
            }
            return new DirectoryLock(channel, lock);
        } catch (OverlappingFileLockException mine) {
            closeQuietly(channel);
            throw locked(directory);
        } catch (IOException e) {
            closeQuietly(channel);
            throw new StartupException(
                    StartupException.Reason.DISK, "Can't use the data directory " + directory + ": " + e, e);
        }
    }

    /** Gives the directory free. The file stays: to delete it would let two processes lock two files of one name. */
    @Override
    public void close() {
        try {
            lock.release();
        } catch (IOException e) {
            // The channel's close below gives the lock back as well.
        } finally {
            closeQuietly(channel);
        }
    }

    private static StartupException locked(Path directory) {
        return new StartupException(
                StartupException.Reason.DIRECTORY_LOCKED,
                "Another process uses the data directory " + directory + ": stop it, or configure another directory");
    }

    private static void closeQuietly(FileChannel channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                // Nothing was written through it.
            }
        }
    }
}
