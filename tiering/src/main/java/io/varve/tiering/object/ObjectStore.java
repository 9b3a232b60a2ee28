package io.varve.tiering.object;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A bucket, or what stands for one. Keys are of {@code [A-Za-z0-9/._-]}; an object is written whole or not at all, and is never written
 * a second time by us. Safe for any thread. Futures fail with {@link StoreException} and nothing else; they complete on the store's own
 * threads, which must not be blocked.
 */
public interface ObjectStore extends AutoCloseable {

    /** The largest number of keys in one {@link #deleteAll}. */
    int BULK_DELETE_KEYS_MAX = 1000;

    /** What a call does, for counters and faults. */
    enum Verb {
        PUT,
        CREATE_UPLOAD,
        PUT_PART,
        COMPLETE_UPLOAD,
        ABORT_UPLOAD,
        LIST_UPLOADS,
        GET,
        HEAD,
        LIST,
        DELETE,
        BULK_DELETE
    }

    /**
     * Writes an object in one call; durable when the future ends.
     *
     * @param body from the position to the limit; neither moves. The bytes must stay as they are until the future ends. If it fails the call may still be going
     *     on: should they change from then on, nobody knows what becomes of the key, and it must never count.
     */
    CompletableFuture<Void> put(String key, ByteBuffer body);

    /** Begins an upload in parts and returns its id. */
    CompletableFuture<String> createUpload(String key);

    /**
     * Sends one part.
     *
     * @param number from 1; parts are joined in the order of their numbers
     * @param body as in {@link #put}; all but the last part have at least 5 MiB on most stores
     */
    CompletableFuture<Part> putPart(String key, String uploadId, int number, ByteBuffer body);

    /** Joins the parts into the object; durable when the future ends. */
    CompletableFuture<Void> completeUpload(String key, String uploadId, List<Part> parts);

    /** Drops an upload with its parts. Dropping what isn't there succeeds. */
    CompletableFuture<Void> abortUpload(String key, String uploadId);

    /** One page of the uploads that were neither completed nor aborted. */
    CompletableFuture<Page<Upload>> uploads(String prefix, Optional<String> cursor);

    /**
     * Reads {@code length} bytes from {@code from} on: all of them, or it fails.
     *
     * @return a heap buffer that nobody else has, from 0 to its limit
     */
    CompletableFuture<ByteBuffer> get(String key, long from, int length);

    /**
     * {@link #get} into memory of the caller's, all of it, or it fails. Whatever the end, the caller closes {@code into} before the memory is used for something else.
     *
     * @return ends when {@code into} is full
     */
    default CompletableFuture<Void> fill(String key, long from, RangeTarget into) {
        RangeTarget.Attempt attempt = into.begin();
        return get(key, from, into.length()).thenAccept(attempt::put);
    }

    /** What the store says of an object; empty only if it says that there is none. */
    CompletableFuture<Optional<Stat>> head(String key);

    /** One page of the objects whose keys start with {@code prefix}, in order of their keys. */
    CompletableFuture<Page<Stat>> list(String prefix, Optional<String> cursor, int max);

    /** Deletes an object. Deleting what isn't there succeeds. */
    CompletableFuture<Void> delete(String key);

    /**
     * Deletes up to {@link #BULK_DELETE_KEYS_MAX} objects.
     *
     * @return what the store said of those keys that it did not delete; empty if all are gone
     */
    CompletableFuture<Map<String, String>> deleteAll(List<String> keys);

    /** Where it is, for a log line: without secrets. */
    String describe();

    /** Calls under way fail with CLOSED. */
    @Override
    void close();

    /**
     * @param length in bytes
     * @param modifiedMs wall time of the store, for its age
     */
    record Stat(String key, long length, long modifiedMs) {}

    /**
     * @param tag what the store wants to hear again on completion
     * @param checksum likewise; empty if the store made none
     */
    record Part(int number, String tag, String checksum) {}

    /** @param initiatedMs wall time of the store */
    record Upload(String key, String uploadId, long initiatedMs) {}

    /**
     * @param cursor where the next page starts; empty after the last
     * @param <T> what is listed
     */
    record Page<T>(List<T> items, Optional<String> cursor) {
        public Page {
            items = List.copyOf(items);
            Objects.requireNonNull(cursor, "cursor");
        }
    }

    /** @throws IllegalArgumentException if some store might not take the key as it is (or take it for another) */
    static String checkKey(String key) {
        boolean sound = !key.isEmpty() && key.length() <= 900 && key.charAt(0) != '/' && !key.endsWith("/");
        char before = '/';
        for (int i = 0; sound && i < key.length(); i++) {
            char c = key.charAt(i);
            boolean plain =
                    c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-';
            // No empty name and none that starts with a dot between two slashes: "..", ".", and files that tools hide.
            sound = plain || (c == '.' || c == '/') && before != '/';
            before = c;
        }
        if (!sound) {
            throw new IllegalArgumentException("Not a key of ours: " + key);
        }
        return key;
    }
}
