package io.varve.tiering.testing;

import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.object.StoreException.Kind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** A bucket in memory, for tests and simulations: answers at once, on the caller's thread. Safe for any thread. */
public final class MemoryObjectStore implements ObjectStore {

    private final LongSupplier wallTimeMs;
    private final TreeMap<String, Held> objects = new TreeMap<>();
    private final TreeMap<String, Begun> uploads = new TreeMap<>();
    private long uploadNumber;
    private boolean closed;

    /** A bucket whose clock stands still. */
    public MemoryObjectStore() {
        this(() -> 0);
    }

    /** @param wallTimeMs for the age of objects */
    public MemoryObjectStore(LongSupplier wallTimeMs) {
        this.wallTimeMs = wallTimeMs;
    }

    private record Held(byte[] bytes, long modifiedMs) {}

    private record Begun(String key, long initiatedMs, TreeMap<Integer, byte[]> parts) {}

    /** All keys with their bytes, as they are. */
    public synchronized SortedMap<String, byte[]> objects() {
        TreeMap<String, byte[]> copy = new TreeMap<>();
        objects.forEach((key, held) -> copy.put(key, held.bytes()));
        return copy;
    }

    /** Uploads neither completed nor aborted. */
    public synchronized int openUploads() {
        return uploads.size();
    }

    /** Puts other bytes where an object is, as a failing disk would. */
    public synchronized void overwrite(String key, byte[] bytes) {
        objects.put(key, new Held(bytes.clone(), wallTimeMs.getAsLong()));
    }

    @Override
    public CompletableFuture<Void> put(String key, ByteBuffer body) {
        return answer(() -> {
            objects.put(ObjectStore.checkKey(key), new Held(bytesOf(body), wallTimeMs.getAsLong()));
            return null;
        });
    }

    @Override
    public CompletableFuture<String> createUpload(String key) {
        return answer(() -> {
            String id = "upload-" + ++uploadNumber;
            uploads.put(id, new Begun(ObjectStore.checkKey(key), wallTimeMs.getAsLong(), new TreeMap<>()));
            return id;
        });
    }

    @Override
    public CompletableFuture<Part> putPart(String key, String uploadId, int number, ByteBuffer body) {
        return answer(() -> {
            upload(key, uploadId).parts().put(number, bytesOf(body));
            return new Part(number, uploadId + "/" + number, "");
        });
    }

    @Override
    public CompletableFuture<Void> completeUpload(String key, String uploadId, List<Part> parts) {
        return answer(() -> {
            Begun begun = upload(key, uploadId);
            int length = parts.stream()
                    .mapToInt(p -> begun.parts().get(p.number()).length)
                    .sum();
            ByteBuffer joined = ByteBuffer.allocate(length);
            parts.forEach(p -> joined.put(begun.parts().get(p.number())));
            objects.put(key, new Held(joined.array(), wallTimeMs.getAsLong()));
            uploads.remove(uploadId);
            return null;
        });
    }

    @Override
    public CompletableFuture<Void> abortUpload(String key, String uploadId) {
        return answer(() -> {
            uploads.remove(uploadId);
            return null;
        });
    }

    @Override
    public CompletableFuture<Page<Upload>> uploads(String prefix, Optional<String> cursor) {
        return answer(() -> {
            List<Upload> found = new ArrayList<>();
            uploads.forEach((id, begun) -> {
                if (begun.key().startsWith(prefix)) {
                    found.add(new Upload(begun.key(), id, begun.initiatedMs()));
                }
            });
            return new Page<>(found, Optional.empty());
        });
    }

    @Override
    public CompletableFuture<ByteBuffer> get(String key, long from, int length) {
        return answer(() -> {
            Held held = objects.get(key);
            if (held == null) {
                throw new StoreException(Kind.NOT_FOUND, "GET " + key + ": no such object");
            }
            if (from + length > held.bytes().length) {
                throw new StoreException(Kind.TRUNCATED, "GET " + key + ": ends at " + held.bytes().length);
            }
            byte[] range = new byte[length];
            System.arraycopy(held.bytes(), (int) from, range, 0, length);
            return ByteBuffer.wrap(range);
        });
    }

    @Override
    public CompletableFuture<Optional<Stat>> head(String key) {
        return answer(() -> Optional.ofNullable(objects.get(key))
                .map(held -> new Stat(key, held.bytes().length, held.modifiedMs())));
    }

    @Override
    public CompletableFuture<Page<Stat>> list(String prefix, Optional<String> cursor, int max) {
        return answer(() -> {
            List<Stat> found = new ArrayList<>();
            for (Map.Entry<String, Held> at :
                    objects.tailMap(cursor.orElse(prefix), cursor.isEmpty()).entrySet()) {
                if (!at.getKey().startsWith(prefix)) {
                    break;
                }
                if (found.size() == max) {
                    return new Page<>(found, Optional.of(found.get(max - 1).key()));
                }
                found.add(new Stat(
                        at.getKey(), at.getValue().bytes().length, at.getValue().modifiedMs()));
            }
            return new Page<>(found, Optional.empty());
        });
    }

    @Override
    public CompletableFuture<Void> delete(String key) {
        return answer(() -> {
            objects.remove(key);
            return null;
        });
    }

    @Override
    public CompletableFuture<Map<String, String>> deleteAll(List<String> keys) {
        return answer(() -> {
            keys.forEach(objects::remove);
            return new TreeMap<>();
        });
    }

    @Override
    public String describe() {
        return "memory";
    }

    @Override
    public synchronized void close() {
        closed = true;
    }

    private synchronized <T> CompletableFuture<T> answer(Supplier<T> work) {
        if (closed) {
            return CompletableFuture.failedFuture(new StoreException(Kind.CLOSED, "the store is closed"));
        }
        try {
            return CompletableFuture.completedFuture(work.get());
        } catch (StoreException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private Begun upload(String key, String uploadId) {
        Begun begun = uploads.get(uploadId);
        if (begun == null || !begun.key().equals(key)) {
            throw new StoreException(Kind.UPLOAD_GONE, "no upload " + uploadId + " of " + key);
        }
        return begun;
    }

    private static byte[] bytesOf(ByteBuffer body) {
        byte[] bytes = new byte[body.remaining()];
        body.duplicate().get(bytes);
        return bytes;
    }
}
