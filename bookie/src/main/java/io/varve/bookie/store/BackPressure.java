package io.varve.bookie.store;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/** When so much waits for a directory's disk that callers should hold back, and who is to be told when that is over. Safe for any thread. */
final class BackPressure {

    private final LongSupplier pendingBytes;
    private final long pendingBytesMax;
    private final List<Runnable> whenRelieved = new ArrayList<>();

    BackPressure(LongSupplier pendingBytes, long pendingBytesMax) {
        this.pendingBytes = pendingBytes;
        this.pendingBytesMax = pendingBytesMax;
    }

    /** Callers should hold back. */
    boolean isCongested() {
        return pendingBytes.getAsLong() > pendingBytesMax / 2;
    }

    /** What comes now is refused. */
    boolean isOverloaded() {
        return pendingBytes.getAsLong() > pendingBytesMax;
    }

    /** Runs {@code action} once the directory is not congested. */
    void whenRelieved(Runnable action) {
        synchronized (whenRelieved) {
            if (isCongested()) {
                whenRelieved.add(action);
                return;
            }
        }
        action.run();
    }

    /** Less may be waiting than before. */
    void relieve() {
        List<Runnable> due;
        synchronized (whenRelieved) {
            if (whenRelieved.isEmpty() || isCongested()) {
                return;
            }
            due = List.copyOf(whenRelieved);
            whenRelieved.clear();
        }
        due.forEach(Runnable::run);
    }
}
