package io.varve.tiering.object;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Tries everything that will be asked of a store, under a key of its own, and says in one line what is wrong with it. What it reads back
 * must be what it wrote: a store that keeps the framing of a body as content is found here. Whatever the verdict, it leaves nothing behind that
 * the store lets it take away.
 */
public final class BucketProbe {

    private static final int PART_BYTES = 5 * 1024 * 1024;

    private final ObjectStore store;
    private final String prefix;

    /**
     * @param prefix where its objects go, ends with a slash
     * @param unique for the key, so that two probes don't meet
     */
    public BucketProbe(ObjectStore store, String prefix, String unique) {
        this.store = store;
        this.prefix = prefix + "probe/" + unique + "/";
    }

    /**
     * What was found.
     *
     * @param isSound whether the store can do all that is needed
     * @param kind of the trouble; of no meaning if there is none
     * @param line for a person
     */
    public record Verdict(boolean isSound, StoreException.Kind kind, String line) {}

    private record Step(String name, java.util.function.Supplier<CompletableFuture<?>> run) {}

    /** Tries all. Never fails itself. */
    public CompletableFuture<Verdict> run() {
        String single = single();
        String multi = multi();
        ByteBuffer small = pattern(4096);
        ByteBuffer part = pattern(PART_BYTES);
        List<Step> steps = new ArrayList<>();
        steps.add(new Step("PUT", () -> store.put(single, small)));
        steps.add(new Step(
                "HEAD",
                () -> store.head(single).thenAccept(stat -> {
                    require(stat.isPresent(), "the object just written isn't there");
                    require(
                            stat.get().length() == small.remaining(),
                            "the object has " + stat.get().length() + " bytes instead of " + small.remaining()
                                    + ": switch chunked encoding off");
                })));
        steps.add(new Step(
                "ranged GET",
                () -> store.get(single, 1000, 96)
                        .thenAccept(
                                got -> require(got.equals(small.slice(1000, 96)), "other bytes than were written"))));
        steps.add(new Step("multipart", () -> multipart(multi, part, small)));
        steps.add(new Step(
                "LIST",
                () -> store.list(prefix, Optional.empty(), 10)
                        .thenAccept(page -> require(
                                page.items().stream().anyMatch(o -> o.key().equals(single)),
                                "the object just written isn't listed"))));
        steps.add(new Step("DELETE", () -> store.delete(single).thenCompose(done -> gone(single))));
        steps.add(new Step(
                "bulk DELETE",
                () -> store.deleteAll(List.of(multi, single))
                        .thenAccept(failed -> require(failed.isEmpty(), "not deleted: " + failed))
                        .thenCompose(done -> gone(multi))));
        return runFrom(steps, 0);
    }

    private CompletableFuture<Verdict> runFrom(List<Step> steps, int at) {
        if (at == steps.size()) {
            return CompletableFuture.completedFuture(new Verdict(
                    true,
                    StoreException.Kind.REFUSED,
                    store.describe() + ": PUT, HEAD, ranged GET, multipart, LIST, DELETE and bulk DELETE work"));
        }
        Step step = steps.get(at);
        return step.run()
                .get()
                .handle((done, failure) -> failure == null
                        ? runFrom(steps, at + 1)
                        : clearedUp(StoreFailures.of(failure)).thenApply(trouble -> failed(step, trouble)))
                .thenCompose(verdict -> verdict);
    }

    /** As far as it goes: why the probe failed may be why this does. Of a store that doesn't answer nobody waits for another answer. */
    private CompletableFuture<StoreException> clearedUp(StoreException trouble) {
        CompletableFuture<Void> deleted = CompletableFuture.allOf(
                store.delete(single()).exceptionally(failure -> null),
                store.delete(multi()).exceptionally(failure -> null));
        return answers(trouble) ? deleted.thenApply(done -> trouble) : CompletableFuture.completedFuture(trouble);
    }

    private static boolean answers(StoreException trouble) {
        return trouble.kind() != StoreException.Kind.UNREACHABLE && trouble.kind() != StoreException.Kind.TIMED_OUT;
    }

    private String single() {
        return prefix + "single";
    }

    private String multi() {
        return prefix + "multi";
    }

    private Verdict failed(Step step, StoreException trouble) {
        String line = store.describe() + ": " + step.name() + " fails: " + trouble.getMessage() + hint(trouble);
        return new Verdict(false, trouble.kind(), line);
    }

    private static String hint(StoreException trouble) {
        return switch (trouble.kind()) {
            case FORBIDDEN -> " (check the keys, their rights and this machine's clock)";
            case NO_BUCKET -> " (create the bucket, or correct its name)";
            case REFUSED ->
                trouble.getMessage().endsWith(")") ? "" : " (try tiering.s3.profile=generic, or path style)";
            case UNREACHABLE -> " (check the endpoint and the way to it)";
            case TIMED_OUT ->
                " (check the endpoint and the way to it; if only large writes never end, try tiering.s3.expect.continue=false)";
            default -> "";
        };
    }

    private CompletableFuture<Void> multipart(String key, ByteBuffer first, ByteBuffer second) {
        return store.createUpload(key)
                .thenCompose(upload -> store.putPart(key, upload, 1, first)
                        .thenCompose(one -> store.putPart(key, upload, 2, second)
                                .thenCompose(two -> store.completeUpload(key, upload, List.of(one, two))))
                        .exceptionallyCompose(failure -> aborted(key, upload, failure))
                        .thenCompose(done -> store.get(key, PART_BYTES - 10, 20))
                        .thenAccept(got -> {
                            ByteBuffer wanted = ByteBuffer.allocate(20)
                                    .put(first.slice(PART_BYTES - 10, 10))
                                    .put(second.slice(0, 10))
                                    .flip();
                            require(got.equals(wanted), "other bytes than were written");
                        }));
    }

    private CompletableFuture<Void> aborted(String key, String upload, Throwable failure) {
        CompletableFuture<Void> abort = store.abortUpload(key, upload);
        return answers(StoreFailures.of(failure))
                ? abort.handle((done, alsoFailed) -> CompletableFuture.<Void>failedFuture(failure))
                        .thenCompose(failed -> failed)
                : CompletableFuture.failedFuture(failure);
    }

    private CompletableFuture<Void> gone(String key) {
        return store.head(key)
                .exceptionallyCompose(failure -> {
                    StoreException trouble = StoreFailures.of(failure);
                    return CompletableFuture.failedFuture(
                            trouble.kind() != StoreException.Kind.FORBIDDEN
                                    ? trouble
                                    : new StoreException(
                                            trouble.kind(),
                                            trouble.getMessage()
                                                    + ", of an object that isn't there: without the right to list"
                                                    + " (s3:ListBucket) nobody is told so, and nothing is known to be deleted",
                                            trouble));
                })
                .thenAccept(stat -> require(stat.isEmpty(), "a deleted object is still there"));
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new StoreException(StoreException.Kind.REFUSED, otherwise);
        }
    }

    private static ByteBuffer pattern(int length) {
        byte[] line = "varve probes this bucket\r\n".getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(length);
        for (int i = 0; i < length; i++) {
            bytes.put((byte) (line[i % line.length] + i / line.length));
        }
        return bytes.flip();
    }
}
