package io.varve.metadata.raft;

import java.util.OptionalInt;

/** A command reached a node that doesn't lead: certainly not carried out there. */
public final class NotLeader extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int leaderId;

    NotLeader(int leaderId) {
        super(leaderId < 0 ? "There is no leader now" : "Node " + leaderId + " leads", null, false, false);
        this.leaderId = leaderId;
    }

    /** With whoever leads, as far as is known. */
    public static NotLeader of(OptionalInt leader) {
        return new NotLeader(leader.orElse(-1));
    }

    /** Who leads, as far as this node knows. */
    public OptionalInt leaderId() {
        return leaderId < 0 ? OptionalInt.empty() : OptionalInt.of(leaderId);
    }
}
