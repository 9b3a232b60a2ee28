package io.varve.itest.sim;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ObjectRef;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.protocol.storage.EntryFormat;
import io.varve.sim.SimRandomness;
import io.varve.sim.SimScheduler;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteSegments;
import io.varve.tiering.api.SealedSegmentSource.Checkpoint;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Object storage: objects are entries by offset. Puts take time, fail, fail after all was stored, and succeed after only a part was stored; reads take time and fail.
 */
final class SimBucket implements RemoteSegments {

    private final SimScheduler scheduler;
    private final SimRandomness randomness;
    private final TreeMap<String, StoredObject> objects = new TreeMap<>();
    private double troublePercent;
    private long latencyNsMax = 5_000_000;

    SimBucket(SimScheduler scheduler) {
        this.scheduler = scheduler;
        this.randomness = scheduler.randomness().split();
    }

    /**
     * @param entries by first offset, laid out by {@link EntryFormat}
     * @param checkpoints by offset
     */
    record StoredObject(TreeMap<Long, byte[]> entries, TreeMap<Long, byte[]> checkpoints) {

        /** Whether it holds every offset from {@code start} to {@code end}. */
        boolean covers(long start, long end) {
            Map.Entry<Long, byte[]> at = entries.floorEntry(start);
            long next = at == null ? -1 : at.getKey();
            while (at != null && next < end && at.getKey() == next) {
                next = EntryFormat.lastOffset(ByteBuffer.wrap(at.getValue()), 0) + 1;
                at = entries.higherEntry(at.getKey());
            }
            return next >= end;
        }

        /** A part of it, as a put that was cut off leaves it. */
        private StoredObject cut(int count) {
            TreeMap<Long, byte[]> rest = new TreeMap<>();
            entries.entrySet().stream().limit(count).forEach(e -> rest.put(e.getKey(), e.getValue()));
            return new StoredObject(rest, checkpoints);
        }
    }

    /** @param trouble how often something goes wrong */
    void setFaults(double trouble, long latencyMax) {
        troublePercent = trouble;
        latencyNsMax = latencyMax;
    }

    // ---- what bookies do
    // --------------------------------------------------------------------------------------------------------

    /** Stores an object, or not: completes with whether the store says so. */
    CompletableFuture<Boolean> put(String key, StoredObject object) {
        CompletableFuture<Boolean> said = new CompletableFuture<>();
        scheduler.schedule(latency(), () -> {
            History.require(!objects.containsKey(key), "keys never repeat: " + key);
            boolean trouble = randomness.percent(troublePercent);
            int kind = randomness.nextInt(3);
            if (!trouble || kind == 0) {
                objects.put(key, object);
            } else if (kind == 1) {
                objects.put(key, object.cut(randomness.nextInt(object.entries().size() + 1)));
            }
            // A whole object may be called failed, and a part of one may be called whole: only reading it back tells
            // (I-10).
            boolean success = !trouble || kind == 1;
            scheduler.schedule(latency(), () -> said.complete(success));
        });
        return said;
    }

    /** What is stored under a key. */
    CompletableFuture<Optional<StoredObject>> readBack(String key) {
        CompletableFuture<Optional<StoredObject>> read = new CompletableFuture<>();
        scheduler.schedule(latency(), () -> read.complete(Optional.ofNullable(objects.get(key))));
        return read;
    }

    void delete(String key) {
        objects.remove(key);
    }

    // ---- what oracles see
    // -------------------------------------------------------------------------------------------------------

    Optional<StoredObject> look(String key) {
        return Optional.ofNullable(objects.get(key));
    }

    int objects() {
        return objects.size();
    }

    // ---- what brokers do
    // --------------------------------------------------------------------------------------------------------

    @Override
    public CompletableFuture<RemoteEntries> read(
            ObjectRef object, PartitionId partition, long from, int maxBytes, Following following) {
        return reading(object, () -> {
            TreeMap<Long, byte[]> entries = objects.get(object.key()).entries();
            List<ByteBuffer> found = new ArrayList<>();
            long next = from;
            int bytes = 0;
            for (byte[] entry : entries.tailMap(entries.floorKey(from), true).values()) {
                bytes += entry.length;
                if (!found.isEmpty() && bytes > maxBytes) {
                    break;
                }
                found.add(ByteBuffer.wrap(entry).asReadOnlyBuffer());
                next = EntryFormat.lastOffset(ByteBuffer.wrap(entry), 0) + 1;
            }
            return RemoteEntries.of(found, next);
        });
    }

    @Override
    public CompletableFuture<Optional<Long>> entryForTimestamp(ObjectRef object, PartitionId partition, long timeMs) {
        return reading(
                object,
                () -> objects.get(object.key()).entries().entrySet().stream()
                        .filter(e -> RecordBatchHeader.maxTimestampMs(
                                        ByteBuffer.wrap(e.getValue()), EntryFormat.HEADER_BYTES)
                                >= timeMs)
                        .map(Map.Entry::getKey)
                        .findFirst());
    }

    @Override
    public CompletableFuture<Optional<Checkpoint>> checkpoint(ObjectRef object, PartitionId partition, long atMost) {
        return reading(
                object,
                () -> Optional.ofNullable(
                                objects.get(object.key()).checkpoints().floorEntry(atMost))
                        .map(e -> new Checkpoint(e.getKey(), ByteBuffer.wrap(e.getValue()))));
    }

    private <T> CompletableFuture<T> reading(ObjectRef object, Supplier<T> look) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        scheduler.schedule(latency(), () -> {
            if (randomness.percent(troublePercent)) {
                answer.completeExceptionally(
                        new RemoteReadException(RemoteReadException.Kind.UNAVAILABLE, "not now", null));
            } else if (!objects.containsKey(object.key())) {
                answer.completeExceptionally(
                        new RemoteReadException(RemoteReadException.Kind.MISSING, object.key(), null));
            } else {
                answer.complete(look.get());
            }
        });
        return answer;
    }

    private long latency() {
        return randomness.between(100_000, latencyNsMax);
    }

    @Override
    public void close() {}
}
