package io.varve.serving.kafka.restore;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;

/**
 * What remains of a coordinator's log when only the newest record of each key counts: tombstones and what they delete are gone, so is what was
 * aborted, and what was committed in a transaction stands as if written plainly. One thread.
 */
final class NewestByKey {

    private final Map<ByteBuffer, Kept> newest = new HashMap<>();
    private final Map<Long, List<Kept>> open = new TreeMap<>();

    /** @param key owned by this */
    record Kept(ByteBuffer key, ByteBuffer value, long offset, long timestampMs) {}

    /** Takes the batch that follows. */
    void add(MutableRecordBatch batch) {
        for (Record record : batch) {
            if (batch.isControlBatch()) {
                onMarker(batch.producerId(), ControlRecordType.parse(record.key()));
                continue;
            }
            Kept kept = new Kept(copy(record.key()), copy(record.value()), record.offset(), record.timestamp());
            if (batch.isTransactional()) {
                open.computeIfAbsent(batch.producerId(), id -> new ArrayList<>())
                        .add(kept);
            } else {
                put(kept);
            }
        }
    }

    private void put(Kept kept) {
        if (kept.value() == null) {
            newest.remove(kept.key());
        } else {
            newest.put(kept.key(), kept);
        }
    }

    /** A commit doesn't undo what was written plainly after the record that it commits: as the coordinator itself has it. */
    private void onMarker(long producerId, ControlRecordType type) {
        List<Kept> ended = open.remove(producerId);
        if (ended == null || type != ControlRecordType.COMMIT) {
            return;
        }
        for (Kept kept : ended) {
            Kept present = newest.get(kept.key());
            if (present == null || present.offset() < kept.offset()) {
                put(kept);
            }
        }
    }

    /** What lives, in the order in which it was written. */
    List<Kept> inOrder() {
        List<Kept> ordered = new ArrayList<>(newest.values());
        ordered.sort(Comparator.comparingLong(Kept::offset));
        return ordered;
    }

    private static ByteBuffer copy(ByteBuffer bytes) {
        if (bytes == null) {
            return null;
        }
        ByteBuffer copy = ByteBuffer.allocate(bytes.remaining());
        copy.put(bytes.duplicate());
        return copy.flip();
    }
}
