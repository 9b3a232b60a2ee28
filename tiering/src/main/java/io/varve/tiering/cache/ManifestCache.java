package io.varve.tiering.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Optional;

/** Decoded manifests in memory, within a byte budget. Safe for any thread. */
public final class ManifestCache {

    private final Cache<String, Held> held;

    /** @param bytesMax the budget */
    public ManifestCache(long bytesMax) {
        this.held = Caffeine.newBuilder()
                .maximumWeight(bytesMax)
                .weigher((String name, Held value) -> (int) Math.min(Integer.MAX_VALUE, value.bytes()))
                .executor(Runnable::run)
                .build();
    }

    private record Held(Object value, long bytes) {}

    /** What was kept under a name, if it still is. */
    public Optional<Object> get(String name) {
        return Optional.ofNullable(held.getIfPresent(name)).map(Held::value);
    }

    /** Keeps an immutable value. */
    public void put(String name, Object value, long bytes) {
        held.put(name, new Held(value, bytes));
    }
}
