package io.varve.bookie.store;

import io.varve.base.SegmentId;
import io.varve.bookie.disk.Disk;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** The settled files that are open for reading, with their indexes: a bounded number, the least recently used go first. Safe for any thread. */
final class SettledFiles {

    private static final int OPEN_MAX = 512;

    private final Disk disk;
    private final LinkedHashMap<SegmentId, Handle> open = new LinkedHashMap<>(64, 0.75f, true);

    SettledFiles(Disk disk) {
        this.disk = disk;
    }

    /** One reader's hold on an open file. Closing it gives the file back. */
    final class Handle implements AutoCloseable {
        final SettledFile file;
        final long bytes;
        private int users;
        private boolean retired;

        private Handle(SettledFile file, long bytes) {
            this.file = file;
            this.bytes = bytes;
        }

        @Override
        public void close() throws IOException {
            boolean last;
            synchronized (SettledFiles.this) {
                last = --users == 0 && retired;
            }
            if (last) {
                file.close();
            }
        }
    }

    /** Opens the file of a segment, of which so many bytes count. */
    Handle open(SegmentId segment, long bytes) throws IOException {
        synchronized (this) {
            Handle handle = open.get(segment);
            if (handle != null && handle.bytes == bytes) {
                handle.users++;
                return handle;
            }
        }
        Handle opened = new Handle(SettledFile.open(disk, SegmentFiles.data(segment), segment, bytes), bytes);
        synchronized (this) {
            opened.users = 1;
            retire(open.put(segment, opened));
            Iterator<Map.Entry<SegmentId, Handle>> eldest = open.entrySet().iterator();
            while (open.size() > OPEN_MAX) {
                Handle old = eldest.next().getValue();
                eldest.remove();
                retire(old);
            }
        }
        return opened;
    }

    /** Forgets a segment's file: it has changed, or is to be deleted. */
    synchronized void forget(SegmentId segment) throws IOException {
        retire(open.remove(segment));
    }

    private void retire(Handle handle) throws IOException {
        if (handle != null) {
            handle.retired = true;
            if (handle.users == 0) {
                handle.file.close();
            }
        }
    }

    synchronized void close() throws IOException {
        for (Handle handle : open.values()) {
            retire(handle);
        }
        open.clear();
    }
}
