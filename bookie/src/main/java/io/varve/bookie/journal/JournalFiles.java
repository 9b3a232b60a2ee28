package io.varve.bookie.journal;

import io.varve.base.Invariant;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.JournalReach;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.DiskFile;
import io.varve.bookie.disk.DiskFullException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The journal files of one directory. Those to come are made ahead, of full length and of real zeros, or from files that are not needed any more:
 * an fsync into a growing or a sparse file must also write the file system's own records, and waits several times as long at its worst.
 *
 * <pre>
 *  free-NNN.journal  ──header and reach of its next number, fsync, rename, fsync──►  NNN.journal  ──all in it is needed no more──►  free-NNN.journal
 * </pre>
 *
 * A file has its final name only when its header is durable, so a file of that name with a bad header is damage, never a crash. The journal's thread takes
 * the next file; one housekeeping thread makes them and takes them back; any thread reads.
 */
public final class JournalFiles {

    /** The directory. */
    public static final String DIRECTORY = "journal";

    private static final String SUFFIX = ".journal";
    private static final String FREE = "free-";
    private static final int ZERO_BYTES = 1024 * 1024;
    private static final int FILL_BYTES = 8 * ZERO_BYTES;

    private final Disk disk;
    private final long fileBytes;
    private final long incarnation;
    private final boolean directWrites;
    private final JournalReach reaches;
    private final ConcurrentSkipListMap<Long, JournalFile> used = new ConcurrentSkipListMap<>();
    private final ConcurrentLinkedQueue<JournalFile> ready = new ConcurrentLinkedQueue<>();
    private final List<String> free = new ArrayList<>();
    private volatile Runnable whenTaken = () -> {};
    private long nextNumber;
    private DiskFile filling;
    private String fillingName;
    private long filledBytes;

    /**
     * @param groupBytesMax of the groups that are written
     * @param lastNumber the highest number that any file of the directory ever had
     * @param directWrites whether groups go past the page cache, where that can be
     */
    public JournalFiles(
            Disk disk, long fileBytes, int groupBytesMax, long incarnation, long lastNumber, boolean directWrites) {
        this.disk = disk;
        this.fileBytes = fileBytes;
        this.reaches = JournalReach.of(fileBytes, groupBytesMax);
        this.incarnation = incarnation;
        this.nextNumber = lastNumber + 1;
        this.directWrites = directWrites;
    }

    /** The name of a file of that number, below the data directory. */
    public static String name(long number) {
        return DIRECTORY + "/" + baseName(number) + SUFFIX;
    }

    /** The number in a file's name, without its directory, or -1 if it is another kind of file. */
    public static long numberOf(String fileName) {
        int digits = fileName.length() - SUFFIX.length();
        if (digits != 16 || !fileName.endsWith(SUFFIX)) {
            return -1;
        }
        long number = 0;
        for (int at = 0; at < digits; at++) {
            int digit = fileName.charAt(at) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            number = number * 10 + digit;
        }
        return number;
    }

    /** Whether a file of that name, without its directory, is a free one. */
    public static boolean isFree(String fileName) {
        return fileName.startsWith(FREE) && fileName.endsWith(SUFFIX);
    }

    private static String baseName(long number) {
        return String.format("%016d", number);
    }

    /** Knows a file found at the start whose content is needed. */
    public void addUsed(long number) throws IOException {
        used.put(number, new JournalFile(number, disk.open(name(number)), null, 0));
    }

    /** Knows a file found at the start, free for use; anything it holds counts for nothing. One of another length, or not filled to its end, is deleted. */
    public void addFree(String fileName) throws IOException {
        String freeName = fileName;
        if (!hasFullLength(fileName)) {
            disk.delete(DIRECTORY + "/" + fileName);
            return;
        }
        if (!isFree(fileName)) {
            freeName = unusedFreeName(numberOf(fileName));
            disk.rename(DIRECTORY + "/" + fileName, DIRECTORY + "/" + freeName);
        }
        free.add(DIRECTORY + "/" + freeName);
    }

    /** Deletes a file found at the start that holds nothing. */
    public void discard(String fileName) throws IOException {
        disk.delete(DIRECTORY + "/" + fileName);
        disk.forceDirectory(DIRECTORY);
    }

    /** One that was being made when the process died may have the name of the number that another got. */
    private String unusedFreeName(long from) throws IOException {
        for (long number = from; ; number++) {
            String name = FREE + baseName(number) + SUFFIX;
            if (!disk.exists(DIRECTORY + "/" + name)) {
                return name;
            }
        }
    }

    private boolean hasFullLength(String fileName) throws IOException {
        try (DiskFile file = disk.open(DIRECTORY + "/" + fileName)) {
            return file.size() == fileBytes;
        }
    }

    /** The file of that number that holds what may be read, or {@code null}. */
    public JournalFile get(long number) {
        return used.get(number);
    }

    /** The numbers of the files that hold what may be read, the one being written included, in order. */
    public List<Long> numbers() {
        return List.copyOf(used.keySet());
    }

    /** The next file to write to, or {@code null} if none is ready yet. */
    JournalFile takeReady() {
        JournalFile next = ready.poll();
        if (next != null) {
            used.put(next.number(), next);
        }
        whenTaken.run();
        return next;
    }

    /** What is called, on the journal's thread, when a file was taken or wanted, so that the next one is made. */
    public void whenTaken(Runnable action) {
        whenTaken = action;
    }

    /** How many files are ready to be written to. */
    public int readyCount() {
        return ready.size();
    }

    /** How many files are kept for use without having been given a number. */
    public int freeCount() {
        return free.size();
    }

    /** Makes one more file ready. Blocks on the disk, long if there is no free one and it has to be filled with zeros. */
    public void prepare() throws IOException {
        while (free.isEmpty()) {
            fillSome();
        }
        long number = nextNumber;
        int tag = JournalFormat.fileTag(number, incarnation);
        String from = free.get(free.size() - 1);
        DiskFile file = directWrites ? disk.openForBlocks(from, JournalFormat.BLOCK_BYTES) : disk.open(from);
        boolean prepared = false;
        try {
            file.write(JournalFormat.fileHeader(number, fileBytes, incarnation), 0);
            file.write(JournalFormat.reachBlock(tag, reaches.first()), reaches.groupsEnd());
            file.force();
            disk.rename(from, name(number));
            free.remove(free.size() - 1);
            disk.forceDirectory(DIRECTORY);
            prepared = true;
        } finally {
            if (!prepared) {
                file.close();
            }
        }
        nextNumber = number + 1;
        ready.add(new JournalFile(number, file, reaches, tag));
    }

    /** Whether a new file is being filled with zeros. */
    public boolean isFilling() {
        return filling != null;
    }

    /**
     * Fills a part of a new file with zeros, durably; with the last part it is free for use. A whole file at once would keep what else is due waiting, and the appends
     * behind its fsync. Nothing is left of the file if there is no room for it.
     */
    public void fillSome() throws IOException {
        if (filling == null) {
            fillingName = DIRECTORY + "/" + unusedFreeName(nextNumber);
            filling = disk.create(fillingName);
            filledBytes = 0;
        }
        try {
            ByteBuffer zeros = JournalFormat.blocks((int) Math.min(ZERO_BYTES, fileBytes));
            long upTo = Math.min(fileBytes, filledBytes + FILL_BYTES);
            while (filledBytes < upTo) {
                zeros.clear().limit((int) Math.min(zeros.capacity(), upTo - filledBytes));
                filling.write(zeros, filledBytes);
                filledBytes += zeros.limit();
            }
            filling.force();
        } catch (DiskFullException full) {
            abandonFilling();
            throw full;
        }
        if (filledBytes == fileBytes) {
            filling.close();
            filling = null;
            free.add(fillingName);
        }
    }

    private void abandonFilling() throws IOException {
        filling.close();
        filling = null;
        disk.delete(fillingName);
    }

    /**
     * Takes back a file whose content is needed no more.
     *
     * @param keep whether to keep it for use; else it is deleted
     * @return whether it was: not while readers pin it
     */
    public boolean release(long number, boolean keep) throws IOException {
        JournalFile file = used.get(number);
        Invariant.check(file != null, "only a file that is there is released", number);
        if (!file.retire()) {
            return false;
        }
        used.remove(number);
        file.close();
        if (keep) {
            addFree(baseName(number) + SUFFIX);
        } else {
            disk.delete(name(number));
        }
        disk.forceDirectory(DIRECTORY);
        return true;
    }

    /** Deletes a free file, if there is one, or what is to be one, to make room. */
    public boolean dropFree() throws IOException {
        if (filling != null) {
            abandonFilling();
            return true;
        }
        if (free.isEmpty()) {
            return false;
        }
        disk.delete(free.remove(free.size() - 1));
        disk.forceDirectory(DIRECTORY);
        return true;
    }

    /** Closes all files. */
    public void close() throws IOException {
        for (JournalFile file : used.values()) {
            file.close();
        }
        for (JournalFile file : ready) {
            file.close();
        }
        if (filling != null) {
            filling.close();
        }
    }
}
