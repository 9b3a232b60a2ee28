package io.varve.serving.core.fetchsession;

import io.varve.base.Invariant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;

/**
 * All sessions of a broker, bounded. A new session takes the place of the one that was used least recently if that has rested long enough; if
 * none has, the client is served without a session, which costs it bandwidth and nobody else anything. A connection has only a few: clients
 * that ask for a new one each time push out their own (P27 of the user reports).
 *
 * <p>One owner at a time: the caller serializes.
 *
 * @param <K> how a partition is named
 */
public final class FetchSessions<K> {

    /** No session: the answer's id when there is none. */
    public static final int NO_SESSION = 0;

    /** A request's epoch that asks for a new session. */
    public static final int INITIAL_EPOCH = 0;

    /** A request's epoch that wants no session, and ends the one it names. */
    public static final int FINAL_EPOCH = -1;

    private static final int PER_CONNECTION_MAX = 4;

    private final int sessionsMax;
    private final long restMsMin;
    private final IntSupplier ids;
    /** In order of last use, the least recent first. */
    private final LinkedHashMap<Integer, FetchSession<K>> sessions = new LinkedHashMap<>();

    private long evicted;

    /**
     * @param sessionsMax how many there may be; 0 for none
     * @param restMsMin a session used since is not evicted
     * @param ids random numbers
     */
    public FetchSessions(int sessionsMax, long restMsMin, IntSupplier ids) {
        Invariant.check(sessionsMax >= 0, "a number of sessions", sessionsMax);
        this.sessionsMax = sessionsMax;
        this.restMsMin = restMsMin;
        this.ids = ids;
    }

    /**
     * A request, as far as sessions go.
     *
     * @param sessionId as in the request
     * @param epoch as in the request
     * @param topicsById whether it names topics by id
     * @param wanted the partitions in it, in order
     * @param forgotten those that the session is to forget
     * @param connection whose request it is
     */
    public record Request<K>(
            int sessionId,
            int epoch,
            boolean topicsById,
            Map<K, Wanted> wanted,
            List<K> forgotten,
            String connection) {}

    /** What to do with a request. */
    public sealed interface Plan<K> {
        /** Refuse the whole of it. */
        record Refused<K>(Refusal why) implements Plan<K> {}

        /**
         * Serve {@code wanted}.
         *
         * @param session the session, or {@code null} if it is served without one
         * @param full whether the answer mentions every partition
         */
        record Serve<K>(FetchSession<K> session, boolean full, Map<K, Wanted> wanted) implements Plan<K> {
            /** The id for the answer. */
            public int sessionId() {
                return session == null ? NO_SESSION : session.id();
            }
        }
    }

    /** Why a request is refused. Each has its Kafka error. */
    public enum Refusal {
        /** There is no such session, or no more. */
        NOT_FOUND,
        /** The epoch is not the one that is due. */
        BAD_EPOCH,
        /** It names topics by id where the session doesn't, or the other way round. */
        TOPIC_NAMING
    }

    /** Takes a request in. */
    public Plan<K> begin(Request<K> request, long nowMs) {
        if (request.epoch == FINAL_EPOCH) {
            sessions.remove(request.sessionId);
            return new Plan.Serve<>(null, true, request.wanted);
        }
        if (request.epoch == INITIAL_EPOCH) {
            sessions.remove(request.sessionId);
            return new Plan.Serve<>(create(request, nowMs), true, request.wanted);
        }
        FetchSession<K> session = sessions.get(request.sessionId);
        if (session == null) {
            return new Plan.Refused<>(Refusal.NOT_FOUND);
        }
        if (session.epoch() != request.epoch) {
            return new Plan.Refused<>(Refusal.BAD_EPOCH);
        }
        if (session.topicsById() != request.topicsById) {
            return new Plan.Refused<>(Refusal.TOPIC_NAMING);
        }
        session.update(request.wanted, request.forgotten);
        session.nextEpoch();
        session.use(nowMs);
        sessions.remove(session.id());
        sessions.put(session.id(), session);
        return new Plan.Serve<>(session, false, session.wanted());
    }

    /**
     * Whether the answer mentions a partition. Called once for each partition of an answer.
     *
     * @param highWatermark as the answer would say
     * @param logStart as the answer would say
     */
    public boolean mention(
            Plan.Serve<K> plan, K partition, boolean records, boolean error, long highWatermark, long logStart) {
        if (plan.session == null) {
            return true;
        }
        boolean changed = plan.session.mention(partition, records, error, highWatermark, logStart);
        return plan.full || changed;
    }

    /** Takes an answer's end in: those that gave records go to the back of the session's order. */
    public void end(Plan.Serve<K> plan, List<K> gaveRecords) {
        if (plan.session != null) {
            plan.session.served(gaveRecords);
        }
    }

    /** Sessions now. */
    public int size() {
        return sessions.size();
    }

    /** Sessions that lost their place to others, ever. */
    public long evicted() {
        return evicted;
    }

    private FetchSession<K> create(Request<K> request, long nowMs) {
        if (sessionsMax == 0 || request.wanted.isEmpty()) {
            return null;
        }
        evictOfConnection(request.connection);
        if (sessions.size() >= sessionsMax && !evictRested(nowMs)) {
            return null;
        }
        FetchSession<K> session = new FetchSession<>(freeId(), request.topicsById, request.connection, nowMs);
        session.update(request.wanted, List.of());
        sessions.put(session.id(), session);
        return session;
    }

    private void evictOfConnection(String connection) {
        List<Integer> own = new ArrayList<>();
        sessions.forEach((id, session) -> {
            if (session.owner().equals(connection)) {
                own.add(id);
            }
        });
        if (own.size() >= PER_CONNECTION_MAX) {
            sessions.remove(own.get(0));
            evicted++;
        }
    }

    private boolean evictRested(long nowMs) {
        Map.Entry<Integer, FetchSession<K>> least =
                sessions.entrySet().iterator().next();
        if (nowMs - least.getValue().lastUsedMs() < restMsMin) {
            return false;
        }
        sessions.remove(least.getKey());
        evicted++;
        return true;
    }

    private int freeId() {
        while (true) {
            int id = ids.getAsInt() & Integer.MAX_VALUE;
            if (id != NO_SESSION && !sessions.containsKey(id)) {
                return id;
            }
        }
    }
}
