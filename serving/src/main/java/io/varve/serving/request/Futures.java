package io.varve.serving.request;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Waiting for several. */
public final class Futures {

    private Futures() {}

    /** All values in order, once the last is there. Fails if one does. */
    public static <T> CompletableFuture<List<T>> all(List<CompletableFuture<T>> futures) {
        return CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new))
                .thenApply(ignored -> {
                    List<T> values = new ArrayList<>(futures.size());
                    futures.forEach(future -> values.add(future.join()));
                    return values;
                });
    }
}
