package io.varve.cli.admin;

import io.varve.cli.text.Progress;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Waits until a node has nothing left, and shows how far it has got. */
final class Draining {

    private static final long LOOK_MS = 200;

    private Draining() {}

    /**
     * What a node still has.
     *
     * @param count of segments, or partitions
     * @param text the same for people, with its unit
     */
    record Left(int count, String text) {}

    /** @throws AdminFailure if something is left after {@code timeoutSeconds} */
    static void await(String node, int timeoutSeconds, Supplier<Left> left) {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        Left now = left.get();
        int atFirst = now.count();
        System.out.println(node + " has " + now.text() + ".");
        try (Progress progress = Progress.of("moved", OptionalLong.of(atFirst))) {
            while (now.count() > 0) {
                if (System.nanoTime() - deadlineNs > 0) {
                    throw new AdminFailure(node + " still has " + now.text() + " after " + timeoutSeconds
                            + " s; it goes on by itself");
                }
                progress.to(Math.max(0, atFirst - now.count()), now.text() + " left");
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LOOK_MS));
                now = left.get();
            }
            progress.to(atFirst, "nothing left");
        }
    }
}
