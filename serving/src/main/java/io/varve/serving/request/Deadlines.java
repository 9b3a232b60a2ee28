package io.varve.serving.request;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Deadlines for what handlers wait for, on a timing wheel: cheap to set and to drop, exact to one of its ticks. Whatever finishes in time
 * frees its deadline at once (P20 of the user reports). Tasks run on the wheel's thread: don't block it. Safe for any thread.
 */
public final class Deadlines {

    /** No wait is longer, whatever a client asks for. */
    public static final long WAIT_MS_MAX = 300_000;

    private final Timer wheel;

    /** @param wheel ends with its owner, not with this */
    public Deadlines(Timer wheel) {
        this.wheel = wheel;
    }

    /** Runs {@code task} once, {@code delayMs} from now, unless what is returned is run before. */
    public Runnable after(long delayMs, Runnable task) {
        long bounded = Math.max(0, Math.min(delayMs, WAIT_MS_MAX));
        Timeout timeout = wheel.newTimeout(expired -> task.run(), bounded, TimeUnit.MILLISECONDS);
        return timeout::cancel;
    }

    /** {@code future}, or what {@code late} gives if it isn't done {@code waitMs} from now. The work behind it goes on. */
    public <T> CompletableFuture<T> within(long waitMs, CompletableFuture<T> future, Supplier<T> late) {
        if (future.isDone()) {
            return future;
        }
        CompletableFuture<T> first = new CompletableFuture<>();
        Runnable cancel = after(waitMs, () -> first.complete(late.get()));
        future.whenComplete((value, failure) -> {
            cancel.run();
            if (failure != null) {
                first.completeExceptionally(failure);
            } else {
                first.complete(value);
            }
        });
        return first;
    }
}
