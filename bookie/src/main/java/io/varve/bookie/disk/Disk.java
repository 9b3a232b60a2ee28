package io.varve.bookie.disk;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/**
 * One data directory. Names are relative to it and use {@code /}. Safe for any thread, as long as no two of them change one name at a
 * time. A name's creation, renaming or deletion is durable after {@link #forceDirectory} of the directory it is in.
 */
public interface Disk extends Closeable {

    /** For people: the path. */
    String name();

    /** Makes a directory below this one, durably, unless it is there. */
    void createDirectory(String directory) throws IOException;

    /** The names of the files in a directory, without it, in order; {@code ""} for the top. Directories are left out. */
    List<String> list(String directory) throws IOException;

    /** Whether there is such a file. */
    boolean exists(String file) throws IOException;

    /**
     * Opens a file for reading and writing.
     *
     * @throws java.nio.file.NoSuchFileException if there is none
     */
    DiskFile open(String file) throws IOException;

    /**
     * Opens a file whose every write has whole blocks: its length, position and place in memory are multiples of {@code blockBytes}. Where the file system can, what is written
     * goes to the disk directly, without a copy in the page cache; it is durable after {@link DiskFile#force} all the same.
     *
     * @throws java.nio.file.NoSuchFileException if there is none
     */
    default DiskFile openForBlocks(String file, int blockBytes) throws IOException {
        return open(file);
    }

    /**
     * Makes an empty file, in place of the one of that name if there is one.
     *
     * @throws DiskFullException if there is no room for it
     */
    DiskFile create(String file) throws IOException;

    /**
     * Renames a file, in place of the one with the new name if there is one: at any moment one of the two is there.
     *
     * @throws DiskFullException if the directory has no room for the name
     */
    void rename(String from, String to) throws IOException;

    /** Deletes a file if it is there. */
    void delete(String file) throws IOException;

    /** Makes what changed among a directory's names durable. */
    void forceDirectory(String directory) throws IOException;

    /** What can still be written. */
    long freeBytes() throws IOException;

    /** The size of the whole. */
    long totalBytes() throws IOException;

    /** Lets go of the lock. Open files stay open. */
    @Override
    void close() throws IOException;
}
