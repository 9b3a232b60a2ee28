package io.varve.bookie.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A disk in memory that does what disks do: keeps unsynced sectors, and unsynced names, only by chance when the power goes; tears what is under way; fails to
 * write, read or fsync on command, and then forgets what it had; lies about fsync; fills up. One seed, one fate.
 */
public final class SimDisk implements Disk {

    private static final int SECTOR = 512;

    /** The power went: whoever was writing never returns. */
    public static final class PowerCut extends Error {
        private static final long serialVersionUID = 1L;

        PowerCut() {
            super("the power went", null, false, false);
        }
    }

    private final String name;
    private final SplittableRandom random;
    private final TreeMap<String, Content> names = new TreeMap<>();
    private TreeMap<String, Content> durableNames = new TreeMap<>();
    private final List<Runnable> namesUnforced = new ArrayList<>();
    private long operations;
    private long cutAt = Long.MAX_VALUE;
    private boolean off;
    private boolean lies;
    private int failWrites;
    private int failForces;
    private int failReads;
    private long freeBytes = 1L << 40;
    private long bytesWritten;

    public SimDisk(String name, long seed) {
        this.name = name;
        this.random = new SplittableRandom(seed);
    }

    // ---- what happens to it ----

    /** The power goes in the course of one of the next {@code within} operations. */
    public void cutPowerWithin(int within) {
        cutAt = operations + 1 + random.nextInt(within);
    }

    /** The power goes now, if it hasn't: what wasn't synced is kept or lost, sector by sector, and the disk is as it will be found. */
    public void powerOff() {
        TreeMap<String, Content> kept = new TreeMap<>(durableNames);
        int survive = namesUnforced.isEmpty() ? 0 : random.nextInt(namesUnforced.size() + 1);
        names.clear();
        names.putAll(kept);
        for (Runnable change : namesUnforced.subList(0, survive)) {
            change.run();
        }
        namesUnforced.clear();
        for (Content content : names.values()) {
            content.lose(random);
        }
        durableNames = new TreeMap<>(names);
        restart();
    }

    /** The process died, but not the machine: what was written is still in the page cache. */
    public void restart() {
        off = false;
        cutAt = Long.MAX_VALUE;
        failForces = 0;
        failWrites = 0;
        failReads = 0;
    }

    /** From now on fsync returns and does nothing. */
    public void lieAboutForce(boolean nowLies) {
        lies = nowLies;
    }

    /** The next writes fail. */
    public void failWrites(int times) {
        failWrites = times;
    }

    /** The next fsyncs fail, and what they should have kept is taken for clean. */
    public void failForces(int times) {
        failForces = times;
    }

    /** The next reads fail. */
    public void failReads(int times) {
        failReads = times;
    }

    /** Sets what is free. */
    public void setFreeBytes(long bytes) {
        freeBytes = bytes;
    }

    /** Flips a bit of a file, durably. */
    public void flip(String file, long at, int bit) {
        Content content = names.get(file);
        content.bytes[(int) at] ^= (byte) (1 << bit);
        content.durable[(int) at] ^= (byte) (1 << bit);
    }

    /** Puts part of other bytes into a file, durably. */
    public void overwrite(String file, int at, byte[] from, int fromAt, int bytes) {
        Content content = names.get(file);
        System.arraycopy(from, fromAt, content.bytes, at, bytes);
        System.arraycopy(from, fromAt, content.durable, at, bytes);
    }

    /** Cuts a file off, durably. */
    public void cutOff(String file, int bytes) {
        Content content = names.get(file);
        content.size = bytes;
        content.durableSize = bytes;
        Arrays.fill(content.bytes, bytes, content.bytes.length, (byte) 0);
        Arrays.fill(content.durable, bytes, content.durable.length, (byte) 0);
    }

    /** What a file holds. */
    public byte[] bytes(String file) {
        Content content = names.get(file);
        return Arrays.copyOf(content.bytes, content.size);
    }

    /** All names. */
    public List<String> names() {
        return List.copyOf(names.keySet());
    }

    /** An exact copy of what would be found, with nothing unsynced. */
    public SimDisk copy(long seed) {
        SimDisk copy = new SimDisk(name, seed);
        names.forEach((file, content) -> copy.names.put(file, content.copy()));
        copy.durableNames = new TreeMap<>(copy.names);
        return copy;
    }

    /** Bytes that were written so far. */
    public long bytesWritten() {
        return bytesWritten;
    }

    private boolean operate() throws IOException {
        if (off) {
            throw new PowerCut();
        }
        operations++;
        return operations == cutAt;
    }

    private PowerCut cut() {
        off = true;
        return new PowerCut();
    }

    private void changeNames(Runnable change) throws IOException {
        if (operate()) {
            throw cut();
        }
        change.run();
        namesUnforced.add(change);
    }

    // ---- the port ----

    @Override
    public String name() {
        return name;
    }

    @Override
    public void createDirectory(String directory) {}

    @Override
    public List<String> list(String directory) {
        List<String> found = new ArrayList<>();
        String prefix = directory.isEmpty() ? "" : directory + "/";
        for (String file : names.keySet()) {
            if (file.startsWith(prefix) && file.indexOf('/', prefix.length()) < 0) {
                found.add(file.substring(prefix.length()));
            }
        }
        return found;
    }

    @Override
    public boolean exists(String file) {
        return names.containsKey(file);
    }

    @Override
    public DiskFile open(String file) throws IOException {
        Content content = names.get(file);
        if (content == null) {
            throw new NoSuchFileException(file);
        }
        return new SimFile(content);
    }

    @Override
    public DiskFile create(String file) throws IOException {
        Content content = new Content();
        changeNames(() -> names.put(file, content));
        return new SimFile(content);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        if (!names.containsKey(from)) {
            throw new NoSuchFileException(from);
        }
        changeNames(() -> {
            Content content = names.remove(from);
            if (content != null) {
                names.put(to, content);
            }
        });
    }

    @Override
    public void delete(String file) throws IOException {
        changeNames(() -> names.remove(file));
    }

    @Override
    public void forceDirectory(String directory) throws IOException {
        if (operate()) {
            throw cut();
        }
        if (!lies) {
            durableNames = new TreeMap<>(names);
            namesUnforced.clear();
        }
    }

    @Override
    public long freeBytes() {
        return freeBytes;
    }

    @Override
    public long totalBytes() {
        return 1L << 41;
    }

    @Override
    public void close() {}

    /** A file's bytes, as they are seen and as they would be found. */
    private static final class Content {
        byte[] bytes = new byte[0];
        byte[] durable = new byte[0];
        final BitSet dirty = new BitSet();
        int size;
        int durableSize;

        void room(int upTo) {
            if (bytes.length < upTo) {
                bytes = Arrays.copyOf(bytes, Math.max(upTo, bytes.length * 2));
                durable = Arrays.copyOf(durable, bytes.length);
            }
        }

        void force() {
            for (int sector = dirty.nextSetBit(0); sector >= 0; sector = dirty.nextSetBit(sector + 1)) {
                keep(sector);
            }
            dirty.clear();
            durableSize = size;
        }

        void keep(int sector) {
            int from = sector * SECTOR;
            int upTo = Math.min(bytes.length, from + SECTOR);
            if (from < upTo) {
                System.arraycopy(bytes, from, durable, from, upTo - from);
            }
        }

        void lose(SplittableRandom random) {
            // All, nothing, or any subset: real disks have done each.
            int fate = random.nextInt(4);
            for (int sector = dirty.nextSetBit(0); sector >= 0; sector = dirty.nextSetBit(sector + 1)) {
                if (fate == 0 || (fate > 1 && random.nextBoolean())) {
                    keep(sector);
                }
            }
            dirty.clear();
            size = random.nextBoolean() ? size : durableSize;
            durableSize = size;
            bytes = durable.clone();
        }

        Content copy() {
            Content copy = new Content();
            copy.bytes = bytes.clone();
            copy.durable = bytes.clone();
            copy.size = size;
            copy.durableSize = size;
            return copy;
        }
    }

    private final class SimFile implements DiskFile {
        private final Content content;

        SimFile(Content content) {
            this.content = content;
        }

        @Override
        public void write(ByteBuffer from, long position) throws IOException {
            boolean cuts = operate();
            if (failWrites > 0) {
                failWrites--;
                throw new IOException("input/output error (write)");
            }
            int bytes = cuts && from.hasRemaining() ? random.nextInt(from.remaining() + 1) : from.remaining();
            int at = (int) position;
            content.room(at + bytes);
            from.get(content.bytes, at, bytes);
            bytesWritten += bytes;
            content.size = Math.max(content.size, at + bytes);
            if (bytes > 0) {
                content.dirty.set(at / SECTOR, (at + bytes - 1) / SECTOR + 1);
            }
            if (cuts) {
                throw cut();
            }
        }

        @Override
        public int read(ByteBuffer to, long position) throws IOException {
            if (off) {
                throw new PowerCut();
            }
            if (failReads > 0) {
                failReads--;
                throw new IOException("input/output error (read)");
            }
            int bytes = (int) Math.max(0, Math.min(to.remaining(), content.size - position));
            if (bytes > 0) {
                to.put(content.bytes, (int) position, bytes);
            }
            return bytes;
        }

        @Override
        public void force() throws IOException {
            boolean cuts = operate();
            if (failForces > 0) {
                failForces--;
                content.dirty.clear();
                throw new IOException("input/output error (fsync)");
            }
            if (cuts) {
                throw cut();
            }
            if (!lies) {
                content.force();
            }
        }

        @Override
        public long size() {
            return content.size;
        }

        @Override
        public void truncate(long bytes) throws IOException {
            if (operate()) {
                throw cut();
            }
            content.size = (int) Math.min(content.size, bytes);
        }

        @Override
        public void close() {}
    }
}
