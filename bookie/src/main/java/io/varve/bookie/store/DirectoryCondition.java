package io.varve.bookie.store;

import io.varve.base.Clock;

/** Whether a directory takes new data: by the room that its disk has, and by what has gone wrong. Safe for any thread. */
final class DirectoryCondition {

    /** How long a directory that had no room takes nothing new, whatever is said to be free. */
    private static final long FULL_NS_MIN = 10_000_000_000L;

    private final StoreOptions options;
    private final Clock clock;
    private volatile DirectoryInfo.State state = DirectoryInfo.State.WRITABLE;
    private volatile long freeBytes;
    private volatile long totalBytes;
    private volatile boolean shortOfSpace;
    private volatile boolean hasReserve;
    private volatile long fullUntilNs;

    DirectoryCondition(StoreOptions options, Clock clock) {
        this.options = options;
        this.clock = clock;
        this.fullUntilNs = clock.nanoTime();
    }

    DirectoryInfo.State state() {
        return state;
    }

    boolean isWritable() {
        return state == DirectoryInfo.State.WRITABLE;
    }

    boolean isOutOfService() {
        return state == DirectoryInfo.State.OUT_OF_SERVICE;
    }

    /** Whether it is full, and more than half of the reserve is left. */
    boolean hasReserve() {
        return state == DirectoryInfo.State.FULL && hasReserve;
    }

    /** What is left above the reserve. */
    long freeBytes() {
        return freeBytes;
    }

    long totalBytes() {
        return totalBytes;
    }

    /** Whether the disk has so little left that nothing is kept for later use. */
    boolean isShortOfSpace() {
        return shortOfSpace;
    }

    /** For good (I-12). Answers whether that is new. */
    synchronized boolean goOutOfService() {
        return change(DirectoryInfo.State.WRITABLE, DirectoryInfo.State.OUT_OF_SERVICE)
                || change(DirectoryInfo.State.FULL, DirectoryInfo.State.OUT_OF_SERVICE);
    }

    /** Something found no room, whatever the file system says: its count of what is free doesn't know of quotas. Answers whether the directory was writable until now. */
    boolean onNoRoom() {
        fullUntilNs = clock.nanoTime() + FULL_NS_MIN;
        hasReserve = false;
        return change(DirectoryInfo.State.WRITABLE, DirectoryInfo.State.FULL);
    }

    /**
     * The disk was looked at.
     *
     * @param leftBytes on the disk
     * @param spareBytes in journal files that hold nothing
     * @return whether the state has changed
     */
    boolean onMeasured(long leftBytes, long diskBytes, long spareBytes) {
        long free = leftBytes + spareBytes;
        totalBytes = diskBytes;
        shortOfSpace = leftBytes < options.diskReserveBytes();
        freeBytes = Math.max(0, free - options.diskReserveBytes());
        boolean isTrusted = clock.nanoTime() - fullUntilNs >= 0;
        hasReserve = isTrusted && free >= options.diskReserveBytes() / 2;
        if (free < options.diskReserveBytes()) {
            return change(DirectoryInfo.State.WRITABLE, DirectoryInfo.State.FULL);
        }
        return free >= options.diskRelieveBytes()
                && isTrusted
                && change(DirectoryInfo.State.FULL, DirectoryInfo.State.WRITABLE);
    }

    private synchronized boolean change(DirectoryInfo.State from, DirectoryInfo.State to) {
        if (state != from) {
            return false;
        }
        state = to;
        return true;
    }
}
