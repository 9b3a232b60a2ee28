package io.varve.planted.core;

import io.varve.planted.server.PlantedServer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** Breaks every rule that a core can break, one a method. Never run. */
public final class PlantedCore {

    static Map<String, String> hashMap() {
        return new HashMap<>();
    }

    static Path file() {
        return Path.of("x");
    }

    static Thread thread() {
        return Thread.currentThread();
    }

    static CompletableFuture<Void> future() {
        return new CompletableFuture<>();
    }

    static java.time.Instant instant() {
        return java.time.Instant.now();
    }

    static long clock() {
        return System.nanoTime();
    }

    static Set<String> unordered() {
        return Set.of("a", "b");
    }

    static Set<String> collected(String... texts) {
        return Arrays.stream(texts).collect(Collectors.toSet());
    }

    static io.netty.buffer.ByteBuf buffer() {
        return io.netty.buffer.Unpooled.EMPTY_BUFFER;
    }

    /** With the server's knowledge of this class, a cycle. */
    static PlantedServer server() {
        return new PlantedServer();
    }

    public static void touch() {}
}
