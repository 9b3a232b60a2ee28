package io.varve.serving.server;

import io.varve.base.StartupException;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.api.NodeSession;
import io.varve.metadata.model.BrokerInfo;
import io.varve.serving.request.Deadlines;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A broker's registration for as long as it runs. A session that the metadata service declares dead (a long pause, a cut network) is opened
 * again; the partitions are gone by then, and come back as the planner gives them.
 */
final class BrokerSession implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(BrokerSession.class);
    private static final long RETRY_MS = 200;

    private final MetadataClient metadata;
    private final BrokerInfo broker;
    private final Deadlines deadlines;
    private volatile NodeSession session;
    private volatile boolean closed;

    BrokerSession(MetadataClient metadata, BrokerInfo broker, Deadlines deadlines) {
        this.metadata = metadata;
        this.broker = broker;
        this.deadlines = deadlines;
    }

    /**
     * Registers for the first time. A process of the same id that has just died may still count as alive, so that is waited for.
     *
     * @throws StartupException DUPLICATE_NODE or NO_QUORUM
     */
    void open(long waitMs) {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs);
        while (true) {
            try {
                take(metadata.registerBroker(broker).get(waitMs, TimeUnit.MILLISECONDS));
                return;
            } catch (ExecutionException e) {
                Reason reason = e.getCause() instanceof MetadataException refused ? refused.reason() : Reason.INVALID;
                boolean mayPass = reason == Reason.DUPLICATE_NODE
                        || reason == Reason.UNAVAILABLE
                        || reason == Reason.UNKNOWN_OUTCOME;
                if (!mayPass || System.nanoTime() - deadlineNs >= 0) {
                    throw refused(reason, e.getCause());
                }
            } catch (TimeoutException e) {
                throw refused(Reason.UNAVAILABLE, e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw refused(Reason.UNAVAILABLE, e);
            }
            pause();
        }
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(RETRY_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private StartupException refused(Reason reason, Throwable cause) {
        return reason == Reason.DUPLICATE_NODE
                ? new StartupException(
                        StartupException.Reason.DUPLICATE_NODE,
                        "Another broker with node.id=" + broker.id() + " is alive; give this one an id of its own",
                        cause)
                : new StartupException(
                        StartupException.Reason.NO_QUORUM,
                        "The metadata service doesn't register this broker: " + cause.getMessage(),
                        cause);
    }

    private void take(NodeSession opened) {
        session = opened;
        opened.lost().thenAccept(reason -> {
            if (!closed) {
                LOG.warn("event=session_lost broker={} reason=\"{}\"", broker.id(), reason);
                reopen();
            }
        });
    }

    private void reopen() {
        if (closed) {
            return;
        }
        metadata.registerBroker(broker).whenComplete((opened, failure) -> {
            if (failure == null) {
                LOG.info("event=session_reopened broker={}", broker.id());
                take(opened);
            } else {
                LOG.warn("event=session_not_reopened broker={} reason=\"{}\"", broker.id(), failure.getMessage());
                deadlines.after(RETRY_MS, this::reopen);
            }
        });
    }

    /** Asks the metadata service to give this broker nothing more. */
    void startDraining(long waitMs) {
        try {
            session.setBrokerState(BrokerInfo.State.DRAINING).get(waitMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            LOG.warn("event=drain_not_announced broker={} reason=\"{}\"", broker.id(), e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends it: nobody need wait for its time-out. */
    @Override
    public void close() {
        closed = true;
        if (session != null) {
            session.close();
        }
    }
}
