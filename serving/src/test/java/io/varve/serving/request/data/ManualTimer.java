package io.varve.serving.request.data;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** A timer whose time passes when the test says so. */
final class ManualTimer implements Timer {

    private final Set<Pending> pending = new LinkedHashSet<>();

    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
        Pending timeout = new Pending(task);
        pending.add(timeout);
        return timeout;
    }

    /** All that is set now is over. */
    void runOut() {
        for (Pending timeout : List.copyOf(pending)) {
            pending.remove(timeout);
            timeout.run();
        }
    }

    /** How many are set. */
    int pending() {
        return pending.size();
    }

    @Override
    public Set<Timeout> stop() {
        return Set.copyOf(pending);
    }

    private final class Pending implements Timeout {
        private final TimerTask task;
        private boolean expired;
        private boolean cancelled;

        private Pending(TimerTask task) {
            this.task = task;
        }

        private void run() {
            expired = true;
            try {
                task.run(this);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public Timer timer() {
            return ManualTimer.this;
        }

        @Override
        public TimerTask task() {
            return task;
        }

        @Override
        public boolean isExpired() {
            return expired;
        }

        @Override
        public boolean isCancelled() {
            return cancelled;
        }

        @Override
        public boolean cancel() {
            cancelled = pending.remove(this);
            return cancelled;
        }
    }
}
