package io.varve.cli.admin;

import io.varve.cli.text.Progress;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;

/** Waits until a node has nothing left. */
final class Draining {

    private Draining() {}

    /** @throws AdminFailure if something is left after {@code timeoutSeconds} */
    static void await(String what, int timeoutSeconds, IntSupplier left) {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        int atFirst = left.getAsInt();
        try (Progress progress = Progress.of("moved", OptionalLong.of(atFirst))) {
            for (int now = left.getAsInt(); now > 0; now = left.getAsInt()) {
                if (System.nanoTime() - deadlineNs > 0) {
                    throw new AdminFailure(now + " " + what + " after " + timeoutSeconds + " s; it goes on by itself");
                }
                progress.to(Math.max(0, atFirst - now));
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
            }
            progress.to(atFirst);
        }
    }
}
