package io.varve.tiering.object;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** The part of a bucket below a prefix, as a store of its own: what is outside can be neither seen nor touched through it. */
public final class PrefixedObjectStore implements ObjectStore {

    private final ObjectStore inner;
    private final String prefix;

    /** @param prefix empty, or of {@code [A-Za-z0-9/._-]}; a slash at its end is put there if it is missing */
    public PrefixedObjectStore(ObjectStore inner, String prefix) {
        this.inner = inner;
        this.prefix = prefix.isEmpty() || prefix.endsWith("/") ? prefix : prefix + "/";
        if (!this.prefix.isEmpty()) {
            ObjectStore.checkKey(this.prefix.substring(0, this.prefix.length() - 1));
        }
    }

    @Override
    public CompletableFuture<Void> put(String key, ByteBuffer body) {
        return inner.put(prefix + key, body);
    }

    @Override
    public CompletableFuture<String> createUpload(String key) {
        return inner.createUpload(prefix + key);
    }

    @Override
    public CompletableFuture<Part> putPart(String key, String uploadId, int number, ByteBuffer body) {
        return inner.putPart(prefix + key, uploadId, number, body);
    }

    @Override
    public CompletableFuture<Void> completeUpload(String key, String uploadId, List<Part> parts) {
        return inner.completeUpload(prefix + key, uploadId, parts);
    }

    @Override
    public CompletableFuture<Void> abortUpload(String key, String uploadId) {
        return inner.abortUpload(prefix + key, uploadId);
    }

    @Override
    public CompletableFuture<Page<Upload>> uploads(String below, Optional<String> cursor) {
        return inner.uploads(prefix + below, cursor)
                .thenApply(page -> new Page<>(
                        page.items().stream()
                                .filter(u -> u.key().startsWith(prefix))
                                .map(u -> new Upload(strip(u.key()), u.uploadId(), u.initiatedMs()))
                                .toList(),
                        page.cursor()));
    }

    @Override
    public CompletableFuture<ByteBuffer> get(String key, long from, int length) {
        return inner.get(prefix + key, from, length);
    }

    @Override
    public CompletableFuture<Void> fill(String key, long from, RangeTarget into) {
        return inner.fill(prefix + key, from, into);
    }

    @Override
    public CompletableFuture<Optional<Stat>> head(String key) {
        return inner.head(prefix + key).thenApply(found -> found.map(this::strip));
    }

    @Override
    public CompletableFuture<Page<Stat>> list(String below, Optional<String> cursor, int max) {
        return inner.list(prefix + below, cursor, max)
                .thenApply(page -> new Page<>(
                        page.items().stream()
                                .filter(o -> o.key().startsWith(prefix))
                                .map(this::strip)
                                .toList(),
                        page.cursor()));
    }

    @Override
    public CompletableFuture<Void> delete(String key) {
        return inner.delete(prefix + key);
    }

    @Override
    public CompletableFuture<Map<String, String>> deleteAll(List<String> keys) {
        return inner.deleteAll(keys.stream().map(key -> prefix + key).toList()).thenApply(failed -> {
            Map<String, String> stripped = new TreeMap<>();
            failed.forEach((key, reason) -> stripped.put(strip(key), reason));
            return stripped;
        });
    }

    @Override
    public String describe() {
        return prefix.isEmpty() ? inner.describe() : inner.describe() + " below " + prefix;
    }

    @Override
    public void close() {
        inner.close();
    }

    private Stat strip(Stat stat) {
        return new Stat(strip(stat.key()), stat.length(), stat.modifiedMs());
    }

    private String strip(String key) {
        return key.substring(prefix.length());
    }
}
