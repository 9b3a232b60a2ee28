package io.varve.tiering.object;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** A store around another: every call passes {@link #around}. */
public abstract class WrappedObjectStore implements ObjectStore {

    private final ObjectStore inner;

    /** @param inner closed with this one */
    protected WrappedObjectStore(ObjectStore inner) {
        this.inner = inner;
    }

    /**
     * Carries out a call, or not.
     *
     * @param bytes that are sent or asked for
     * @param call does it; may be run several times
     */
    protected abstract <T> CompletableFuture<T> around(
            Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call);

    @Override
    public CompletableFuture<Void> put(String key, ByteBuffer body) {
        return around(Verb.PUT, key, body.remaining(), () -> inner.put(key, body));
    }

    @Override
    public CompletableFuture<String> createUpload(String key) {
        return around(Verb.CREATE_UPLOAD, key, 0, () -> inner.createUpload(key));
    }

    @Override
    public CompletableFuture<Part> putPart(String key, String uploadId, int number, ByteBuffer body) {
        return around(Verb.PUT_PART, key, body.remaining(), () -> inner.putPart(key, uploadId, number, body));
    }

    @Override
    public CompletableFuture<Void> completeUpload(String key, String uploadId, List<Part> parts) {
        return around(Verb.COMPLETE_UPLOAD, key, 0, () -> inner.completeUpload(key, uploadId, parts));
    }

    @Override
    public CompletableFuture<Void> abortUpload(String key, String uploadId) {
        return around(Verb.ABORT_UPLOAD, key, 0, () -> inner.abortUpload(key, uploadId));
    }

    @Override
    public CompletableFuture<Page<Upload>> uploads(String prefix, Optional<String> cursor) {
        return around(Verb.LIST_UPLOADS, prefix, 0, () -> inner.uploads(prefix, cursor));
    }

    @Override
    public CompletableFuture<ByteBuffer> get(String key, long from, int length) {
        return around(Verb.GET, key, length, () -> inner.get(key, from, length));
    }

    @Override
    public CompletableFuture<Void> fill(String key, long from, RangeTarget into) {
        return around(Verb.GET, key, into.length(), () -> inner.fill(key, from, into));
    }

    @Override
    public CompletableFuture<Optional<Stat>> head(String key) {
        return around(Verb.HEAD, key, 0, () -> inner.head(key));
    }

    @Override
    public CompletableFuture<Page<Stat>> list(String prefix, Optional<String> cursor, int max) {
        return around(Verb.LIST, prefix, 0, () -> inner.list(prefix, cursor, max));
    }

    @Override
    public CompletableFuture<Void> delete(String key) {
        return around(Verb.DELETE, key, 0, () -> inner.delete(key));
    }

    @Override
    public CompletableFuture<Map<String, String>> deleteAll(List<String> keys) {
        return around(Verb.BULK_DELETE, keys.isEmpty() ? "" : keys.get(0), 0, () -> inner.deleteAll(keys));
    }

    @Override
    public String describe() {
        return inner.describe();
    }

    @Override
    public void close() {
        inner.close();
    }
}
