package io.varve.serving.core.telemetry;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Holds clients to the interval at which they report, and remembers who has said that it was its last report. Bounded: the client that was
 * heard of longest ago is forgotten first. Single owner: the caller serializes.
 */
public final class Reports {

    private final LinkedHashMap<String, State> clients;

    /** @param clientsMax how many are remembered */
    public Reports(int clientsMax) {
        this.clients = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, State> eldest) {
                return size() > clientsMax;
            }
        };
    }

    /** Whether a request may be worked on. */
    public enum Verdict {
        /** It may. */
        OK,
        /** It comes before its time. */
        EARLY,
        /** It comes after what the client said was its last. */
        AFTER_LAST
    }

    private static final class State {
        private long askedMs = Long.MIN_VALUE;
        private long reportedMs = Long.MIN_VALUE;
        private int subscription;
        private boolean last;
        private boolean mayAskAtOnce;
    }

    /** A client asks for its subscription. It may at once if that has changed, or if it was told that it should. */
    public Verdict onAsk(String client, Subscription subscription, long nowMs) {
        State state = clients.computeIfAbsent(client, ignored -> new State());
        int id = subscription.id(client);
        boolean early = state.askedMs != Long.MIN_VALUE
                && state.subscription == id
                && !state.mayAskAtOnce
                && nowMs - state.askedMs < subscription.intervalMs();
        if (early) {
            return Verdict.EARLY;
        }
        state.askedMs = nowMs;
        state.subscription = id;
        state.mayAskAtOnce = false;
        return Verdict.OK;
    }

    /** A client reports. Its last report may come at any time. */
    public Verdict onReport(String client, Subscription subscription, boolean isLast, long nowMs) {
        State state = clients.computeIfAbsent(client, ignored -> new State());
        if (state.last) {
            return Verdict.AFTER_LAST;
        }
        boolean early =
                state.reportedMs != Long.MIN_VALUE && nowMs - state.reportedMs < subscription.intervalMs() && !isLast;
        if (early) {
            return Verdict.EARLY;
        }
        state.reportedMs = nowMs;
        state.last = isLast;
        return Verdict.OK;
    }

    /** A client was told that its subscription isn't what it takes it for: it may ask at once. */
    public void onStale(String client) {
        clients.computeIfAbsent(client, ignored -> new State()).mayAskAtOnce = true;
    }
}
