package io.varve.serving.core.share;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The share sessions of a broker (KIP-932): which partitions a member of a group reads here. A session begins with a request of epoch 0, ends with
 * one of epoch -1 or with its connection, and every request in between has the next epoch. Bounded: over the limit none begins.
 *
 * <p>Single owner: the caller serializes.
 *
 * @param <K> how a partition is named
 */
public final class ShareSessions<K> {

    /** Begins a session. */
    public static final int FIRST_EPOCH = 0;

    /** Ends it. */
    public static final int LAST_EPOCH = -1;

    private final int sessionsMax;
    private final Map<Member, Session<K>> sessions = new LinkedHashMap<>();

    /** @param sessionsMax how many there may be */
    public ShareSessions(int sessionsMax) {
        this.sessionsMax = sessionsMax;
    }

    /** Who has a session. */
    public record Member(String group, String id) {}

    /** A session. */
    public static final class Session<K> {
        private final Member member;
        private final String connection;
        private final LinkedHashSet<K> partitions = new LinkedHashSet<>();
        private int nextEpoch = FIRST_EPOCH + 1;

        private Session(Member member, String connection) {
            this.member = member;
            this.connection = connection;
        }

        /** Whose. */
        public Member member() {
            return member;
        }

        /** Its partitions, those first that were served longest ago. */
        public List<K> partitions() {
            return new ArrayList<>(partitions);
        }
    }

    /** Why a request isn't served. */
    public enum Refusal {
        /** No such session. */
        NOT_FOUND,
        /** Not the epoch that is next. */
        BAD_EPOCH,
        /** There are too many. */
        TOO_MANY
    }

    /** What to do. */
    public sealed interface Plan<K> {
        /** Refuse it. */
        record Refused<K>(Refusal why) implements Plan<K> {}

        /** Serve it. */
        record Serve<K>(Session<K> session, boolean begins) implements Plan<K> {}

        /** Serve it, and then let go of what the session's member has: it has ended. */
        record End<K>(Session<K> session) implements Plan<K> {}
    }

    /** What {@link #begin} says of a session that a new one of the same member replaced: what the member has is to be let go. */
    public record Begun<K>(Plan<K> plan, Optional<Session<K>> replaced) {}

    /** A request of the first epoch. */
    public Begun<K> begin(Member member, Collection<K> partitions, String connection) {
        Optional<Session<K>> replaced = Optional.ofNullable(sessions.remove(member));
        if (sessions.size() >= sessionsMax) {
            return new Begun<>(new Plan.Refused<>(Refusal.TOO_MANY), replaced);
        }
        Session<K> session = new Session<>(member, connection);
        session.partitions.addAll(partitions);
        sessions.put(member, session);
        return new Begun<>(new Plan.Serve<>(session, true), replaced);
    }

    /** A request of a later epoch, or of the last. */
    public Plan<K> proceed(Member member, int epoch, Collection<K> added, Collection<K> forgotten) {
        Session<K> session = sessions.get(member);
        if (session == null) {
            return new Plan.Refused<>(Refusal.NOT_FOUND);
        }
        if (epoch == LAST_EPOCH) {
            sessions.remove(member);
            return new Plan.End<>(session);
        }
        if (epoch != session.nextEpoch) {
            return new Plan.Refused<>(Refusal.BAD_EPOCH);
        }
        session.nextEpoch = epoch == Integer.MAX_VALUE ? FIRST_EPOCH + 1 : epoch + 1;
        session.partitions.addAll(added);
        session.partitions.removeAll(forgotten);
        return new Plan.Serve<>(session, false);
    }

    /** Those that gave records go to the end, so that no partition starves another. */
    public void served(Session<K> session, Collection<K> gaveRecords) {
        for (K partition : gaveRecords) {
            if (session.partitions.remove(partition)) {
                session.partitions.add(partition);
            }
        }
    }

    /** A connection is gone, and its sessions with it: what their members have is to be let go. */
    public List<Session<K>> onDisconnect(String connection) {
        List<Session<K>> ended = new ArrayList<>();
        for (Iterator<Session<K>> each = sessions.values().iterator(); each.hasNext(); ) {
            Session<K> session = each.next();
            if (session.connection.equals(connection)) {
                ended.add(session);
                each.remove();
            }
        }
        return ended;
    }

    /** Whether any member of the group has a session here. */
    public boolean hasAny(String group) {
        return sessions.keySet().stream().anyMatch(member -> member.group().equals(group));
    }

    /** How many there are. */
    public int size() {
        return sessions.size();
    }
}
