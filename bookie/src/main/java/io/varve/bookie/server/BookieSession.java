package io.varve.bookie.server;

import io.varve.base.BookieId;
import io.varve.base.StartupException;
import io.varve.bookie.store.DirectoryInfo;
import io.varve.bookie.store.SegmentStore;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.BookieRegistration;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.NodeSession;
import io.varve.metadata.model.BookieInfo;
import io.varve.protocol.config.HostPort;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bookie's registration: made at the start, made anew when it is lost or a directory went out of service, and kept told of how full the disks are. Its
 * state belongs to {@code thread}.
 */
final class BookieSession {

    private static final Logger LOG = LoggerFactory.getLogger(BookieSession.class);
    private static final long AGAIN_MS = 500;
    private static final long STATE_MS = 5_000;
    private static final int TELL_PERCENT = 1;
    /** Longer than any session of a process that died stands: whoever still has the number then is alive. */
    private static final long DUPLICATE_MS_MAX = 10_000;

    private final BookieId self;
    private final String rack;
    private final HostPort address;
    private final MetadataClient metadata;
    private final SegmentStore store;
    private final ScheduledExecutorService thread;
    private final LongSupplier newSessionId;
    private final CompletableFuture<String> refused = new CompletableFuture<>();
    private NodeSession session;
    private boolean closed;
    private boolean telling;
    private boolean directoryLost;
    private int duplicates;
    private BookieInfo.State toldState;
    private long toldFreeBytes;

    BookieSession(
            BookieId self,
            String rack,
            HostPort address,
            MetadataClient metadata,
            SegmentStore store,
            ScheduledExecutorService thread,
            LongSupplier newSessionId) {
        this.self = self;
        this.rack = rack;
        this.address = address;
        this.metadata = metadata;
        this.store = store;
        this.thread = thread;
        this.newSessionId = newSessionId;
    }

    /**
     * Registers, and waits for it. A session of the process before may still be standing for a moment: that is waited for.
     *
     * @throws StartupException DUPLICATE_NODE or NO_QUORUM
     */
    void start(long waitMs, long nowNanos, LongSupplier nanoTime) {
        long untilNanos = nowNanos + TimeUnit.MILLISECONDS.toNanos(waitMs);
        long duplicateUntilNanos = nowNanos + TimeUnit.MILLISECONDS.toNanos(DUPLICATE_MS_MAX);
        while (true) {
            try {
                NodeSession made = metadata.registerBookie(registration()).join();
                thread.execute(() -> onRegistered(made));
                thread.scheduleWithFixedDelay(this::tell, STATE_MS, STATE_MS, TimeUnit.MILLISECONDS);
                return;
            } catch (CompletionException e) {
                long untilThen = isDuplicate(e.getCause()) ? duplicateUntilNanos : untilNanos;
                if (nanoTime.getAsLong() - untilThen >= 0 || !mayPass(e.getCause())) {
                    throw refusal(e.getCause());
                }
                LOG.info("event=registration-again reason=\"{}\"", e.getCause().getMessage());
                pause();
            }
        }
    }

    /** Completes, with the reason, when the service refuses this bookie for good: the process must stop. */
    CompletableFuture<String> refused() {
        return refused;
    }

    /** Something about the disks has changed. Any thread. */
    void onDisksChanged() {
        run(this::tell);
    }

    /** A directory went out of service: the registration must no longer name it, so that nothing new is put there. Any thread. */
    void onDirectoryLost() {
        run(() -> {
            directoryLost = session == null;
            if (session != null) {
                NodeSession old = session;
                session = null;
                old.close();
                registerAgain();
            }
        });
    }

    /** Ends the session gracefully. Any thread. */
    void close() {
        run(() -> {
            closed = true;
            if (session != null) {
                session.close();
            }
        });
    }

    private void onRegistered(NodeSession made) {
        if (closed) {
            made.close();
            return;
        }
        session = made;
        if (directoryLost) {
            // While it registered, with a directory that is no more.
            onDirectoryLost();
        }
        duplicates = 0;
        toldState = null;
        LOG.info("event=registered bookie={} address={}", self, address);
        made.lost().thenAccept(reason -> run(() -> onLost(made, reason)));
        tell();
    }

    private void onLost(NodeSession which, String reason) {
        if (session == which && !closed) {
            LOG.warn("event=session-lost reason=\"{}\"", reason);
            session = null;
            registerAgain();
        }
    }

    private void registerAgain() {
        if (closed) {
            return;
        }
        BookieRegistration registration = registration();
        if (registration.incarnations().isEmpty()) {
            refused.complete("no data directory is in service any more");
            return;
        }
        metadata.registerBookie(registration)
                .whenComplete((made, failure) -> run(() -> {
                    if (failure == null) {
                        onRegistered(made);
                        return;
                    }
                    Throwable root = failure instanceof CompletionException ? failure.getCause() : failure;
                    LOG.warn("event=registration-refused reason=\"{}\"", root.getMessage());
                    if (mayPass(root)) {
                        thread.schedule(this::registerAgain, AGAIN_MS, TimeUnit.MILLISECONDS);
                    } else {
                        refused.complete(root.getMessage());
                    }
                }));
    }

    private void tell() {
        if (session == null || closed || telling) {
            return;
        }
        BookieInfo.State state = state();
        long free = inService().stream().mapToLong(DirectoryInfo::freeBytes).sum();
        long total = inService().stream().mapToLong(DirectoryInfo::totalBytes).sum();
        if (state == toldState && Math.abs(free - toldFreeBytes) < total / 100 * TELL_PERCENT) {
            return;
        }
        telling = true;
        session.setBookieState(state, free, total)
                .whenComplete((done, failure) -> run(() -> {
                    telling = false;
                    if (failure == null) {
                        toldState = state;
                        toldFreeBytes = free;
                    } else {
                        LOG.info("event=state-not-told reason=\"{}\"", failure.getMessage());
                    }
                }));
    }

    private BookieInfo.State state() {
        if (store.isReadOnly()) {
            return BookieInfo.State.READ_ONLY;
        }
        return inService().stream().anyMatch(DirectoryInfo::slow) ? BookieInfo.State.SLOW : BookieInfo.State.WRITABLE;
    }

    private BookieRegistration registration() {
        List<DirectoryInfo> directories = inService();
        return new BookieRegistration(
                self,
                newSessionId.getAsLong(),
                directories.stream().map(DirectoryInfo::incarnation).toList(),
                rack,
                address.host(),
                address.port(),
                directories.stream().mapToLong(DirectoryInfo::freeBytes).sum(),
                directories.stream().mapToLong(DirectoryInfo::totalBytes).sum());
    }

    private List<DirectoryInfo> inService() {
        return store.directories().stream()
                .filter(d -> d.state() != DirectoryInfo.State.OUT_OF_SERVICE)
                .toList();
    }

    private StartupException refusal(Throwable cause) {
        return new StartupException(
                isDuplicate(cause) ? StartupException.Reason.DUPLICATE_NODE : StartupException.Reason.NO_QUORUM,
                "The metadata service does not take bookie " + self + ": " + cause.getMessage(),
                cause);
    }

    private static boolean isDuplicate(Throwable failure) {
        return failure instanceof MetadataException refusal
                && refusal.reason() == MetadataException.Reason.DUPLICATE_NODE;
    }

    private static boolean mayPass(Throwable failure) {
        return failure instanceof MetadataException refusal
                && switch (refusal.reason()) {
                    case UNAVAILABLE, UNKNOWN_OUTCOME, SESSION_EXPIRED, DUPLICATE_NODE -> true;
                    default -> false;
                };
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(AGAIN_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StartupException(StartupException.Reason.NO_QUORUM, "Interrupted while registering", e);
        }
    }

    private void run(Runnable task) {
        try {
            thread.execute(task);
        } catch (RejectedExecutionException stopped) {
            LOG.debug("event=session-thread-stopped");
        }
    }
}
