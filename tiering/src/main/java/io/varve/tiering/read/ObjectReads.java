package io.varve.tiering.read;

import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import io.varve.tiering.core.ObjectFormat;
import io.varve.tiering.core.ObjectFormatException;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.object.StoreFailures;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/** Reads of parts of objects, with every failure told by its kind (I-7). */
public final class ObjectReads {

    private ObjectReads() {}

    /**
     * An object's tail: one GET for almost every object, two for those with a very long index.
     *
     * @param length of the object, as the metadata or the store's HEAD says
     * @return fails with {@link RemoteReadException}
     */
    public static CompletableFuture<ObjectTail> tail(ObjectStore store, String key, long length) {
        if (length < ObjectFormat.HEADER_BYTES + ObjectFormat.TRAILER_BYTES) {
            return CompletableFuture.failedFuture(
                    new RemoteReadException(Kind.CORRUPT, key + ": an object of " + length + " bytes", null));
        }
        return tail(store, key, length, (int) Math.min(length, ObjectFormat.TAIL_GUESS_BYTES), true);
    }

    private static CompletableFuture<ObjectTail> tail(
            ObjectStore store, String key, long length, int bytes, boolean mayAskAgain) {
        return store.get(key, length - bytes, bytes)
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(failed(key, failure)))
                .thenCompose(last -> {
                    ObjectTail.Result result = decode(key, last, length);
                    if (result instanceof ObjectTail.Result.Found found) {
                        return CompletableFuture.completedFuture(found.tail());
                    }
                    int needed = ((ObjectTail.Result.More) result).bytes();
                    return mayAskAgain
                            ? tail(store, key, length, needed, false)
                            : CompletableFuture.failedFuture(
                                    new RemoteReadException(Kind.CORRUPT, key + ": the tail changed its length", null));
                });
    }

    private static ObjectTail.Result decode(String key, ByteBuffer last, long length) {
        try {
            return ObjectTail.decode(last, length);
        } catch (ObjectFormatException e) {
            throw malformed(key, e);
        }
    }

    /** A form that isn't as it should be, as the reader is told of it. */
    public static RemoteReadException malformed(String key, ObjectFormatException e) {
        Kind kind =
                e.kind() == ObjectFormatException.Kind.UNSUPPORTED_VERSION ? Kind.UNSUPPORTED_VERSION : Kind.CORRUPT;
        return new RemoteReadException(kind, key + ": " + e.getMessage(), e);
    }

    /** A store's failure, as the reader is told of it. */
    public static RemoteReadException failed(String key, Throwable failure) {
        Throwable root = StoreFailures.root(failure);
        if (root instanceof RemoteReadException already) {
            return already;
        }
        StoreException trouble = StoreFailures.of(root);
        return new RemoteReadException(kindOf(trouble.kind()), key + ": " + trouble.getMessage(), trouble);
    }

    private static Kind kindOf(StoreException.Kind kind) {
        return switch (kind) {
            case THROTTLED, SATURATED, TIMED_OUT, UNREACHABLE, DISK, CLOSED, UPLOAD_GONE -> Kind.UNAVAILABLE;
            // A store that doesn't take a request as it is says nothing of the object.
            case REFUSED -> Kind.UNAVAILABLE;
            case FORBIDDEN -> Kind.FORBIDDEN;
            case NOT_FOUND -> Kind.MISSING;
            // A bucket that is gone says nothing about the object: it may be a wrong name or a mount that is away.
            case NO_BUCKET -> Kind.UNAVAILABLE;
            // The object is shorter than the metadata says, and stays so however often it is asked for.
            case TRUNCATED -> Kind.CORRUPT;
        };
    }
}
