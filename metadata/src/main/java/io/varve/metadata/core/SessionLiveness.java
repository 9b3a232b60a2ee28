package io.varve.metadata.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Who was heard of when, as the leader remembers it, and who has been silent for too long. In memory only: a new leader knows of nobody and grants everybody a full time-out. Time is the
 * monotonic clock's, so that a jump of the wall clock ends nobody's session. Used by one thread.
 */
public final class SessionLiveness {

    private final long timeoutNs;
    private final long dropGraceNs;
    private final Map<Key, Heard> heard = new TreeMap<>();

    /**
     * A session of a node.
     *
     * @param bookie or else a broker
     * @param id the node's number
     * @param sessionId the broker's incarnation or the bookie's session
     */
    public record Key(boolean bookie, int id, long sessionId) implements Comparable<Key> {
        @Override
        public int compareTo(Key other) {
            int byKind = Boolean.compare(bookie, other.bookie);
            int byId = byKind != 0 ? byKind : Integer.compare(id, other.id);
            return byId != 0 ? byId : Long.compare(sessionId, other.sessionId);
        }
    }

    private static final class Heard {
        private long atNs;
        private long deadlineNs;
        private long connection;
        private boolean connected;
    }

    /**
     * @param timeoutMs after that long without a word a session is dead
     * @param dropGraceMs after that long without a connection, too
     */
    public SessionLiveness(long timeoutMs, long dropGraceMs) {
        this.timeoutNs = timeoutMs * 1_000_000;
        this.dropGraceNs = dropGraceMs * 1_000_000;
    }

    /** A session is to be watched from now on, if it isn't yet. */
    public void expect(Key key, long nowNs) {
        heard.computeIfAbsent(key, k -> {
            Heard fresh = new Heard();
            fresh.atNs = nowNs;
            fresh.deadlineNs = nowNs + timeoutNs;
            return fresh;
        });
    }

    /** A word came, over that connection. */
    public void onHeard(Key key, long connection, long nowNs) {
        expect(key, nowNs);
        Heard of = heard.get(key);
        of.atNs = nowNs;
        of.deadlineNs = nowNs + timeoutNs;
        of.connection = connection;
        of.connected = true;
    }

    /** A connection ended: those last heard over it have a short time to come back. */
    public void onDropped(long connection, long nowNs) {
        for (Heard of : heard.values()) {
            if (of.connected && of.connection == connection) {
                of.connected = false;
                of.deadlineNs = Math.min(of.deadlineNs, nowNs + dropGraceNs);
            }
        }
    }

    /** The leader itself stood still for so long: what came in meanwhile has not been heard yet. */
    public void onStoodStill(long forNs, long nowNs) {
        for (Heard of : heard.values()) {
            of.deadlineNs = Math.min(of.deadlineNs + forNs, nowNs + timeoutNs);
        }
    }

    /** A session is over. */
    public void forget(Key key) {
        heard.remove(key);
    }

    /** Nobody is watched any longer. */
    public void clear() {
        heard.clear();
    }

    /** Whether the process of a session has a connection, or had until a moment ago: somebody else must not take its place. */
    public boolean isPresent(Key key, long nowNs) {
        Heard of = heard.get(key);
        return of != null && (of.connected ? nowNs - of.atNs < timeoutNs : of.connection == 0 && of.deadlineNs > nowNs);
    }

    /** The sessions that have been silent for too long. Each is named again after another time-out if it is still there then. */
    public List<Key> due(long nowNs) {
        List<Key> due = new ArrayList<>();
        heard.forEach((key, of) -> {
            if (of.deadlineNs <= nowNs) {
                due.add(key);
                of.deadlineNs = nowNs + timeoutNs;
            }
        });
        return due;
    }

    /** The sessions watched. */
    public List<Key> watched() {
        return new ArrayList<>(heard.keySet());
    }
}
