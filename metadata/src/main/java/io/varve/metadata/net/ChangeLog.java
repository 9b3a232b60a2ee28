package io.varve.metadata.net;

import io.varve.metadata.core.MetadataImage;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.WatchChange;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The last changes, in memory, for watches to follow and for clients that come back after a short absence. Bounded in bytes: who is further behind gets the whole state. Written by
 * the log's thread alone, read by any.
 */
final class ChangeLog {

    private final long bytesMax;
    private final NavigableMap<Long, Change> changes = new ConcurrentSkipListMap<>();
    private final AtomicLong bytes = new AtomicLong();
    private volatile long startVersion;
    private volatile MetadataImage newest = MetadataImage.EMPTY;

    /**
     * @param beforeVersion the version that this change was made to
     * @param digestBefore of that version
     */
    record Change(long beforeVersion, long digestBefore, WatchChange proto) {}

    ChangeLog(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    void restart(MetadataImage image) {
        changes.clear();
        bytes.set(0);
        startVersion = image.version();
        newest = image;
    }

    void add(MetadataImage before, MetadataImage after, Iterable<MetadataRecord> records) {
        WatchChange proto = WatchChange.newBuilder()
                .setVersion(after.version())
                .addAllRecords(records)
                .build();
        changes.put(after.version(), new Change(before.version(), before.digest(), proto));
        bytes.addAndGet(proto.getSerializedSize());
        newest = after;
        while (bytes.get() > bytesMax && changes.size() > 1) {
            Map.Entry<Long, Change> oldest = changes.pollFirstEntry();
            startVersion = oldest.getKey();
            bytes.addAndGet(-oldest.getValue().proto().getSerializedSize());
        }
    }

    MetadataImage newest() {
        return newest;
    }

    /** The first change after {@code version}, or null if there is none yet. Ask {@link #reaches} first. */
    Change after(long version) {
        Map.Entry<Long, Change> next = changes.higherEntry(version);
        return next == null ? null : next.getValue();
    }

    /** Whether someone at {@code version} with that digest can be led on by changes alone. */
    boolean reaches(long version, long digest) {
        MetadataImage now = newest;
        if (version == now.version()) {
            return digest == now.digest();
        }
        Change next = after(version);
        return version >= startVersion
                && version < now.version()
                && next != null
                && next.beforeVersion() == version
                && next.digestBefore() == digest;
    }
}
