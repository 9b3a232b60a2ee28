package io.varve.cli.role;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a role until the process is told to stop: SIGTERM and Ctrl-C drain it and end the process with 0, or with 1 if draining fails or
 * takes too long.
 *
 * <p>The draining happens in a shutdown hook, because that is the one place that both signals reach; the hook ends the process itself, for
 * otherwise the JVM would exit with 128 and the signal's number.
 */
public final class RoleProcess {

    /** Part of the line by which a role says that it is ready. */
    public static final String READY = "event=ready";

    private static final Logger LOG = LoggerFactory.getLogger(RoleProcess.class);

    private final String role;
    private final Duration drainTimeout;

    private volatile RunningNode node;
    private volatile boolean failedToStart;
    /** Why it can't go on; null as long as it can. */
    private volatile String trouble;

    private RoleProcess(String role, Duration drainTimeout) {
        this.role = role;
        this.drainTimeout = drainTimeout;
    }

    /**
     * Starts a role and stays until the process ends. A node that can't go on is drained, and the process ends with 1.
     *
     * @param start starts it; what it returns is closed to drain it
     * @param onReady called once it has started
     * @param whileInputOpen whether the end of the standard input stops it, too
     * @throws Exception what kept it from starting
     */
    public static void run(
            String role, Duration drainTimeout, Callable<RunningNode> start, Runnable onReady, boolean whileInputOpen)
            throws Exception {
        RoleProcess process = new RoleProcess(role, drainTimeout);
        Runtime.getRuntime().addShutdownHook(new Thread(process::onShutdown, "varve-shutdown"));
        if (whileInputOpen) {
            Thread watcher = new Thread(RoleProcess::exitAtEndOfInput, "varve-input-watch");
            watcher.setDaemon(true);
            watcher.start();
        }
        process.start(start, onReady);
    }

    private void start(Callable<RunningNode> start, Runnable onReady) throws Exception {
        try {
            node = start.call();
        } catch (Exception | Error e) {
            failedToStart = true;
            throw e;
        }
        LOG.info("{} role={} pid={}", READY, role, ProcessHandle.current().pid());
        onReady.run();
        String reason = node.stopped().join();
        LOG.error("event=cannot_go_on role={} reason=\"{}\"", role, reason);
        trouble = reason;
        System.exit(1);
    }

    private static void exitAtEndOfInput() {
        try {
            while (System.in.read() >= 0) {
                // Whatever is written there means nothing.
            }
        } catch (IOException e) {
            // As good as its end.
        }
        System.exit(0);
    }

    private void onShutdown() {
        if (failedToStart) {
            return; // The process is ending with the code that says why.
        }
        Runtime.getRuntime().halt(drain() && trouble == null ? 0 : 1);
    }

    private boolean drain() {
        RunningNode running = node;
        if (running == null) {
            return true;
        }
        LOG.info("event=draining role={}", role);
        CompletableFuture<Void> drained = new CompletableFuture<>();
        Thread closer = new Thread(() -> close(running, drained), "varve-drain");
        closer.setDaemon(true);
        closer.start();
        try {
            drained.get(drainTimeout.toMillis(), TimeUnit.MILLISECONDS);
            sayStopped();
            return true;
        } catch (ExecutionException e) {
            LOG.error("event=drain_failed role={}", role, e.getCause());
        } catch (TimeoutException e) {
            LOG.error("event=drain_gave_up role={} after_ms={}", role, drainTimeout.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    /** The last line: what ended it stands in it once more, for what libraries say at the end can be long. */
    private void sayStopped() {
        String why = trouble;
        if (why == null) {
            LOG.info("event=stopped role={}", role);
        } else {
            LOG.error("event=stopped role={} reason=\"{}\"", role, why);
        }
    }

    private static void close(RunningNode running, CompletableFuture<Void> drained) {
        try {
            running.close();
            drained.complete(null);
        } catch (RuntimeException | Error e) {
            drained.completeExceptionally(e);
        }
    }
}
