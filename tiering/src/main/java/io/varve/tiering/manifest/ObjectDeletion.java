package io.varve.tiering.manifest;

import static io.varve.tiering.manifest.ManifestReads.joined;

import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import io.varve.tiering.object.ObjectStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** Deletes many objects, checks what the store says of each, and asks for each whether it is gone (I-11). Blocks. */
final class ObjectDeletion {

    private static final int TRIES = 3;

    /** Questions to the store at a time. */
    private static final int ASKED_AT_ONCE = 32;

    private final ObjectStore store;

    ObjectDeletion(ObjectStore store) {
        this.store = store;
    }

    /**
     * Deletes them all, in order.
     *
     * @param wanted asked before each request
     * @throws RemoteReadException if some of them are still there, or nobody can say; those before may be gone
     */
    void delete(List<String> keys, BooleanSupplier wanted) {
        for (int from = 0; from < keys.size(); from += ObjectStore.BULK_DELETE_KEYS_MAX) {
            List<String> some = keys.subList(from, Math.min(keys.size(), from + ObjectStore.BULK_DELETE_KEYS_MAX));
            deleteBulk(some, wanted);
            verifyGone(some);
        }
    }

    /** A bulk delete answers well although some keys failed: those are tried again. */
    private void deleteBulk(List<String> keys, BooleanSupplier wanted) {
        List<String> rest = keys;
        Map<String, String> failed = Map.of();
        for (int tries = 0; tries < TRIES && !rest.isEmpty(); tries++) {
            if (!wanted.getAsBoolean()) {
                throw new RemoteReadException(Kind.UNAVAILABLE, rest.get(0) + ": the order was withdrawn", null);
            }
            failed = joined(rest.get(0), store.deleteAll(rest));
            rest = new ArrayList<>(failed.keySet());
        }
        if (!rest.isEmpty()) {
            throw new RemoteReadException(
                    Kind.UNAVAILABLE,
                    rest.get(0) + " and " + (rest.size() - 1) + " others can't be deleted: " + failed.get(rest.get(0)),
                    null);
        }
    }

    private void verifyGone(List<String> keys) {
        for (int from = 0; from < keys.size(); from += ASKED_AT_ONCE) {
            List<String> some = keys.subList(from, Math.min(keys.size(), from + ASKED_AT_ONCE));
            List<CompletableFuture<Boolean>> gone = new ArrayList<>();
            some.forEach(key -> gone.add(store.head(key).thenApply(stat -> stat.isEmpty())));
            for (int i = 0; i < some.size(); i++) {
                if (!joined(some.get(i), gone.get(i))) {
                    throw new RemoteReadException(
                            Kind.UNAVAILABLE, some.get(i) + " is still there after its deletion", null);
                }
            }
        }
    }
}
