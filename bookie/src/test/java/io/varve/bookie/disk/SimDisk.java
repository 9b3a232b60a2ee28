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
import java.util.concurrent.CountDownLatch;

/**
 * A disk in memory that does what disks do: keeps unsynced sectors, and unsynced names, only by chance when the power goes; tears what is under way; fails to
 * write, read or fsync on command, and then forgets what it had; lies about fsync; fills up in the middle of a write; becomes slow. One seed, one fate.
 * Safe for any thread.
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
    private String failWritesTo;
    private int failForces;
    private int failReads;
    private long freeBytes = 1L << 40;
    private long quotaBytes = Long.MAX_VALUE;
    private long forceNs = 100_000;
    private long bytesWritten;
    private final TreeMap<String, Long> bytesRead = new TreeMap<>();
    private volatile CountDownLatch forcesHeldUntil = new CountDownLatch(0);

    public SimDisk(String name, long seed) {
        this.name = name;
        this.random = new SplittableRandom(seed);
    }

    // ---- what happens to it ----

    /** The power goes in the course of one of the next {@code within} operations. */
    public synchronized void cutPowerWithin(int within) {
        cutAt = operations + 1 + random.nextInt(within);
    }

    /** The power goes now, if it hasn't: what wasn't synced is kept or lost, sector by sector, and the disk is as it will be found. */
    public synchronized void powerOff() {
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
    public synchronized void restart() {
        off = false;
        cutAt = Long.MAX_VALUE;
        failForces = 0;
        failWrites = 0;
        failWritesTo = null;
        failReads = 0;
    }

    /** From now on its files hold no more than so many bytes together, whatever is said to be free: what goes beyond is written in part, and fails. */
    public synchronized void setQuota(long bytes) {
        quotaBytes = bytes;
    }

    /** Bytes in all its files. */
    public synchronized long usedBytes() {
        return names.values().stream().mapToLong(content -> content.size).sum();
    }

    /** How long an fsync is to be thought to take from now on. */
    public synchronized void setForceNs(long ns) {
        forceNs = ns;
    }

    /** How long an fsync takes. */
    public synchronized long forceNs() {
        return forceNs;
    }

    /** From now on no fsync returns before that. */
    public void holdForces(CountDownLatch until) {
        forcesHeldUntil = until;
    }

    /** From now on fsync returns and does nothing. */
    public synchronized void lieAboutForce(boolean nowLies) {
        lies = nowLies;
    }

    /** The next writes fail. */
    public synchronized void failWrites(int times) {
        failWrites = times;
    }

    /** From now on writes to files with such a name fail. */
    public synchronized void failWritesTo(String suffix) {
        failWritesTo = suffix;
    }

    /** The next fsyncs fail, and what they should have kept is taken for clean. */
    public synchronized void failForces(int times) {
        failForces = times;
    }

    /** The next reads fail. */
    public synchronized void failReads(int times) {
        failReads = times;
    }

    /** Sets what is free. */
    public synchronized void setFreeBytes(long bytes) {
        freeBytes = bytes;
    }

    /** Flips a bit of a file, durably. */
    public synchronized void flip(String file, long at, int bit) {
        Content content = names.get(file);
        content.bytes[(int) at] ^= (byte) (1 << bit);
        content.durable[(int) at] ^= (byte) (1 << bit);
    }

    /** Puts part of other bytes into a file, durably. */
    public synchronized void overwrite(String file, int at, byte[] from, int fromAt, int bytes) {
        Content content = names.get(file);
        System.arraycopy(from, fromAt, content.bytes, at, bytes);
        System.arraycopy(from, fromAt, content.durable, at, bytes);
    }

    /** Cuts a file off, durably. */
    public synchronized void cutOff(String file, int bytes) {
        Content content = names.get(file);
        content.size = bytes;
        content.durableSize = bytes;
        Arrays.fill(content.bytes, bytes, content.bytes.length, (byte) 0);
        Arrays.fill(content.durable, bytes, content.durable.length, (byte) 0);
    }

    /** What a file holds. */
    public synchronized byte[] bytes(String file) {
        Content content = names.get(file);
        return Arrays.copyOf(content.bytes, content.size);
    }

    /** All names. */
    public synchronized List<String> names() {
        return List.copyOf(names.keySet());
    }

    /** An exact copy of what would be found, with nothing unsynced. */
    public synchronized SimDisk copy(long seed) {
        SimDisk copy = new SimDisk(name, seed);
        names.forEach((file, content) -> copy.names.put(file, content.copy()));
        copy.durableNames = new TreeMap<>(copy.names);
        return copy;
    }

    /** Bytes that were written so far. */
    public synchronized long bytesWritten() {
        return bytesWritten;
    }

    /** Bytes that were read so far out of files with such a name. */
    public synchronized long bytesRead(String suffix) {
        long bytes = 0;
        for (var file : bytesRead.entrySet()) {
            bytes += file.getKey().endsWith(suffix) ? file.getValue() : 0;
        }
        return bytes;
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
    public synchronized String name() {
        return name;
    }

    @Override
    public synchronized void createDirectory(String directory) {}

    @Override
    public synchronized List<String> list(String directory) {
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
    public synchronized boolean exists(String file) {
        return names.containsKey(file);
    }

    @Override
    public synchronized DiskFile open(String file) throws IOException {
        Content content = names.get(file);
        if (content == null) {
            throw new NoSuchFileException(file);
        }
        return new SimFile(file, content);
    }

    @Override
    public synchronized DiskFile create(String file) throws IOException {
        if (usedBytes() >= quotaBytes) {
            throw new DiskFullException("no space left (create)", null);
        }
        Content content = new Content();
        changeNames(() -> names.put(file, content));
        return new SimFile(file, content);
    }

    @Override
    public synchronized void rename(String from, String to) throws IOException {
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
    public synchronized void delete(String file) throws IOException {
        changeNames(() -> names.remove(file));
    }

    @Override
    public synchronized void forceDirectory(String directory) throws IOException {
        if (operate()) {
            throw cut();
        }
        if (!lies) {
            durableNames = new TreeMap<>(names);
            namesUnforced.clear();
        }
    }

    @Override
    public synchronized long freeBytes() {
        return freeBytes;
    }

    @Override
    public synchronized long totalBytes() {
        return 1L << 41;
    }

    @Override
    public synchronized void close() {}

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
        private final String file;
        private final Content content;

        SimFile(String file, Content content) {
            this.file = file;
            this.content = content;
        }

        @Override
        public void write(ByteBuffer from, long position) throws IOException {
            synchronized (SimDisk.this) {
                boolean cuts = operate();
                boolean fails = failWritesTo != null && file.endsWith(failWritesTo);
                if (failWrites > 0 || fails) {
                    failWrites -= fails ? 0 : 1;
                    throw new IOException("input/output error (write)");
                }
                int bytes = cuts && from.hasRemaining() ? random.nextInt(from.remaining() + 1) : from.remaining();
                int at = (int) position;
                boolean full = false;
                if (quotaBytes != Long.MAX_VALUE && at + bytes > content.size) {
                    long sizeMax = content.size + Math.max(0, quotaBytes - usedBytes());
                    full = at + bytes > sizeMax;
                    bytes = full ? (int) Math.max(0, sizeMax - at) : bytes;
                }
                content.room(at + bytes);
                from.get(content.bytes, at, bytes);
                bytesWritten += bytes;
                content.size = bytes > 0 ? Math.max(content.size, at + bytes) : content.size;
                if (bytes > 0) {
                    content.dirty.set(at / SECTOR, (at + bytes - 1) / SECTOR + 1);
                }
                if (cuts) {
                    throw cut();
                }
                if (full) {
                    throw new DiskFullException("no space left (write)", null);
                }
            }
        }

        @Override
        public int read(ByteBuffer to, long position) throws IOException {
            synchronized (SimDisk.this) {
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
                    bytesRead.merge(file, (long) bytes, Long::sum);
                }
                return bytes;
            }
        }

        @Override
        public void force() throws IOException {
            try {
                forcesHeldUntil.await();
            } catch (InterruptedException never) {
                throw new AssertionError(never);
            }
            synchronized (SimDisk.this) {
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
        }

        @Override
        public long size() {
            synchronized (SimDisk.this) {
                return content.size;
            }
        }

        @Override
        public void truncate(long bytes) throws IOException {
            synchronized (SimDisk.this) {
                if (operate()) {
                    throw cut();
                }
                content.size = (int) Math.min(content.size, bytes);
            }
        }

        @Override
        public void close() {}
    }
}
